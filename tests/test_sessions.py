"""Fleet figures: what belongs to a window, what is clipped to it, and what stands apart."""

from datetime import date

import pytest

from gangline import capacity, sessions
from gangline.windows import Window
from tests.fleets import at, days, fleet_of, session

NEVER = f"never, probe, bo, , , {at(3)}, , {at(4)}, never_started"
LINES = [
    session("g", "n[1-4]", 0, 30, "failed", 32),
    session("m", "n[5-6]", 2, 4, "completed", 16),
    session("s", "n7", 23, 2, "completed", 8),
    session("late", "n7", 30, 1, "killed", 8),
    session("open", "n8", 20, None, gpus=8),
]


def test_sessions_belong_to_their_start_and_hours_are_clipped() -> None:
    with fleet_of([*LINES, NEVER], cluster={"gang_min_nodes": 4}) as con:
        figures = sessions.figures(con, days(1, 2))
        ends = sessions.ends(con, days(1, 2))
    assert {name: figure.value for name, figure in figures.items() if name != "fleet.gang_gpu_hours_share"} == {
        "fleet.nodes": 8,
        "fleet.sessions": 4,
        "fleet.multi_node_sessions": 2,
        "fleet.never_started": 1,
    }
    gang, all_h = 24 * 32, 24 * 32 + 4 * 16 + 1 * 8 + 4 * 8
    assert figures["fleet.gang_gpu_hours_share"].value == pytest.approx(gang / all_h)
    assert ends.select("end_reason", "sessions", "gpu_h").rows() == [
        ("completed", 2, 72.0),
        ("failed", 1, 768.0),
        ("running", 1, 32.0),
    ]
    assert ends["gpu_hours_share"].sum() == pytest.approx(1)


def test_the_banner_is_for_shares_below_a_half() -> None:
    with fleet_of(
        [session("g", "n[1-2]", 0, 1, gpus=8), session("s", "n3", 0, 10)], cluster={"gang_min_nodes": 2}
    ) as con:
        assert sessions.is_gang_minority(sessions.gang_share(con, days(1, 2)))
        assert not sessions.is_gang_minority(sessions.gang_share(con, days(5, 6)))  # null is no minority


def test_the_rule_that_makes_a_gang() -> None:
    large = session("g", "n[01-10]", 0, 5)
    with fleet_of([large]) as con:
        assert sessions.gang_rule(con) == sessions.GangRule(8, "usual_size", 10)
    with fleet_of([large], cluster={"gang_min_nodes": 6}) as con:
        assert sessions.gang_rule(con) == sessions.GangRule(6, "config", 10)
    with fleet_of([session("s", "n1", 0, 5)]) as con:
        assert sessions.gang_rule(con) == sessions.GangRule(None, None, None)


def test_which_sentence_fits() -> None:
    with fleet_of() as con:
        assert sessions.case(con, sessions.figures(con, days(1, 2))) == "no_source"
    with fleet_of(LINES) as con:
        assert sessions.case(con, sessions.figures(con, days(1, 2))) == "found"
        assert sessions.case(con, sessions.figures(con, days(9, 10))) == "none"


def test_starts_are_counted_by_local_day_size_and_end() -> None:
    with fleet_of(LINES, cluster={"gang_min_nodes": 4}) as con:
        seoul = Window.between("2026-03-01", "2026-03-04", "Asia/Seoul")
        rows = sessions.starts(con, seoul).rows()
        weeks = sessions.starts(con, Window.between("2024-01-01", "2026-12-31", "UTC"))
    assert rows == [
        (date(2026, 3, 1), "gang", "failed", 1),
        (date(2026, 3, 1), "multi-node", "completed", 1),
        (date(2026, 3, 2), "single-node", "completed", 1),
        (date(2026, 3, 2), "single-node", "killed", 1),
        (date(2026, 3, 2), "single-node", "running", 1),
    ]
    assert weeks["day"].unique().sort().to_list() == [date(2026, 2, 23), date(2026, 3, 2)]


def test_runs_come_with_their_largest_sessions_and_those_without_a_name_by_id() -> None:
    nameless = f'x, , bo, "n9", 8, , {at(0)}, {at(24)}, completed'
    with fleet_of([*LINES, nameless]) as con:
        runs = sessions.runs(con, days(1, 2))
        assert sessions.run_count(con, days(1, 2)) == 2
    assert runs["run_name"].unique(maintain_order=True).to_list()[0] == "train"
    assert runs.filter(run_name="train")["session_id"].len() == 4
    assert [
        row[1].isoformat() for row in runs.filter(session_id=runs["session_id"][0]).select("from_at", "to_at").rows()
    ] == [at(24)]


def test_small_owners_are_together_and_a_missing_owner_is_one() -> None:
    lines = [
        f'{place}, train, {owner}, "n1", 8, , {at(place)}, {at(place + hours)}, completed'
        for place, owner, hours in OWNERS
    ]
    with fleet_of(lines) as con:
        rows = sessions.gpu_hours(con, days(1, 11))
    named = rows.filter(~rows["is_others"])
    assert named.height == sessions.NAMED_OWNERS
    assert named["owner"][0] is None
    others = rows.filter(rows["is_others"]).row(0, named=True)
    assert (others["sessions"], others["gpu_h"]) == (2, 2 * 0.25 * 8)


OWNERS = [
    (0, "", 9),
    *((place, f"user{place:02d}", 1) for place in range(1, sessions.NAMED_OWNERS)),
    (90, "tiny", 0.25),
    (91, "small", 0.25),
]


def test_never_started_ones_are_counted_by_owner_and_state() -> None:
    with fleet_of([*LINES, NEVER]) as con:
        rows = sessions.never_started(con, days(1, 2))
    assert rows.select("owner", "sessions").rows() == [("bo", 1)]


def test_one_without_any_time_belongs_to_where_it_was_exported() -> None:
    timeless = "timeless, probe, bo, , , , , , never_started"
    with fleet_of([*LINES, timeless]) as con:
        exported = days(11, 12)
        counts = [sessions.figures(con, window)["fleet.never_started"].value for window in (exported, days(1, 2))]
        assert sessions.never_started(con, exported)["sessions"].to_list() == [1]
    assert counts == [1, 0]


def test_capacity_ends_with_the_export_and_long_ones_are_means() -> None:
    lines = [session(f"s{place}", "n1", place / 20, 0.02) for place in range(1000)]
    with fleet_of(lines, cluster={"nodes": ["n[1-4]"]}) as con:
        short = capacity.steps(con, days(1, 2))
        long = capacity.steps(con, days(1, 30))
    assert short["usable_nodes"].unique().to_list() == [4]
    assert long.height == capacity.CELLS
    assert long["to_at"].max().isoformat() == at(240)
    hours = (long["to_at"] - long["from_at"]).dt.total_microseconds() / 3.6e9
    assert (long["other_nodes"] * hours).sum() == pytest.approx(1000 * 0.02)
