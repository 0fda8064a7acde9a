"""Forms told by content, damage that costs only itself, and values that mean harm."""

import gzip
import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gangline.sources import backendai
from gangline.sources.records import (
    SESSION_NODE_RECORDS,
    SESSION_RECORDS,
    SESSION_STATUS_RECORDS,
    SourceRefusedError,
)
from tests.sources.reading import Reading, read_file, reader_of

ReadText = Callable[..., Reading]
FIXTURES = Path(__file__).parent / "fixtures" / "backendai"
A, B, C = (f"{digit * 8}-1111-4222-8333-444444444444" for digit in "abc")
T0 = datetime(2026, 3, 2, 12, tzinfo=UTC)
CSV_HEAD = "id,name,access_key,status,status_info,created_at,starts_at,terminated_at\n"


@pytest.fixture
def read_text(tmp_path: Path) -> ReadText:
    return reader_of(backendai, tmp_path, "export")


def item(session_id: str, **others: object) -> dict[str, object]:
    return {
        "session_id": session_id,
        "name": "run",
        "status": "RUNNING",
        "created_at": "2026-03-02T12:00:00Z",
        **others,
    }


def ids(reading: Reading) -> list[str]:
    return [str(row["session_id"]) for row in reading.rows(SESSION_RECORDS)]


def reasons(reading: Reading) -> list[tuple[int | None, str]]:
    return [(reject.line, reject.reason) for reject in reading.log.rejects]


class TestForms:
    def test_wrappers_of_lists(self, read_text: ReadText) -> None:
        for document in (
            {"items": [item(A)]},
            {"data": {"compute_session_list": {"items": [item(A)]}}},
            {"compute_session_list": {"items": [item(A)]}},
            {"data": {"compute_session_nodes": {"edges": [{"node": {**item(A), "session_id": None, "row_id": A}}]}}},
            {"data": {"compute_sessions": [item(A)]}},
            [item(A)],
            item(A),
            [{"items": [item(A)]}],
        ):
            assert ids(read_text(json.dumps(document))) == [A]

    def test_the_id_of_a_node_without_row_id(self, read_text: ReadText) -> None:
        text = "Q29tcHV0ZVNlc3Npb25Ob2RlOjk1MzE5ODVkLTVkOWQtNDlmOC05ODE4LWU4MTE4OTJmOTAyYg=="
        reading = read_text(json.dumps({"data": {"compute_session_nodes": {"edges": [{"node": item(None, id=text)}]}}}))  # type: ignore[arg-type]
        assert ids(reading) == ["9531985d-5d9d-49f8-9818-e811892f902b"]

    def test_lists_of_kernels(self, read_text: ReadText) -> None:
        kernel = {"row_id": B, "session_id": A, "agent_id": "i-gpu1", "status": "RUNNING"}
        reading = read_text(json.dumps({"data": {"kernel_nodes": {"edges": [{"node": kernel}]}}}))
        part = reading.row(SESSION_NODE_RECORDS)
        assert (part["session_id"], part["part_id"], part["node"]) == (A, B, "gpu1")

    def test_pages_that_are_missing(self, read_text: ReadText) -> None:
        """The CLI gives 20 rows a page; total_count says how many there are."""
        page = {"count": 1, "total_count": 41, "items": [item(A)]}
        assert read_text(json.dumps(page)).log.oddities == {"pages_missing": (40, None)}
        whole = [{**page, "total_count": 2}, {**page, "total_count": 2, "items": [item(B)]}]
        assert read_text("\n".join(map(json.dumps, whole))).log.oddities == {}

    def test_answers_that_are_errors(self, read_text: ReadText) -> None:
        reading = read_text('{"data": null, "errors": [{"message": "forbidden"}]}')
        assert reasons(reading) == [(1, "the server answered with errors: run the query again")]

    def test_psql_with_another_delimiter_and_zone(self, read_text: ReadText) -> None:
        text = "id;status;created_at\n" + f"{A};RUNNING;2026-03-02 21:00:00\n"
        row = read_text(text, delimiter=";", time_zone="Asia/Seoul").row(SESSION_RECORDS)
        assert (row["session_id"], row["created_at"]) == (A, T0)

    def test_headers_in_any_case_with_mark_and_crlf(self, read_text: ReadText) -> None:
        text = "\ufeffStatus,Created At,ID,Whatever\r\n" + f"running,2026-03-02T12:00:00+00:00,{A},x\r\n"
        row = read_text(text).row(SESSION_RECORDS)
        assert (row["line"], row["session_id"], row["state_key"], row["created_at"]) == (2, A, "RUNNING", T0)

    def test_copy_without_names(self, read_text: ReadText) -> None:
        text = f"{A}\tRUNNING\t\\N\t2026-03-02 12:00:00+00\n"
        with pytest.raises(SourceRefusedError, match=r":1: COPY rows without column names: .*header"):
            read_text(text)
        row = read_text(text, format="id, status, name, created_at").row(SESSION_RECORDS)
        assert (row["session_id"], row["job_name"], row["created_at"]) == (A, None, T0)

    def test_copy_escapes(self, read_text: ReadText) -> None:
        name = r"a\tb\nc\\d\134 \x41\q"
        text = f"id\tname\tstatus\n{A}\t{name}\tRUNNING\n{B}\t\tRUNNING\n\\.\n"
        names = [row["job_name"] for row in read_text(text).rows(SESSION_RECORDS)]
        assert names == ["a\tb\nc\\d\\ Aq", None]

    def test_compressed(self, tmp_path: Path) -> None:
        path = tmp_path / "export.json"
        path.write_bytes(gzip.compress((FIXTURES / "json_agg_sessions.json").read_bytes()))
        assert len(read_file(backendai, path).rows(SESSION_RECORDS)) == 10

    def test_batch_timeout_is_the_limit(self, read_text: ReadText) -> None:
        limits = {"86400": 1440.0, "0": None, "": None, "-1": None, "soon": None, "1e400": None}
        for text, minutes in limits.items():
            reading = read_text(f"id,status,batch_timeout\n{A},RUNNING,{text}\n")
            assert reading.row(SESSION_RECORDS)["time_limit_min"] == minutes
            bad = {"unreadable_batch_timeout": (1, 2)} if text in ("-1", "soon", "1e400") else {}
            assert reading.log.oddities == bad

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("", "is empty"),
            (" \n\n", "is empty"),
            ("JobID|State\n1|RUNNING\n", "no export of Backend.AI sessions: needs the columns id and status"),
            (" id | name \n----+------\n 1  | x\n", "psql's table for the screen: export with psql --csv"),
            ("-[ RECORD 1 ]-----\nid | 1\n", "psql's table for the screen: export with psql --csv"),
            (" row_to_json \n-----\n {}\n", "psql's table for the screen"),
            ("--\n-- PostgreSQL database dump\n--\nINSERT INTO sessions VALUES (1);\n", "SQL without a COPY block"),
            ("\x00\x01\x02", "no export of Backend.AI sessions"),
        ],
    )
    def test_refused(self, read_text: ReadText, text: str, message: str) -> None:
        with pytest.raises(SourceRefusedError, match=r"export:\d+: ") as refusal:
            read_text(text)
        assert message in str(refusal.value)

    def test_what_is_no_session(self, read_text: ReadText) -> None:
        reading = read_text('[{"user": "kim"}, 7, null]')
        assert [line for line, _ in reasons(reading)] == [1, 2, 3]


class TestHistories:
    HEAD = "id,session_id,kernel_id,from_status,to_status,result,created_at\n"

    def test_of_sessions_and_of_kernels(self, read_text: ReadText) -> None:
        text = self.HEAD + (
            f"1,{A},,PENDING,SCHEDULED,SUCCESS,2026-03-02 12:00:00+00\n"
            f"2,{A},{B},CREATING,RUNNING,SUCCESS,2026-03-02 12:00:00+00\n"
            f"3,,{B},RUNNING,ERROR,STALE,2026-03-02 12:00:00+00\n"
            f"4,{A},,PENDING,,SKIPPED,2026-03-02 12:00:00+00\n"
            f"5,nobody,,PENDING,RUNNING,SUCCESS,2026-03-02 12:00:00+00\n"
        )
        reading = read_text(text)
        visits = [(row["session_id"], row["part_id"], row["status"]) for row in reading.rows(SESSION_STATUS_RECORDS)]
        assert visits == [(A, None, "SCHEDULED"), (A, B, "RUNNING"), (None, B, "ERROR")]
        assert reading.log.ignored == {"step without a new status": 1}
        assert [line for line, _ in reasons(reading)] == [6]


class TestStates:
    """Rows of the bug list, whole."""

    def test_stuck_terminating_carries_its_kernels_ends(self, read_text: ReadText) -> None:
        """lablup/backend.ai#12317."""
        kernels = [
            {"id": B, "agent": "i-gpu1", "status": "TERMINATED", "terminated_at": "2026-03-02T10:00:00Z"},
            {"id": C, "agent": "i-gpu2", "status": "CANCELLED", "terminated_at": "2026-03-02T09:58:00Z"},
        ]
        history = {"PENDING": "2026-03-02T08:00:00Z", "RUNNING": "2026-03-02T08:01:00Z"}
        stuck = item(A, status="TERMINATING", status_history=history, terminated_at=None, containers=kernels)
        reading = read_text(json.dumps({"items": [stuck]}))
        row = reading.row(SESSION_RECORDS)
        assert (row["state_key"], row["ended_at"], row["end_source"]) == ("TERMINATING", None, None)
        ends = [str(part["ended_at"]) for part in reading.rows(SESSION_NODE_RECORDS)]
        assert ends == ["2026-03-02 10:00:00+00:00", "2026-03-02 09:58:00+00:00"]

    def test_stale_kernel_is_a_control_plane_end(self, read_text: ReadText) -> None:
        """lablup/backend.ai#8404."""
        text = f"id,session_id,agent,status,status_info\n{B},{A},i-gpu1,TERMINATED,STALE_KERNEL\n"
        part = read_text(text).row(SESSION_NODE_RECORDS)
        assert (part["source_state"], part["state_key"]) == ("TERMINATED STALE_KERNEL", "control-plane/stale-kernel")

    def test_unknown_states_are_kept_and_counted(self, read_text: ReadText) -> None:
        text = CSV_HEAD + f"{A},run,KEY,HIBERNATED,winter,2026-03-02 12:00:00+00,,\n"
        reading = read_text(text)
        row = reading.row(SESSION_RECORDS)
        assert (row["source_state"], row["state_key"]) == ("HIBERNATED winter", "unknown-open")
        assert reading.log.oddities == {"unknown_status": (1, 2)}

    def test_waiting_times_are_no_export_time(self, read_text: ReadText) -> None:
        """A reservation in the future must not move what the file has seen."""
        text = CSV_HEAD + f"{A},run,KEY,PENDING,,2026-03-02 12:00:00+00,2027-01-01 00:00:00+00,\n"
        reading = read_text(text)
        assert reading.row(SESSION_RECORDS)["started_at"] is None
        assert (reading.log.first_at, reading.log.latest_at) == (T0, T0)


class TestDamage:
    def test_a_cut_page_gives_every_whole_session(self, read_text: ReadText) -> None:
        text = json.dumps({"count": 3, "total_count": 3, "items": [item(A), item(B), item(C)]}, indent=2)
        reading = read_text(text[: text.index(C) + 4])
        assert ids(reading) == [A, B]
        assert [reason for _, reason in reasons(reading)] == ["the file ends inside a value: export again"]

    def test_a_bad_line_between_good_ones(self, read_text: ReadText) -> None:
        lines = [json.dumps(item(A)), '{"session_id": "' + B + '", "status": RUNNING}', json.dumps(item(C))]
        reading = read_text("\n".join(lines))
        assert ids(reading) == [A, C]
        assert [row["line"] for row in reading.rows(SESSION_RECORDS)] == [1, 3]
        assert [line for line, _ in reasons(reading)] == [2]

    def test_a_cut_csv_line(self, read_text: ReadText) -> None:
        text = CSV_HEAD + f"{A},run,KEY,RUNNING,,2026-03-02 12:00:00+00,,\n{B},run,KEY,RUNN"
        reading = read_text(text)
        assert ids(reading) == [A]
        assert [line for line, _ in reasons(reading)] == [3]

    def test_a_cut_copy_line(self, read_text: ReadText) -> None:
        reading = read_text(f"id\tname\tstatus\n{A}\trun\tRUNNING\n{B}\tru")
        assert ids(reading) == [A]
        assert reasons(reading) == [(3, "2 fields where COPY has 3 columns: export again")]

    @pytest.mark.parametrize(
        ("cells", "reason"),
        [
            ("not-a-uuid,run,KEY,RUNNING,,2026-03-02 12:00:00+00,,", "the session's id is 'not-a-uuid'"),
            (f"{A},run,KEY,RUNNING,,yesterday,,", "created_at is 'yesterday'"),
            (f"{A},run,KEY,TERMINATED,,2026-03-02 12:00:00+00,,infinity", "terminated_at is 'infinity'"),
        ],
    )
    def test_a_row_that_cannot_be_read(self, read_text: ReadText, cells: str, reason: str) -> None:
        reading = read_text(CSV_HEAD + cells + "\n")
        assert reading.log.rejected == 1
        assert reading.log.rejects[0].reason.startswith(reason)
        assert reading.log.rejects[0].text == cells

    def test_a_kernel_that_cannot_be_read_leaves_its_session(self, read_text: ReadText) -> None:
        kernels = [{"id": "?", "agent": "i-a"}, 7, {"id": B, "agent": "i-b", "terminated_at": "never"}, {"id": C}]
        reading = read_text(json.dumps({"items": [item(A, containers=kernels)]}))
        assert ids(reading) == [A]
        assert reading.log.oddities == {"unreadable_kernel": (3, 1)}
        assert reading.row(SESSION_NODE_RECORDS)["part_id"] == C


class TestHarm:
    NAMES = (
        "<script>alert(1)</script>",
        "'; drop table sessions; --",
        'quote " and, comma',
        "line\nbreak\ttab | pipe",
        "한글 α 🚀",
        "x" * 10_000,
        "=HYPERLINK(1)",
        "nul\x00byte",
    )

    @pytest.mark.parametrize("name", NAMES)
    def test_names_are_kept_as_they_are(self, read_text: ReadText, name: str) -> None:
        assert read_text(json.dumps(item(A, name=name))).row(SESSION_RECORDS)["job_name"] == name

    def test_bytes_that_are_no_text(self, read_text: ReadText) -> None:
        text = json.dumps(item(A)).replace("run", "caf\xe9").encode("latin-1")
        reading = read_text(text)
        assert reading.row(SESSION_RECORDS)["job_name"] == "caf\ufffd"
        assert reading.log.oddities == {"not_utf8": (1, None)}
        assert read_text(json.dumps(item(A, name="\ud800"))).row(SESSION_RECORDS)["job_name"] == "\ufffd"

    def test_types_that_no_export_has(self, read_text: ReadText) -> None:
        odd = item(
            A,
            name=["a"],
            access_key=7,
            status_history=[1],
            agents={"a": 1},
            occupying_slots=3,
            status_info={},
            containers=5,
        )
        row = read_text(json.dumps(odd)).row(SESSION_RECORDS)
        assert (row["job_name"], row["owner"], row["nodes"], row["gpu_count"]) == ('["a"]', "7", None, None)

    @pytest.mark.parametrize("text", ["[" * 50_000, '{"items": [' + '{"a":' * 50_000, '{"items":' * 2_000])
    def test_nesting_without_end(self, read_text: ReadText, text: str) -> None:
        assert len(reasons(read_text(text))) == 1

    def test_wide_cells(self, read_text: ReadText) -> None:
        """A status_data may be larger than what the csv module takes by itself."""
        text = f"id,status,status_data\n{A},RUNNING,{'x' * 200_000}\n"
        assert ids(read_text(text)) == [A]
