"""Sessions as a plain table."""

from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest

from gangline.sources import sessions_csv
from gangline.sources.files import InputFile
from gangline.sources.records import SCHEMAS, SESSION_RECORDS, ReadLog, SourceOptions, SourceRefusedError

HEADER = "session_id,job_name,nodes,started_at,ended_at,end_reason"
DAY = "2026-03-02T"


class Export:
    """Reads text as a sessions table and keeps the log."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "sessions.csv"
        self.log = ReadLog()

    def read(self, *lines: str, extra: str = "", zone: str = "UTC") -> pl.DataFrame:
        header = HEADER + (f",{extra}" if extra else "")
        self.path.write_text("\n".join((header, *lines)) + "\n", encoding="utf-8")
        options = SourceOptions("sessions_csv", time_zone=zone)
        batches = list(sessions_csv.read(InputFile(self.path), options, self.log))
        assert self.log.is_balanced()
        assert {batch.table for batch in batches} <= {SESSION_RECORDS}
        return pl.concat([SCHEMAS[SESSION_RECORDS].to_frame(), *(batch.frame for batch in batches)])


@pytest.fixture
def export(tmp_path: Path) -> Export:
    return Export(tmp_path)


def test_a_full_row(export: Export) -> None:
    sessions = export.read(
        f'7,train,"gpu[001-003,007]",{DAY}09:00+09:00,{DAY}11:00+09:00,failed,ana,train,32,{DAY}08:59+09:00,1440,2,'
        f"Automatic,true,{DAY}09:20+09:00",
        extra="owner,partition,gpu_count,created_at,time_limit_min,attempt,start_kind,reached_training,training_from",
    )
    expected = dict.fromkeys(SCHEMAS[SESSION_RECORDS].names()) | {
        "line": 2,
        "session_id": "7",
        "bare_id": "7",
        "job_name": "train",
        "owner": "ana",
        "partition": "train",
        "nodes": ["gpu001", "gpu002", "gpu003", "gpu007"],
        "gpu_count": 32.0,
        "created_at": datetime(2026, 3, 1, 23, 59, tzinfo=UTC),
        "started_at": datetime(2026, 3, 2, 0, 0, tzinfo=UTC),
        "ended_at": datetime(2026, 3, 2, 2, 0, tzinfo=UTC),
        "time_limit_min": 1440.0,
        "source_state": "failed",
        "state_key": "failed",
        "end_source": "session",
        "attempt": 2,
        "start_kind": "automatic",
        "reached_training": True,
        "training_from": datetime(2026, 3, 2, 0, 20, tzinfo=UTC),
    }
    assert sessions.to_dicts() == [expected]
    assert (export.log.first_at, export.log.latest_at) == (expected["created_at"], expected["ended_at"])


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        ("b;a;b", ["b", "a"]),
        ("b04-[09-10]", ["b04-09", "b04-10"]),
        ("n[1-2];m1", ["n1", "n2", "m1"]),
        ("listserv01,listserv3", ["listserv3", "listserv01"]),
    ],
)
def test_nodes_as_host_list_or_names(export: Export, nodes: str, expected: list[str]) -> None:
    assert export.read(f'1,a,"{nodes}",{DAY}01:00,{DAY}02:00,completed')["nodes"].to_list() == [expected]


def test_a_host_list_that_cannot_be_read_is_a_reject(export: Export) -> None:
    assert export.read(f"1,a,gpu[1-,{DAY}01:00,{DAY}02:00,completed").is_empty()
    reject = export.log.rejects[0]
    assert reject.line == 2
    assert reject.reason.startswith("nodes: not a host list: 'gpu[1-'")
    assert reject.reason.endswith("write a host list (gpu[001-003,007]) or names joined by ';'")


def test_states_outside_the_closed_list_are_kept_and_counted(export: Export) -> None:
    sessions = export.read(
        f"1,a,n1,{DAY}01:00,{DAY}02:00,Completed",
        f"2,a,n1,{DAY}01:00,{DAY}02:00,Evicted (quota)",
        f"3,a,n1,{DAY}01:00,{DAY}02:00,",
    )
    assert sessions["state_key"].to_list() == ["completed", "Evicted (quota)", "unknown"]
    assert sessions["source_state"].to_list() == ["Completed", "Evicted (quota)", None]
    assert export.log.oddities == {"unmapped_state": (1, 3), "no_end_reason": (1, 4)}


def test_an_empty_end_is_running_and_an_empty_start_never_started(export: Export) -> None:
    sessions = export.read(
        f"1,a,n1,{DAY}01:00,,running", f"2,a,n1,{DAY}01:00,,", f"3,a,,,{DAY}02:00,killed", "4,a,,,,never_started"
    )
    assert sessions["state_key"].to_list() == ["running", "running", "killed", "never_started"]
    assert sessions["ended_at"].is_null().to_list() == [True, True, False, True]
    assert sessions["end_source"].to_list() == [None, None, "session", None]
    assert sessions["nodes"].to_list() == [["n1"], ["n1"], [], []]
    assert export.log.oddities == {}


def test_contradictions_are_read_and_counted(export: Export) -> None:
    sessions = export.read(
        f"1,a,n1,{DAY}01:00,{DAY}02:00,running,",
        f"2,a,n1,{DAY}01:00,,failed,",
        f"3,a,n1,{DAY}01:00,{DAY}02:00,never_started,",
        f"4,a,n1,,{DAY}02:00,killed,",
        f"5,a,,{DAY}01:00,{DAY}02:00,killed,",
        f"6,a,n1,{DAY}01:00,{DAY}02:00,killed,{DAY}01:30",
        extra="created_at",
    )
    assert sessions["nodes"].to_list() == [["n1"], ["n1"], ["n1"], [], None, ["n1"]]
    assert export.log.oddities == {
        "running_with_end": (1, 2),
        "ended_without_end": (1, 3),
        "never_started_with_start": (1, 4),
        "nodes_without_start": (1, 5),
        "no_nodes": (1, 6),
        "created_after_start": (1, 7),
    }


def test_an_end_before_the_start_is_a_reject_and_the_others_are_read(export: Export) -> None:
    sessions = export.read(f"1,a,n1,{DAY}02:00,{DAY}01:00,failed", f"2,a,n1,{DAY}01:00,{DAY}02:00,failed")
    assert sessions["session_id"].to_list() == ["2"]
    assert [(reject.line, reject.text) for reject in export.log.rejects] == [
        (2, f"1,a,n1,{DAY}02:00,{DAY}01:00,failed"),
    ]
    assert export.log.oddities == {}


def test_an_id_that_comes_twice_is_two_records(export: Export) -> None:
    row = f"1,a,n1,{DAY}01:00,{DAY}02:00,failed"
    assert export.read(row, row)["line"].to_list() == [2, 3]


def test_hostile_names_stay_as_they_are(export: Export) -> None:
    name = "<script>alert(1)</script>|' ; drop table x\n한국어 🐕"
    assert export.read(f'1,"{name}",n1,{DAY}01:00,{DAY}02:00,failed')["job_name"].to_list() == [name]


def test_local_times_need_the_zone_and_repeat_at_the_clock_change(export: Export) -> None:
    sessions = export.read(
        "1,dst_fall_back,n1,2026-11-01T01:40,2026-11-01T01:10,failed",
        "2,dst_spring_forward,n1,2026-03-08T02:30,,running",
        zone="America/New_York",
    )
    assert sessions["started_at"].to_list() == [datetime(2026, 11, 1, 5, 40, tzinfo=UTC)]
    assert sessions["ended_at"].to_list() == [datetime(2026, 11, 1, 6, 10, tzinfo=UTC)]
    assert [reject.line for reject in export.log.rejects] == [3]
    assert export.log.oddities == {"ambiguous_local_time": (1, 2)}


@pytest.mark.parametrize(
    ("column", "cell"),
    [("gpu_count", "-8"), ("time_limit_min", "1-00:00:00"), ("attempt", "first"), ("reached_training", "maybe")],
)
def test_cells_that_say_nothing_readable_are_rejects(export: Export, column: str, cell: str) -> None:
    assert export.read(f"1,a,n1,{DAY}01:00,{DAY}02:00,failed,{cell}", extra=column).is_empty()
    assert export.log.rejects[0].reason.startswith(f"{column} is '{cell}': ")


def test_an_unknown_start_kind_is_counted(export: Export) -> None:
    sessions = export.read(f"1,a,n1,{DAY}01:00,{DAY}02:00,failed,by hand", extra="start_kind")
    assert sessions["start_kind"].to_list() == [None]
    assert export.log.oddities == {"unmapped_start_kind": (1, 2)}


def test_a_misspelt_column_is_named(export: Export) -> None:
    export.path.write_text("session_id,job_name,node,started_at,ended_at,end_reason\n", encoding="utf-8")
    with pytest.raises(
        SourceRefusedError, match=r"sessions\.csv:1: no column 'nodes': did you mean 'node'\? Rename it"
    ):
        list(sessions_csv.read(InputFile(export.path), SourceOptions("sessions_csv"), export.log))


def test_the_shared_cluster_reads_whole(shared_data: Path) -> None:
    log = ReadLog()
    path = shared_data / "truth" / "sessions" / "csv" / "raw" / "sessions.csv"
    batches = sessions_csv.read(InputFile(path), SourceOptions("sessions_csv", time_zone="America/New_York"), log)
    sessions = pl.concat([batch.frame for batch in batches])
    assert (log.rejects, log.oddities, sessions.height) == ([], {}, log.records)
    assert sessions["nodes"][0].len() == 24
