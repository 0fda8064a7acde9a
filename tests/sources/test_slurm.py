"""sacct text as sessions."""

import gzip
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gangline.sources import slurm
from gangline.sources.records import SourceRefusedError
from tests.sources.reading import Reading, read_file, reader_of

COLUMNS = "Cluster|JobIDRaw|JobID|JobName|User|Partition|State|Submit|Start|End|Timelimit|NodeList|AllocTRES"
FIRST = {
    "Cluster": "h100a", "JobIDRaw": "7", "JobID": "7", "JobName": "train", "User": "kim", "Partition": "gpu",
    "State": "COMPLETED", "Submit": "2026-03-02T10:00:00", "Start": "2026-03-02T10:01:00",
    "End": "2026-03-02T11:00:00", "Timelimit": "1-00:00:00", "NodeList": "gpu[001-002]",
    "AllocTRES": "cpu=4,gres/gpu:h100=16,gres/gpu=16,node=2",
}  # fmt: skip
ReadText = Callable[..., Reading]


@pytest.fixture
def read_text(tmp_path: Path) -> ReadText:
    """Reads a text as an export."""
    return reader_of(slurm, tmp_path, "sacct.txt")


def export(*jobs: dict[str, str], columns: str = COLUMNS, delimiter: str = "|", end: str = "\n") -> str:
    """An export of jobs that differ from the first in what they say."""
    names = columns.split("|")
    rows = [names, *([{**FIRST, **job}.get(name, "") for name in names] for job in jobs)]
    return "".join(delimiter.join(row) + end for row in rows)


def at(hour: int, minute: int = 0) -> datetime:
    """A time on the day of the first job."""
    return datetime(2026, 3, 2, hour, minute, tzinfo=UTC)


def test_a_job_is_a_session(read_text: ReadText) -> None:
    reading = read_text(export({}))
    told = {column: value for column, value in reading.row("session_records").items() if value is not None}
    assert told == {
        "line": 2, "cluster_source": "h100a", "session_id": "h100a:7:1772445600", "bare_id": "7", "job_name": "train",
        "owner": "kim", "partition": "gpu", "gpu_model": "h100", "nodes": ["gpu001", "gpu002"], "gpu_count": 16.0,
        "created_at": at(10), "started_at": at(10, 1), "ended_at": at(11), "time_limit_min": 1440.0,
        "source_state": "COMPLETED", "state_key": "COMPLETED", "end_source": "session", "attempt_key": "h100a:7",
    }  # fmt: skip
    assert (reading.log.first_at, reading.log.latest_at) == (at(10), at(11))
    assert reading.log.oddities == {}


@pytest.mark.parametrize("delimiter", ["|", "^|^", "|#", ";", "\t", "\x1f", ",", "~~", " ; "])
@pytest.mark.parametrize("trailing", [False, True])
def test_any_delimiter_with_or_without_a_trailing_one(read_text: ReadText, delimiter: str, trailing: bool) -> None:
    text = export({}, {"JobIDRaw": "8"}, delimiter=delimiter, end=(delimiter if trailing else "") + "\n")
    rows = read_text(text).rows("session_records")
    assert [row["session_id"] for row in rows] == ["h100a:7:1772445600", "h100a:8:1772445600"]
    assert {row["gpu_count"] for row in rows} == {16.0}


def test_a_delimiter_of_letters_is_an_option(read_text: ReadText) -> None:
    text = export({}, delimiter="§QQ§")
    assert read_text(text, delimiter="§QQ§").log.loaded == 1


@pytest.mark.parametrize("make", [lambda text: text.replace("\n", "\r\n"), lambda text: "\ufeff" + text, gzip.compress])
def test_windows_ends_byte_order_marks_and_gzip(read_text: ReadText, make: Callable[[str | bytes], str]) -> None:
    text: str | bytes = export({}, {"JobIDRaw": "8"})
    made = make(text.encode() if make is gzip.compress else text)  # type: ignore[union-attr, comparison-overlap]
    assert [row["bare_id"] for row in read_text(made).rows("session_records")] == ["7", "7"]


def test_missing_columns_are_named_with_the_mend(read_text: ReadText) -> None:
    with pytest.raises(SourceRefusedError, match=r"sacct.txt:1: columns JobIDRaw, Submit, NodeList are missing.*sacct"):
        read_text("JobName|State|Start|End\nx|COMPLETED|2026-03-02T10:00:00|2026-03-02T10:00:00\n")


def test_columns_that_only_help_are_noted(read_text: ReadText) -> None:
    reading = read_text(export({"JobID": "10_2"}, columns="JobID|JobName|State|Submit|Start|End|NodeList"))
    row = reading.row("session_records")
    assert (row["session_id"], row["owner"], row["gpu_count"]) == ("10_2:1772445600", None, None)
    names = {"no_cluster_column", "no_jobidraw_column", "no_user_column", "no_partition_column", "no_alloctres_column"}
    assert set(reading.log.oddities) == names | {"no_gpu_tres"}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "empty"),
        ("\n\n", "empty"),
        (export({}, end="\r"), "carriage return alone"),
        ("7|7|train|COMPLETED\n", "--noheader"),
        ("JobID           JobName  Partition \n", "fixed-width"),
        ("  JobID    JobName      State \n", "fixed-width"),
        ("a,b,c\n1,2,3\n", "no sacct header"),
        (export({}, delimiter=":"), "stands inside ids or times"),
    ],
)
def test_what_is_no_export_is_refused_with_the_mend(read_text: ReadText, text: str, why: str) -> None:
    with pytest.raises(SourceRefusedError, match=why):
        read_text(text)


def test_steps_are_ignored(read_text: ReadText) -> None:
    steps = [{"JobIDRaw": f"7.{step}", "JobID": f"7.{step}", "State": "CANCELLED"} for step in ("batch", "extern", "0")]
    reading = read_text(export({}, *steps))
    assert reading.row("session_records")["state_key"] == "COMPLETED"
    assert reading.log.ignored == {"step": 3}


def test_a_job_that_ends_before_its_steps_keeps_its_end(read_text: ReadText) -> None:
    step = {"JobIDRaw": "7.0", "JobID": "7.0", "End": "2026-03-03T00:00:22"}
    reading = read_text(export({"End": "2026-03-02T23:59:38"}, step))
    assert reading.row("session_records")["ended_at"] == datetime(2026, 3, 2, 23, 59, 38, tzinfo=UTC)


def test_a_live_job_has_no_end(read_text: ReadText) -> None:
    row = read_text(export({"State": "RUNNING", "End": "Unknown"})).row("session_records")
    assert (row["ended_at"], row["end_source"], row["state_key"]) == (None, None, "RUNNING")


def test_a_truncated_window_ends_no_live_job(read_text: ReadText) -> None:
    reading = read_text(export({"State": "RUNNING"}))
    assert reading.row("session_records")["ended_at"] is None
    assert reading.log.oddities == {"open_with_end_time": (1, 2)}


def test_a_job_that_never_started(read_text: ReadText) -> None:
    job = {"State": "CANCELLED by 0", "Start": "None", "NodeList": "None assigned"}
    row = read_text(export(job)).row("session_records")
    assert (row["started_at"], row["nodes"], row["gpu_count"], row["gpu_model"]) == (None, [], 0.0, None)
    assert (row["ended_at"], row["source_state"], row["state_key"]) == (at(11), "CANCELLED by 0", "CANCELLED")


def test_old_slurm_gives_never_started_jobs_a_start(read_text: ReadText) -> None:
    job = {"State": "CANCELLED by 0", "Start": FIRST["End"], "NodeList": "None assigned"}
    reading = read_text(export(job))
    assert reading.row("session_records")["started_at"] is None
    assert reading.log.oddities["start_without_nodes"] == (1, 2)


def test_requeues_are_sessions_of_one_job(read_text: ReadText) -> None:
    times = [
        ("2026-03-02T10:00:00", "NODE_FAIL"),
        ("2026-03-02T11:00:00", "REQUEUED"),
        ("2026-03-02T12:00:00", "FAILED"),
    ]
    jobs = [
        {"Submit": submit, "Start": submit, "End": submit[:-5] + "30:00", "State": state} for submit, state in times
    ]
    reading = read_text(export(*jobs))
    rows = reading.rows("session_records")
    assert [row["session_id"] for row in rows] == [f"h100a:7:{epoch}" for epoch in (1772445600, 1772449200, 1772452800)]
    assert {row["attempt_key"] for row in rows} == {"h100a:7"}
    assert reading.log.oddities == {}


def test_recycled_job_ids_are_two_sessions(read_text: ReadText) -> None:
    years_ago = {name: FIRST[name].replace("2026", "2024") for name in ("Submit", "Start", "End")}
    rows = read_text(export({}, years_ago)).rows("session_records")
    assert len({row["session_id"] for row in rows}) == 2


def test_restarts_without_the_earlier_rows_are_noted(read_text: ReadText) -> None:
    columns = COLUMNS + "|Restarts"
    again = {"Restarts": "2", "Submit": "2026-03-02T10:00:30"}
    first, second = {"Restarts": "0", "State": "NODE_FAIL"}, {"Restarts": "1", "State": "REQUEUED"}
    alone = read_text(export({"Restarts": "0"}, {**again, "JobIDRaw": "8"}, columns=columns))
    assert alone.log.oddities == {"requeued_without_duplicates": (1, 3)}
    assert [row["attempt"] for row in alone.rows("session_records")] == [0, 2]
    assert read_text(export(again, second, first, columns=columns)).log.oddities == {}


def test_arrays_and_heterogeneous_jobs(read_text: ReadText) -> None:
    ids = [("10_2", "19"), ("10_[3-7%2]", "10"), ("11+0", "11"), ("11+1", "12")]
    rows = read_text(export(*({"JobID": shown, "JobIDRaw": raw} for shown, raw in ids))).rows("session_records")
    assert [(row["bare_id"], row["attempt_key"]) for row in rows] == [(shown, f"h100a:{raw}") for shown, raw in ids]


def test_only_one_clusters_rows(read_text: ReadText) -> None:
    reading = read_text(export({}, {"Cluster": "cpu"}), source_cluster="cpu")
    assert [row["cluster_source"] for row in reading.rows("session_records")] == ["cpu"]
    assert reading.log.ignored == {"other_cluster": 1}


def test_an_export_without_a_cluster_column_is_of_the_one_asked_for(read_text: ReadText) -> None:
    row = read_text(export({}, columns=COLUMNS.removeprefix("Cluster|")), source_cluster="h100a").row("session_records")
    assert row["session_id"] == "h100a:7:1772445600"


def test_excluded_nodes_come_from_the_submit_line(read_text: ReadText) -> None:
    columns = COLUMNS + "|SubmitLine"
    lines = ["sbatch -x gpu[007-008] a.sh", "sbatch a.sh", "sbatch --exclude=./bad a.sh"]
    reading = read_text(export(*({"SubmitLine": line} for line in lines), columns=columns))
    assert [row["excluded_nodes"] for row in reading.rows("session_records")] == [["gpu007", "gpu008"], None, None]
    assert reading.log.oddities == {"exclude_unreadable": (1, 4)}


def test_old_gres_columns_count_gpus(read_text: ReadText) -> None:
    columns = "JobIDRaw|JobName|State|Submit|Start|End|NodeList|AllocGRES|AllocNodes"
    row = read_text(export({"AllocGRES": "PER_NODE:gpu:volta:8", "AllocNodes": "2"}, columns=columns))
    assert row.row("session_records")["gpu_count"] == 16.0


def test_epoch_times_need_no_zone(read_text: ReadText) -> None:
    epochs = {"Submit": "1772445600", "Start": "1772445660", "End": "1772449200"}
    there, here = (read_text(export(epochs), time_zone=zone) for zone in ("Asia/Seoul", "UTC"))
    assert there.rows("session_records") == here.rows("session_records")
    assert here.row("session_records")["ended_at"] == at(11)


def test_local_times_follow_the_zone(read_text: ReadText) -> None:
    row = read_text(export({}), time_zone="Asia/Seoul").row("session_records")
    assert row["started_at"] == at(1, 1)


def test_dst_fall_back_is_noted_and_dst_spring_forward_refused(read_text: ReadText) -> None:
    columns = COLUMNS + "|Elapsed"
    autumn = {"Submit": "2026-11-01T00:30:00", "Start": "2026-11-01T00:50:00", "End": "2026-11-01T01:20:00"}
    spring = {"Submit": "2026-03-08T01:30:00", "Start": "2026-03-08T02:30:00", "End": "2026-03-08T04:00:00"}
    text = export({**autumn, "Elapsed": "01:30:00"}, spring, columns=columns)
    reading = read_text(text, time_zone="America/New_York")
    assert reading.row("session_records")["ended_at"] == datetime(2026, 11, 1, 6, 20, tzinfo=UTC)
    assert reading.log.oddities == {"ambiguous_local_time": (1, 2)}
    (reject,) = reading.log.rejects
    assert (reject.line, reject.reason) == (
        3,
        "2026-03-08T02:30:00 never was in America/New_York: the clocks skipped it",
    )


@pytest.mark.parametrize(
    ("job", "why"),
    [
        ({"End": "2026-03-02T10:00:30"}, "End is before Start"),
        ({"Submit": "Unknown"}, "no Submit time"),
        ({"Submit": "1970-01-01T00:00:00"}, "a time is zero"),
        ({"End": "9999-12-31T23:59:59"}, "is no time"),
        ({"End": "9000-01-01T00:00:00"}, "beyond the year 2099"),
        ({"End": "99999999999"}, "beyond the year 2099"),
        ({"Submit": "0001-01-01T00:00:00"}, "is no time"),
        ({"NodeList": "gpu[001-00"}, "not a host list"),
        ({"Start": "2026-02-30T10:00:00"}, "is no time"),
        ({"Start": "tomorrow"}, "no sacct record"),
        ({"JobIDRaw": "seven"}, "no sacct record"),
        ({"State": "?"}, "no sacct record"),
    ],
)
def test_what_cannot_be_a_session_is_a_reject_with_its_line(read_text: ReadText, job: dict[str, str], why: str) -> None:
    reading = read_text(export({}, job, {}))
    assert reading.log.loaded == 2
    (reject,) = reading.log.rejects
    assert reject.line == 3
    assert why in reject.reason
    assert "train" in reject.text


def test_an_unknown_state_is_kept(read_text: ReadText) -> None:
    row = read_text(export({"State": "WARMING_UP by 7"})).row("session_records")
    assert (row["source_state"], row["state_key"]) == ("WARMING_UP by 7", "WARMING_UP")


def test_times_without_a_date_refuse_the_file(read_text: ReadText) -> None:
    with pytest.raises(SourceRefusedError, match="SLURM_TIME_FORMAT"):
        read_text(export({"Start": "10:01:00"}))


def test_headers_in_between_are_ignored(read_text: ReadText) -> None:
    reading = read_text(export({}) + export({"JobIDRaw": "8"}))
    assert reading.log.loaded == 2
    assert reading.log.ignored == {"header": 1}


def test_invalid_bytes_are_replaced_and_noted(read_text: ReadText) -> None:
    reading = read_text(export({"JobName": "caf#"}, {}).encode().replace(b"#", b"\xe9"))
    assert [row["job_name"] for row in reading.rows("session_records")] == ["caf\ufffd", "train"]
    assert reading.log.oddities == {"not_utf8": (1, 2)}


def test_a_batch_is_full_at_its_size_and_blocks_meet_seamlessly(
    read_text: ReadText, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slurm, "BLOCK_BYTES", 100)
    jobs = [{"JobIDRaw": str(number), "JobName": f"a\nb|{number}"} for number in range(1, 50)]
    rows = read_text(export(*jobs)).rows("session_records")
    assert [row["job_name"] for row in rows] == [f"a\nb|{number}" for number in range(1, 50)]
    assert [row["line"] for row in rows] == list(range(2, 100, 2))


def test_a_line_without_end_is_refused(read_text: ReadText, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slurm, "MAX_LINE_BYTES", 1000)
    monkeypatch.setattr(slurm, "BLOCK_BYTES", 100)
    with pytest.raises(SourceRefusedError, match=r"sacct.txt:1: a line of over 64 MB"):
        read_text("x" * 5000)


def test_the_real_requeues_arrays_and_cancellations(shared_data: Path) -> None:
    reading = read_file(slurm, shared_data / "real" / "slurm" / "sacct_P_D_ALL_final.txt")
    rows = reading.rows("session_records")
    assert len(rows) == 20
    assert sum(row["started_at"] is None for row in rows) == 4
    assert {row["bare_id"] for row in rows if str(row["bare_id"]).startswith("1")} == {
        "1", "10_0", "10_1", "10_2", "10_3", "11+0", "11+1", "14", "15", "16",
    }  # fmt: skip
    assert [row["job_name"] for row in rows if row["bare_id"] == "2"] == ["fail|pipe, `q` ??"]
    assert reading.log.ignored == {"step": 44}
    assert reading.log.oddities == {"rebuilt_record": (1, 7)}


def test_the_same_sessions_from_text_and_json(shared_data: Path) -> None:
    folder = shared_data / "real" / "slurm"
    from_text, from_json = (
        {str(row["session_id"]): row for row in read_file(slurm, folder / name).rows("session_records")}
        for name in ("sacct_P_D_ALL_final.txt", "sacct_final.json")
    )
    apart = {"line", "source_state"}
    assert len(from_json) == 20
    assert {id_: {k: v for k, v in row.items() if k not in apart} for id_, row in from_text.items()} == {
        id_: {k: v for k, v in row.items() if k not in apart} for id_, row in from_json.items()
    }


def test_the_real_broken_rows(shared_data: Path) -> None:
    reading = read_file(slurm, shared_data / "real" / "slurm" / "sacct_P_ALL.txt")
    assert (reading.log.loaded, reading.log.ignored, reading.log.rejected) == (17, {"step": 38}, 0)
    row = next(row for row in reading.rows("session_records") if row["bare_id"] == "2")
    assert (row["job_name"], row["line"], row["state_key"]) == ("fail|pipe, `q` ??", 7, "FAILED")


@pytest.mark.parametrize(("name", "sessions"), [("fake-line-break", 2), ("multiple-multiline", 4)])
def test_what_a_careful_reader_makes_of_broken_lines(shared_data: Path, name: str, sessions: int) -> None:
    folder = shared_data / "public" / "sacct_gcm"
    broken, mended = (read_file(slurm, folder / f"sample-sacct-{name}{end}.txt") for end in ("", "-expected"))
    rows, expected = (
        [{k: v for k, v in row.items() if k != "line"} for row in reading.rows("session_records")]
        for reading in (broken, mended)
    )
    assert rows == expected
    assert len(rows) == sessions
    assert broken.log.records == mended.log.records


def test_the_real_invalid_bytes_and_lines(shared_data: Path) -> None:
    folder = shared_data / "public" / "sacct_gcm"
    reading = read_file(slurm, folder / "sample-sacct-output-invalid-utf8.txt")
    assert (reading.log.loaded, reading.log.ignored, reading.log.rejected) == (2, {"step": 9}, 0)
    assert reading.log.oddities == {"not_utf8": (1, 12)}
    cut = read_file(slurm, folder / "sample-sacct-output-with-invalid-lines.txt").log
    assert (cut.records, cut.loaded, [reject.line for reject in cut.rejects]) == (1, 0, [2])
    steps = read_file(slurm, folder / "sample-sacct-output.txt").log
    assert (steps.loaded, steps.ignored) == (0, {"step": 68})


def test_the_real_midnight_file(shared_data: Path, tmp_path: Path) -> None:
    source = shared_data / "public" / "sacct_gcm" / "sample-sacct-output-midnight-edge-case.txt"
    with pytest.raises(SourceRefusedError, match="columns JobName, Submit, NodeList are missing"):
        read_file(slurm, source)
    header, *lines = source.read_text().splitlines()
    completed = [f"{header}|JobName|Submit|NodeList", *(f"{line}|x|{line.split('|')[2]}|n1" for line in lines)]
    (tmp_path / "sacct.txt").write_text("\n".join(completed) + "\n")
    reading = read_file(slurm, tmp_path / "sacct.txt")
    jobs = [line.split("|") for line in lines if "." not in line.split("|")[0]]
    ends = [f"{row['ended_at']:%Y-%m-%dT%H:%M:%S}" for row in reading.rows("session_records")]
    assert ends == [job[3] for job in jobs]
    assert reading.log.ignored == {"step": len(lines) - len(jobs)}


def test_the_true_cluster_is_the_same_as_text_and_as_csv(shared_data: Path) -> None:
    from gangline.sources import sessions_csv

    folder = shared_data / "truth" / "sessions"
    text = read_file(slurm, folder / "slurm/raw/sacct.txt", time_zone="America/New_York")
    table = read_file(sessions_csv, folder / "csv/raw/sessions.csv", time_zone="America/New_York")
    same = ["job_name", "owner", "gpu_count", "created_at", "started_at", "ended_at"]
    states = {"COMPLETED": "completed", "FAILED": "failed", "CANCELLED": "killed", "TIMEOUT": "timeout"}
    states |= {"NODE_FAIL": "node_fail", "RUNNING": "running"}

    def told(reading: Reading, key: str) -> dict[object, list[object]]:
        return {
            row[key]: [sorted(row["nodes"]), states.get(str(row["state_key"]), row["state_key"]), *map(row.get, same)]  # type: ignore[call-overload]
            for row in reading.rows("session_records")
        }

    assert told(text, "bare_id") == told(table, "session_id")
    assert text.log.loaded == 406
