"""A Slurm cluster as it is: two weekly exports, node events, maintenance, remarks; read whole, through the ingest."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import pytest

from gangline.config import load
from gangline.exclusions import below_need
from gangline.ingest import ingest
from gangline.warehouse import connect
from gangline.windows import Window

CONFIG = """
[cluster]
name = "polar"
time_zone = "UTC"
nodes = ["gpu[01-64]", "dbg1"]
gpus_per_node = 8
[[sources]]
kind = "slurm"
path = "jobs/*.txt"
[[sources]]
kind = "slurm_events"
path = "events.txt"
[[sources]]
kind = "annotations_csv"
path = "notes.csv"
[[nodes]]
name = "gpu63"
from = 2026-03-04T00:00:00Z
[[maintenance]]
from = 2026-03-12T06:00:00Z
to = 2026-03-12T12:00:00Z
note = "cooling"
"""
COLUMNS = "Cluster|JobIDRaw|JobID|JobName|User|Partition|State|Submit|Start|End|Timelimit|NodeList|AllocTRES"
GANG = "gpu[01-60]"
DAY = "1-00:00:00"


def job(number: int, name: str, state: str, times: str, nodes: str, limit: str = "UNLIMITED", **other: str) -> str:
    """A line of sacct; `times` are submit, start and end in March 2026, `-` for none."""
    submit, start, end = (time if time[0].isupper() else f"2026-03-{time}" for time in times.split())
    user, partition = other.get("user", "kim"), other.get("partition", "gpu")
    tres = "" if nodes == "None assigned" else "billing=1"
    return f"polar|{number}|{number}|{name}|{user}|{partition}|{state}|{submit}|{start}|{end}|{limit}|{nodes}|{tres}\n"


BOTH_WEEKS = (
    job(100, "old", "FAILED", "01T00:00:00 01T00:00:00 01T01:00:00", "gpu64").replace("2026", "2024")
    + job(100, "llama", "NODE_FAIL", "01T00:00:00 01T00:05:00 02T00:00:00", GANG)
    + job(400, "llama", "CANCELLED by 1001", "05T00:00:00 None 05T01:00:00", "None assigned")
    + job(600, "debug", "COMPLETED", "03T00:00:00 03T00:00:00 06T00:00:00", "dbg1", partition="debug")
)
WEEK_1 = BOTH_WEEKS + job(100, "llama", "RUNNING", "02T00:00:10 02T00:03:00 Unknown", "gpu[01-59,61]")
WEEK_2 = (
    BOTH_WEEKS
    + job(100, "llama", "COMPLETED", "02T00:00:10 02T00:03:00 10T00:00:00", "gpu[01-59,61]")
    + job(200, "llama", "REQUEUED", "10T01:00:00 10T01:05:00 10T05:00:00", GANG)
    + job(200, "llama", "TIMEOUT", "10T05:00:05 10T05:10:00 11T05:10:05", GANG, DAY)
    + job(500, "llama", "NODE_FAIL", "11T06:00:00 11T06:00:00 12T06:30:00", GANG)
    + job(700, "llama", "CANCELLED by 1001", "13T00:00:00 13T00:00:00 13T10:00:00", GANG)
    + job(800, "llama", "CANCELLED by 1001", "14T00:00:00 14T00:00:00 14T03:00:00", GANG)
    + "".join(
        job(
            300 + day,
            "sweep",
            "TIMEOUT",
            f"01T00:00:00 {day:02}T00:00:00 {day + 1:02}T00:00:03",
            "gpu62",
            DAY,
            user="lee",
        )
        for day in range(1, 11)
    )
)
EVENTS = """Cluster|NodeName|TimeStart|TimeEnd|State|Reason|User
polar||2026-03-01T00:00:00|Unknown||Cluster Registered TRES|
polar|gpu60|2026-03-02T00:00:00|2026-03-04T00:00:00|DOWN*|Xid 79|root(0)
polar|gpu[57-59]|2026-03-03T00:00:00|2026-03-03T06:00:00|IDLE+DRAIN|cables|root(0)
polar|gpu64|2026-03-03T00:00:00|2026-03-05T00:00:00|DRAIN|memory|root(0)
polar|gpu10|2026-03-14T02:55:00|Unknown|DOWN*|Not responding|slurm(0)
"""
NOTES = "target,from,to,cause,planned,note\n700,2026-03-13T00:00:00Z,,upgrade,true,we stopped it\n"


@pytest.fixture(scope="module")
def con(tmp_path_factory: pytest.TempPathFactory) -> Iterator[duckdb.DuckDBPyConnection]:
    folder = tmp_path_factory.mktemp("polar")
    (folder / "jobs").mkdir()
    texts = {"cluster.toml": CONFIG, "events.txt": EVENTS, "notes.csv": NOTES}
    texts |= {"jobs/week2.txt": COLUMNS + "\n" + WEEK_2, "jobs/week1.txt": COLUMNS + "\n" + WEEK_1}
    for name, text in texts.items():
        (folder / Path(name)).write_text(text)
    config = load(folder / "cluster.toml")
    assert ingest(config).refused == []
    with connect(config) as opened:
        yield opened


def at(day: int, hour: int = 0) -> datetime:
    return datetime(2026, 3, day, hour, tzinfo=UTC)


WINDOW = Window(at(1), at(15), "UTC", "two weeks")


def test_every_launch_is_one_session_with_its_end_and_its_link(con: duckdb.DuckDBPyConnection) -> None:
    rows = con.execute(
        """select bare_id, node_count, end_reason, end_class, end_rule, start_kind, start_rule, is_abnormal_end
        from marts.sessions where run_name <> 'sweep' order by started_at nulls last"""
    ).fetchall()
    assert rows == [
        ("100", 1, "failed", "failure", "end_reason", None, None, True),
        ("100", 60, "node_fail", "failure", "end_reason", None, None, True),
        ("100", 60, "completed", "completed", "end_reason", "automatic", "requeue", False),
        ("600", 1, "completed", "completed", "end_reason", None, None, False),
        ("200", 60, "preempted", "preempted", "end_reason", "manual", "none", True),
        ("200", 60, "timeout", "planned", "time_limit", "requeue_unknown", "requeue", False),
        ("500", 60, "node_fail", "planned", "maintenance", "manual", "none", False),
        ("700", 60, "killed", "planned", "annotation", "manual", "none", False),
        ("800", 60, "killed", "failure", "node_down_before", "manual", "none", True),
        ("400", 0, "never_started", None, None, None, None, None),
    ]


def test_ten_jobs_that_end_at_their_limit_are_no_failures(con: duckdb.DuckDBPyConnection) -> None:
    rows = con.execute(
        """select end_class, end_rule, count(*), count_if(is_failure), count_if(is_abnormal_end)
        from marts.sessions where run_name = 'sweep' group by all"""
    ).fetchall()
    assert rows == [("planned", "time_limit", 10, 0, 0)]


def test_ends_are_counted_in_both_ways(con: duckdb.DuckDBPyConnection) -> None:
    query = """select count(*), count_if(is_abnormal_end), count_if(is_failure) from marts.ends_within(?, ?)
        where is_gang"""
    assert con.execute(query, [at(1), at(15)]).fetchone() == (7, 3, 2)
    assert con.execute(query, [at(2), at(10)]).fetchone() == (1, 1, 1)


def test_who_left_out_whom(con: duckdb.DuckDBPyConnection) -> None:
    """gpu60 is down when llama's second attempt starts, gpu62 always runs a small job, dbg1 is of another partition."""
    rows = con.execute(
        """select node, gang_sessions, excluded_sessions, down_sessions, occupied_sessions, round(excluded_h, 4)
        from marts.node_exclusions where node in ('dbg1', 'gpu01', 'gpu60', 'gpu61', 'gpu62', 'gpu63', 'gpu64')"""
    ).fetchall()
    gang_h = 23.9167 + 191.95 + 3.9167 + 24.0014 + 24.5 + 10 + 3
    assert rows == [
        ("dbg1", 0, 0, 0, 0, 0),
        ("gpu01", 7, 0, 0, 0, 0),
        ("gpu60", 7, 0, 1, 0, pytest.approx(144, abs=1e-4)),
        ("gpu61", 7, 6, 0, 0, pytest.approx(gang_h - 191.95, abs=1e-3)),
        ("gpu62", 7, 7, 0, 4, pytest.approx(gang_h, abs=1e-3)),
        ("gpu63", 5, 5, 0, 0, pytest.approx(gang_h - 23.9167 - 47.95, abs=1e-3)),
        ("gpu64", 7, 7, 0, 0, pytest.approx(gang_h - 48, abs=1e-3)),
    ]


def test_usable_nodes_over_time_and_the_gangs_need(con: duckdb.DuckDBPyConnection) -> None:
    rows = con.execute(
        "select from_at, usable_nodes, candidate_nodes from marts.capacity(?, ?) order by from_at",
        [at(1, 12), at(5, 1)],
    ).fetchall()
    changes = [row for before, row in zip([None, *rows], rows, strict=False) if before is None or before[1:] != row[1:]]
    assert changes == [
        (at(1, 12), 64, 63),
        (at(2), 63, 62),
        (at(3), 59, 58),
        (at(3, 6), 62, 61),
        (at(4), 64, 63),
        (at(5), 65, 64),
    ]
    assert below_need(con, WINDOW).value == pytest.approx(6.0)


def test_remarks_stand_where_their_target_is(con: duckdb.DuckDBPyConnection) -> None:
    rows = con.execute(
        """select annotations.target, sessions.bare_id, annotations.note
        from marts.annotations join marts.sessions using (session_id)"""
    ).fetchall()
    assert rows == [("700", "700", "we stopped it")]
    happened = con.execute("select events.at, value from marts.events where kind = 'annotation'").fetchall()
    assert happened == [(at(13), "upgrade: we stopped it")]
