"""Nodes that could not be used, clipped to the window and to what was observed; and the stretches too short of them."""

from datetime import UTC, datetime

import pytest

from gangline import capacity, node_states
from gangline.warehouse import connect
from gangline.windows import Window
from tests.fleets import at, days, fleet_of, sample, session

ALL = Window.between("2026-03-02", "2026-03-23", "Asia/Seoul")
LEAF_DOWN = (datetime(2026, 3, 20, 13, 10, 31, tzinfo=UTC), datetime(2026, 3, 20, 19, 41, 7, tzinfo=UTC))


def test_stretches_of_the_sample() -> None:
    with connect(sample()) as con:
        states, short = node_states.within(con, ALL), capacity.short(con, ALL)
        hours = capacity.below_need(con, ALL)
    told = states.select("node", "state_kind", "state", "is_open", "meaning").rows()
    assert told == [
        ("gpu009", "drained", "DRAIN", False, "Xid 79 on GPU 3, riser | see ticket"),
        ("gpu008", "down", "DOWN*", False, "Not responding"),
        ("gpu003", "down", "DOWN", False, "leaf 3 dead"),
        ("gpu008", "down", "DOWN", False, "leaf 3 dead"),
        ("gpu009", "down", "DOWN", False, "leaf 3 dead"),
        ("gpu011", "drained", "DRAIN", True, "NVLink board ordered"),
    ]
    assert [round(hours * 3600) for hours in states["state_h"]] == [8204, 9, 23436, 23436, 23436, 19800]
    assert states["to_at"][5] == datetime(2026, 3, 22, 15, tzinfo=UTC)  # open: as far as the export tells
    assert short.rows() == [(*LEAF_DOWN, 9)]
    assert hours.value == pytest.approx(6.51)
    assert (hours.unit, hours.n) == ("h", 10)


def test_a_window_cuts_them() -> None:
    day = Window.between("2026-03-21", "2026-03-22", "Asia/Seoul")
    with connect(sample()) as con:
        states, short = node_states.within(con, day), capacity.short(con, day)
        before = node_states.within(con, Window.between("2026-03-11", "2026-03-20", "Asia/Seoul"))
    assert states.select("node", "from_at", "to_at").rows() == [
        (node, day.start, LEAF_DOWN[1]) for node in ("gpu003", "gpu008", "gpu009")
    ]
    assert short.rows() == [(day.start, LEAF_DOWN[1], 9)]
    assert before.is_empty()


def test_without_states_nothing_is_short() -> None:
    lines = [session("a", "n[1-4]", 0, 2), session("b", "n[1-2]", 3, 2)]
    with fleet_of(lines, cluster={"nodes": ["n[1-4]"]}) as con:
        assert capacity.short(con, days(1, 2)).is_empty()
        assert node_states.within(con, days(1, 2)).is_empty()


def test_stretches_that_touch_are_one() -> None:
    periods = [{"name": "n4", "from": at(6)}, {"name": "n3", "to": at(6)}]
    lines = [session("a", "n[1-4]", 12, 2)]
    with fleet_of(lines, cluster={"nodes": ["n[1-4]"]}, nodes=periods) as con:
        short = capacity.short(con, Window.between("2026-03-01", "2026-03-02", "UTC"))
    assert short["least_nodes"].to_list() == [3]
    assert (short["from_at"][0].hour, (short["to_at"][0] - short["from_at"][0]).total_seconds()) == (0, 24 * 3600)
