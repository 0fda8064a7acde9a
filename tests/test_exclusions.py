"""Exclusion figures: the analyses' checks through the whole SQL layer, the true clusters, and what cannot be said."""

import json
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from gangline import exclusions, gangs, sessions
from gangline.estimates import Estimate
from gangline.warehouse import connect
from gangline.windows import Window
from tests.fleets import at, days, fleet_of, ingested, sample, session

TRUTH = "truth/sessions"
FORMS = ("csv", "slurm", "backendai")
CHECK = [
    session("a", "n[14-63]", 0, 4),
    session("b", "n[04-63]", 10, 6),
    session("c", "n[03-63]", 20, 10),
    session("d", "n[02-63]", 40, 10),
]


@pytest.fixture(scope="module")
def check() -> Iterator[duckdb.DuckDBPyConnection]:
    """Nodes left out for 30, 20, 10, ten times 4 and fifty times 0 hours."""
    with fleet_of(CHECK, cluster={"gang_min_nodes": 50, "nodes": ["n[01-63]"]}) as con:
        yield con


def test_the_check_of_hours_30_20_10_ten_of_4_fifty_of_0(check: duckdb.DuckDBPyConnection) -> None:
    figures = exclusions.figures(check, days(1, 11))
    assert figures["exclusions.top3_share_hours"].value == pytest.approx(0.6)
    assert figures["exclusions.gini_hours"].value == pytest.approx(0.8762, abs=5e-5)
    assert figures["exclusions.hhi_hours"].value == pytest.approx(0.1560, abs=5e-5)
    assert figures["exclusions.excluded_total"].value == 13 + 3 + 2 + 1
    assert figures["exclusions.nodes_below_5pct_share"].numerator == 50
    assert exclusions.most_excluded(exclusions.by_node(check, days(1, 11))) == ["n01", "n02", "n03"]


def test_hours_are_clipped_to_the_window_and_sessions_belong_to_their_start(check: duckdb.DuckDBPyConnection) -> None:
    figures = exclusions.figures(check, days(2, 3))  # hours 24 to 48: six of c, eight of d
    assert figures["exclusions.gang_sessions"].value == 1
    assert figures["exclusions.gang_time_share"].value == pytest.approx((6 + 8) / 24)
    nodes = exclusions.by_node(check, days(2, 3))
    assert dict(nodes.select("node", "excluded_h").head(3).iter_rows()) == {"n01": 14.0, "n02": 6.0, "n03": 0.0}


def test_always_the_same_three_of_63() -> None:
    lines = [session(f"g{place}", "n[04-63]", 10 * place, 9) for place in range(5)]
    with fleet_of(lines, cluster={"gang_min_nodes": 60, "nodes": ["n[01-63]"]}) as con:
        figures = exclusions.figures(con, days(1, 11))
        similar = gangs.composition(con, days(1, 11))
    assert figures["exclusions.top3_share_hours"].value == 1
    assert figures["exclusions.gini_hours"].value == pytest.approx(60 / 63)
    assert figures["exclusions.blocks"].value == 1
    assert figures["exclusions.p_value"].value == 1  # one block: every draw is as concentrated
    assert similar["jaccard"].to_list() == [1.0] * 4
    assert str(gangs.likeness(similar)) == "1.000 (n = 4; 1.000 to 1.000, 87.5 %)"


def test_the_overlap_check_with_the_union() -> None:
    held = [session(f"s{start}", "n3", start, length) for start, length in ((1, 3), (3, 3), (8, 4), (10, 5))]
    with fleet_of([session("g", "n[1-2]", 0, 10), *held], cluster={"gang_min_nodes": 2}) as con:
        nodes = exclusions.by_node(con, days(1, 2))
        holders = exclusions.holders(con, days(1, 2))
    assert exclusions.overlap(nodes).value == pytest.approx(0.70)
    assert exclusions.verdicts(nodes) == {"occupied": 0, "mixed": 1, "unoccupied": 0}
    assert exclusions.state_totals(nodes)["idle"] == 1
    assert str(exclusions.held_first(holders)) == "0 of 3, 0 % (0 to 56.1)"


def test_value_for_whole_nodes_stands_beside() -> None:
    lines = [session("g", "n[1-2]", 0, 10, gpus=16), session("half", "n3", -1, 5, gpus=4), session("whole", "n3", 6, 2)]
    with fleet_of(lines, cluster={"gang_min_nodes": 2, "gpus_per_node": 8}) as con:
        nodes = exclusions.by_node(con, days(1, 2))
        overlaps = exclusions.overlaps(nodes, exclusions.holders(con, days(1, 2)))
    assert exclusions.overlap(nodes).value == pytest.approx(0.6)
    assert exclusions.overlap(nodes, "fully_held_h").value == pytest.approx(0.2)
    assert overlaps.select("node", "main_holder", "main_run", "held_first_share").row(0) == ("n3", "ana", "train", 0.5)


def test_stretches_join_what_a_pixel_cannot_show() -> None:
    lines = [session("g", "n[1-2]", 0, 10), session("h", "n[1-2]", 10.5, 9.5), session("s", "n3", 2, 1)]
    with fleet_of(lines, cluster={"gang_min_nodes": 2}) as con:
        apart = exclusions.stretches(con, days(1, 2), ["n3"], 0).select("use", "from_at", "to_at")
        joined = exclusions.stretches(con, days(1, 2), ["n3"], 1800).select("use", "from_at", "to_at")
        nobody = exclusions.stretches(con, days(1, 2), [], 0)
    assert apart["use"].to_list() == ["left_out", "left_out", "held"]
    assert [moment.isoformat() for moment in joined.row(0)[1:]] == [at(0), at(20)]
    assert joined.height == 2
    assert nobody.is_empty()


@pytest.mark.parametrize(
    ("lines", "case", "reason"),
    [
        ([], "no_gang", exclusions.NO_GANG),
        ([session("s", "n1", 0, 5)], "no_gang", exclusions.NO_GANG),
        ([session("g", "n[1-4]", 0, 5)], "no_spare", exclusions.NO_SPARE),
        ([session("g", "n[1-3]", 30, 5), session("s", "n4", 0, 1)], "no_gang", exclusions.NO_GANG),
    ],
    ids=["no_session", "single_nodes_only", "no_spare_nodes", "gang_outside_the_window"],
)
def test_what_cannot_be_said_is_null_with_its_reason(lines: list[str], case: str, reason: str) -> None:
    with fleet_of(lines, cluster={"gang_min_nodes": 2}) as con:
        figures, nodes = exclusions.figures(con, days(1, 2)), exclusions.by_node(con, days(1, 2))
    assert exclusions.case(figures, nodes) == case
    for name in ("top3_share_sessions", "top3_share_hours", "gini_hours", "hhi_hours", "p_value", "blocks"):
        assert (figures[f"exclusions.{name}"].value, figures[f"exclusions.{name}"].reason) == (None, reason)
    assert figures["overlap.fleet_ratio"].reason == reason
    assert figures["exclusions.below_need_h"].value is None


def test_without_sessions_the_time_share_is_null_not_zero() -> None:
    with fleet_of() as con:
        figures = exclusions.figures(con, days(1, 2))
    assert figures["exclusions.gang_time_share"].reason == exclusions.NO_SESSIONS
    with fleet_of([session("s", "n1", 0, 5)]) as con:
        assert exclusions.figures(con, days(1, 2))["exclusions.gang_time_share"].value == 0


def test_a_gang_from_before_the_window_gives_hours_but_no_test() -> None:
    with fleet_of([session("g", "n[1-2]", -10, 20), session("s", "n3", -20, 1)], cluster={"gang_min_nodes": 2}) as con:
        figures, nodes = exclusions.figures(con, days(1, 2)), exclusions.by_node(con, days(1, 2))
    assert figures["exclusions.top3_share_hours"].value == 1
    assert figures["exclusions.p_value"].reason == "there is no gang session"
    assert exclusions.case(figures, nodes) == "untested"


def test_gangs_of_no_length_leave_out_nobody_for_any_time() -> None:
    lines = [session("g", "n[1-2]", 5, 0), session("s", "n3", 0, 1)]
    with fleet_of(lines, cluster={"gang_min_nodes": 2}) as con:
        figures = exclusions.figures(con, days(1, 2))
    assert figures["exclusions.excluded_total"].value == 1
    assert figures["exclusions.top3_share_hours"].reason == "every unit has 0"
    assert figures["overlap.fleet_ratio"].reason == "no node was left out for any time in the window"


def test_the_longest_session_left_out() -> None:
    every = frozenset("abcdefgh")
    told = [("x", 100.0, "abcd"), ("y", 1.0, "e"), ("z", 1.0, "f")]
    given = [
        gangs.GangSession(name, days(1, 2).start, hours, frozenset(excluded), every) for name, hours, excluded in told
    ]
    assert gangs.without_longest(given).value == 1
    assert gangs.without_longest(given[1:]).value == 1
    assert gangs.without_longest([]).reason == exclusions.NO_GANG
    assert [block.hours for block in gangs.blocks(given)] == [100.0, 1.0, 1.0]


def test_the_sample_is_more_concentrated_than_chance() -> None:
    with connect(sample()) as con:
        window = Window.between("2026-03-02", "2026-03-23", "Asia/Seoul")
        figures, nodes = exclusions.figures(con, window), exclusions.by_node(con, window)
    assert exclusions.case(figures, nodes) == "uneven"
    assert exclusions.most_excluded(nodes) == ["gpu007", "gpu011", "gpu004"]
    assert set(exclusions.CARDS) <= set(figures)


@pytest.mark.parametrize("form", FORMS)
def test_every_figure_and_node_of_the_true_clusters(shared_data: Path, form: str) -> None:
    truth = json.loads((shared_data / TRUTH / "truth.json").read_text("utf-8"))
    window = Window.between("2026-09-15", "2026-11-16", "America/New_York")
    with connect(ingested(shared_data / TRUTH / form, f"truth-{form}")) as con:
        measured: dict[str, Estimate] = {**exclusions.figures(con, window), **sessions.figures(con, window)}
        rows = {row["node"]: row for row in exclusions.by_node(con, window).iter_rows(named=True)}
    wanted = {name: value for name, value in truth["figures"].items() if not name.startswith(("retries", "downtimes"))}
    assert {name: measured[name].value for name in wanted} == pytest.approx(wanted, abs=1e-9)
    assert set(rows) == set(truth["nodes"])
    for node, columns in truth["nodes"].items():
        got = {name: rows[node][name] for name in columns}
        assert {name: got[name] is None for name in columns} == {name: columns[name] is None for name in columns}
        known = {name: value for name, value in columns.items() if value is not None}
        assert {name: got[name] for name in known} == pytest.approx(known, abs=1e-9), node
