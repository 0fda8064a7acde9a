"""Failures of a cluster with logs and of one without: counts, both rates, kinds, audits, each against sums by hand."""

from collections.abc import Iterator

import duckdb
import numpy as np
import polars as pl
import pytest

from gangline import action_audits, exposures, failure_rates, failures, taxonomies
from gangline.estimates.rates import poisson_bounds
from gangline.warehouse import connect
from gangline.windows import Window
from tests import failing, fleets


@pytest.fixture(scope="module")
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    with connect(failing.lepus()) as opened:
        yield opened


def test_counts_and_rates_of_both_kinds(con: duckdb.DuckDBPyConnection) -> None:
    figures = failures.figures(con, failing.window())
    assert failures.case(con, figures) == "found"
    assert figures["failures.xid_events"].value == 2
    assert figures["failures.xid_events"].method == "count"
    assert figures["failures.incidents"].value == 2
    jobs, nodes = figures["failures.job_per_1000_node_days"], figures["failures.node_per_1000_node_days"]
    assert jobs.value == pytest.approx(1000 / (9 / 24))  # one end in one hour of nine nodes
    assert nodes.value == pytest.approx(2 * 1000 / (3 * 2 / 24), rel=1e-6)  # three nodes have a log, for two hours
    low, high = poisson_bounds(2)
    assert [nodes.low, nodes.high] == pytest.approx([low * 4000, high * 4000], rel=1e-6)


def test_kinds_of_rates_stand_apart(con: duckdb.DuckDBPyConnection) -> None:
    rows = failure_rates.table(con, failing.window(), exposures.exposure(con, failing.window()))
    assert rows.select("what", "events").rows() == [
        ("job interruptions", 1),
        ("job interruptions, failures only", 1),
        ("job interruptions of all gangs", 1),
        ("node incidents", 2),
    ]
    assert rows["node_days"].to_list() == pytest.approx([9 / 24, 9 / 24, 16.5 / 24, 6 / 24], rel=1e-6)


def test_a_node_without_a_log_is_not_watched(con: duckdb.DuckDBPyConnection) -> None:
    watched = failure_rates.watch(con, failing.window())
    assert watched.filter(pl.col("watched_h") > 0)["node"].to_list() == ["n01", "n02", "n03"]
    assert watched.filter("has_gauge").is_empty()


def test_crowded_ends_widen_the_interval() -> None:
    ends = np.array([24.0] * 20)
    assert failure_rates._binned(ends, 24.0, 10).tolist() == [20] + [0] * 9
    assert failure_rates._binned(np.array([0.0, 24.5, 240.1]), 24.0, 10).tolist() == [0, 1] + [0] * 8
    crowded = failure_rates.Rate("ends", 20, 240.0, failure_rates._binned(ends, 24.0, 10))
    assert crowded.dispersion.widening == pytest.approx(20.0)
    assert "widened by dispersion 20.00" in crowded.widened.method
    assert crowded.widened.value == crowded.plain.value


def test_the_end_is_put_down_to_the_incident_near_it(con: duckdb.DuckDBPyConnection) -> None:
    caused = taxonomies.ends(con, exposures.exposure(con, failing.window()))
    assert caused.select("session_id", "node", "evidence", "cause", "kind", "reason").rows() == [
        ("g1", "n02", "incident", "xid_79", "host_hardware", None)
    ]
    shares = taxonomies.shares(caused)
    assert str(shares["failures.share.host_hardware"]) == "1 of 1, 100.0 % (20.7 to 100.0)"
    assert shares["failures.share.not_attributed"].value == 0
    beside = taxonomies.beside(con, caused)
    assert beside.select("kind", "ends", "attributed_share", "published_share").rows() == [
        ("host hardware, ECC included", 1, 1.0, 0.558),
        ("of it ECC", 0, 0.0, 0.389),
        ("host software", 0, 0.0, 0.28),
        ("network", 0, 0.0, 0.06),
        ("other", 0, 0.0, 0.103),
        ("not attributed", 0, None, None),
    ]
    classes = taxonomies.by_class(failures.rows(con, failing.window()))
    assert classes.rows() == [("application", 1, 0.5, 1, 1, 0, "xid_31"), ("bus", 1, 0.5, 1, 1, 1, "xid_79")]


def test_hardware_holds_ecc_and_the_rest_is_said() -> None:
    caused = pl.DataFrame({"kind": ["ecc", "host_hardware", "not_attributed", "not_attributed"]})
    shares = taxonomies.shares(caused)
    found = {name.removeprefix("failures.share."): share.numerator for name, share in shares.items()}
    assert found == {
        "host_hardware": 2, "ecc": 1, "host_software": 0, "network": 0, "other": 0, "not_attributed": 2
    }  # fmt: skip
    assert taxonomies.shares(caused.clear())["failures.share.other"].reason == taxonomies.NO_ENDS


def test_output_that_tells_nothing_is_counted(con: duckdb.DuckDBPyConnection) -> None:
    signed = taxonomies.signatures(con, failing.window())
    assert signed.rows() == [("not attributed", None, "no console output", 2, 1.0)]
    assert str(taxonomies.unsigned(signed)) == "2 of 2, 100.0 % (34.2 to 100.0)"
    assert taxonomies.unsigned(signed.clear()).value is None


def test_what_was_called_for_and_done(con: duckdb.DuckDBPyConnection) -> None:
    audited = action_audits.rows(con, failing.window())
    assert audited.select("node", "called_for", "action_taken", "reason").rows() == [
        ("n02", "stop, isolate the node, call somebody", "taken", "the next attempt ran without the node"),
        ("n03", "retry on the node", "taken", "the session on the node went on"),
    ]
    assert action_audits.summary(audited).rows() == [
        ("retry on the node", 1, 1, 0, 0),
        ("stop, isolate the node, call somebody", 1, 1, 0, 0),
    ]
    assert str(action_audits.taken_share(audited)) == "2 of 2, 100.0 % (34.2 to 100.0)"
    assert action_audits.taken_share(audited.clear()).value is None


def test_without_logs_every_count_is_null_with_its_reason() -> None:
    with connect(fleets.sample()) as con:
        figures = failures.figures(con, failing.window())
        assert failures.case(con, figures) == "no_source"
        assert failures.changes(con, failing.window()) == {}
    names = ("xid_events", "incidents", "node_per_1000_node_days")
    assert {figures[f"failures.{name}"].reason for name in names} == {failures.NO_SOURCE}


def test_a_change_of_rates_is_tested_exactly(con: duckdb.DuckDBPyConnection) -> None:
    late = Window.between("2026-03-01T01:00", "2026-03-01T02:00", "UTC")
    changed = failures.changes(con, late)
    assert changed["failures.node_per_1000_node_days"] == pytest.approx(0.5)  # none and two in equal hours
