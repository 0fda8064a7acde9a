"""Incident figures: the published trace's checks end to end, windows, open incidents, clusters, and no file at all."""

from datetime import date
from pathlib import Path

import pytest

from gangline import incidents
from gangline.report.opening import export_window
from gangline.warehouse import connect
from tests.fleets import days, fleet_of, incident, session, written

TRACE = "public/stepfun_infinitehbd/fault_trace.json"


def test_the_published_trace(shared_data: Path) -> None:
    path = (shared_data / TRACE).resolve()
    toml = f'node_count = 400\n[[sources]]\nkind = "incidents"\npath = "{path}"\nepoch = 2024-03-30T00:00:00Z\n'
    with connect(written("infinitehbd", toml)) as con:
        window = export_window(con, "UTC")
        figures = incidents.figures(con, window)
        plain = incidents.rate(con, window, is_widened=False)
        spread = incidents.dispersion(con, window)
        exposure_h = incidents.exposure_h(con, window)
    assert figures["incidents.count"].value == 584
    assert figures["incidents.nodes_affected"].value == 231
    assert exposure_h / 24 / 400 == pytest.approx(348.98, abs=0.005)
    assert [plain.value, plain.low, plain.high] == pytest.approx([4.18, 3.85, 4.54], abs=0.005)
    assert figures["incidents.duration_median_h"].value == pytest.approx(20.4, abs=0.05)
    assert figures["incidents.duration_q1_h"].value == pytest.approx(2.05, abs=0.005)
    assert figures["incidents.duration_q3_h"].value == pytest.approx(75.9, abs=0.05)
    assert figures["incidents.top5pct_nodes_share"].value == pytest.approx(0.477, abs=0.0005)
    assert figures["incidents.gini_hours"].value == pytest.approx(0.829, abs=0.0005)
    widened = figures["incidents.per_1000_node_days"]
    assert widened.value == plain.value
    assert spread.widening > 3
    assert widened.low is not None
    assert plain.low is not None
    assert widened.low < plain.low


def test_without_an_incident_file_every_figure_says_so() -> None:
    with fleet_of([session("s", "n1", 0, 5)]) as con:
        figures = incidents.figures(con, days(1, 2))
        assert incidents.case(con, figures) == "no_source"
        assert incidents.changes(con, days(2, 3)) == {}
        assert incidents.beside(con, days(1, 2), incidents.hours_by_node(con, days(1, 2)).select("node")).is_empty()
    assert {figure.reason for figure in figures.values()} == {incidents.NO_SOURCE}


def test_a_file_without_incidents_in_the_window_is_a_rate_of_zero() -> None:
    with fleet_of([session("s", "n1", 0, 5)], [incident("i", "n1", 100, 1)]) as con:
        figures = incidents.figures(con, days(1, 2))
        assert incidents.case(con, figures) == "none"
        assert incidents.starts(con, days(1, 2), "day").is_empty()
    rate = figures["incidents.per_1000_node_days"]
    assert (rate.value, rate.low) == (0, 0)
    assert rate.high == pytest.approx(3.689 * 1000, abs=1)  # Garwood's bound of 0 events in one node-day
    assert figures["incidents.gini_hours"].reason == incidents.NO_INCIDENTS
    assert figures["incidents.duration_median_h"].reason == incidents.NO_INCIDENTS


def test_an_incident_belongs_to_its_start_with_its_whole_length() -> None:
    told = [incident("i", "n1", 20, 10), incident("j", "n2", 30, 1), incident("z", "n2", 0, 0)]
    with fleet_of([session("s", "n[1-3]", 0, 5)], told) as con:
        rows = incidents.rows(con, days(1, 2))
        hours = incidents.hours_by_node(con, days(1, 2))
    assert rows.select("node", "duration_h").rows() == [("n2", 0.0), ("n1", 10.0)]
    assert hours.select("node", "incidents", "incident_h").rows() == [("n1", 1, 10.0), ("n2", 1, 0.0), ("n3", 0, 0.0)]


def test_open_incidents_count_as_open() -> None:
    told = [incident(f"i{place}", "n1", place, length) for place, length in enumerate([1, 2, None, 4])]
    with fleet_of(incidents=told) as con:
        rows = incidents.rows(con, days(1, 2))
        kinds = incidents.by_kind(rows)
        figures = incidents.figures(con, days(1, 2))
    assert rows["duration_h"].to_list() == [1.0, 2.0, 238.0, 4.0]  # the export is at hour 240
    assert figures["incidents.duration_median_h"].value == 3  # Kaplan-Meier: 0.5 between 2 and 4 h
    assert "1 of 4 still open" in figures["incidents.duration_median_h"].method
    assert kinds.rows() == [("GPU", 4, 1, 3.0, 245.0, 1)]


def test_starts_are_counted_by_local_day_with_zeros() -> None:
    told = [incident("i", "n1", 1, 1), incident("j", "n1", 2, 1), incident("k", "n1", 50, 1)]
    with fleet_of(incidents=told) as con:
        rows = incidents.starts(con, days(1, 4), "day").rows()
        weeks = incidents.starts(con, days(1, 4), "week").rows()
    assert rows == [(date(2026, 3, 1), 2), (date(2026, 3, 2), 0), (date(2026, 3, 3), 1)]
    assert weeks == [(date(2026, 2, 23), 2), (date(2026, 3, 2), 1)]


def test_clustered_days_widen_the_interval_and_even_ones_do_not() -> None:
    bunch = [incident(f"i{place}", "n1", 100 + place / 60, 0.001) for place in range(20)]
    even = [incident(f"e{place}", "n1", 12 * place, 0.001) for place in range(20)]
    with fleet_of(incidents=bunch) as con:
        clustered, plain = incidents.rate(con, days(1, 11)), incidents.rate(con, days(1, 11), is_widened=False)
        assert incidents.dispersion(con, days(1, 11)).index.n == 10
    with fleet_of(incidents=even) as con:
        assert incidents.dispersion(con, days(1, 11)).widening == 1
        assert incidents.rate(con, days(1, 11)).method == "rate, Garwood interval"
    assert "widened by dispersion 20.00" in clustered.method
    assert plain.method == "rate, Garwood interval"


def test_the_change_against_the_window_before_is_tested_exactly() -> None:
    told = [incident(f"i{place}", "n1", 24 + place, 0.1) for place in range(12)] + [incident("j", "n1", 1, 1)]
    with fleet_of([session("s", "n[1-4]", 0, 200)], told) as con:
        (p,) = incidents.changes(con, days(2, 3)).values()
    assert p == pytest.approx(2 * 14 / 2**13)  # 12 of 13 in one of two equal windows


def test_gaps_end_with_the_export_and_equal_starts_are_one() -> None:
    told = [
        incident("a", "n1", 10, 1),
        incident("b", "n1", 10, 2),
        incident("c", "n1", 40, 1),
        incident("d", "n2", 0, 1),
    ]
    with fleet_of(incidents=told) as con:
        arrivals = incidents.arrivals(con, days(1, 21))
    assert arrivals.gaps.durations.tolist() == [30.0, 200.0, 240.0]
    assert arrivals.gaps.is_ended.tolist() == [True, False, False]
    assert arrivals.gaps.merged == 1
    assert arrivals.fit.shape.reason == "a Weibull fit needs at least two ended gaps that differ"


def test_incidents_outside_the_inventory_are_counted_apart() -> None:
    told = [incident("i", "n1", 1, 1), incident("j", "stranger", 2, 1)]
    with fleet_of(incidents=told, cluster={"nodes": ["n[1-2]"]}) as con:
        assert incidents.strangers(con, days(1, 2)) == 1
        beside = incidents.beside(con, days(1, 2), incidents.hours_by_node(con, days(1, 2)).select("node"))
    assert beside.rows() == [("n1", 1, 1.0), ("n2", 0, 0.0)]
