"""A role over a window: the band, the nodes that leave it, coverage, layers; and who used what they held."""

from collections.abc import Iterator
from dataclasses import replace

import duckdb
import numpy as np
import pytest

from gangline import telemetry
from gangline.config import Config
from gangline.courses import MOST_STEPS, Course, course
from gangline.holder_use import NO_USE, holder_use
from gangline.report.opening import export_window
from gangline.roles import RoleError
from gangline.warehouse import connect
from gangline.windows import Window
from tests import telemetries
from tests.telemetries import MINUTES, minute

DAY = Window.between("2026-03-01", "2026-03-02", "UTC")


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Config:
    return telemetries.cluster(tmp_path_factory.mktemp("lyra"), telemetries.usual_lines())


@pytest.fixture
def con(config: Config) -> Iterator[duckdb.DuckDBPyConnection]:
    with connect(config) as opened:
        yield opened


@pytest.fixture
def use(con: duckdb.DuckDBPyConnection, config: Config) -> Course:
    found = course(con, config, DAY, "gpu_util")
    assert found is not None
    return found


def test_a_level_is_the_mean_over_a_nodes_gpus_and_spans_what_has_samples(use: Course) -> None:
    assert (use.title, str(use.role), use.step.total_seconds()) == ("gpu_util (ratio)", "DCGM_FI_DEV_GPU_UTIL", 60.0)
    assert (use.window.start, use.window.end) == (minute(0), minute(MINUTES))
    assert use.nodes == ("n1", "n2", "n3", "n4")
    rows = dict(telemetry.lines(use, ["n4"]).select("at", "value").iter_rows())
    assert [rows[minute(at)] for at in (29, 30, 89, 90)] == pytest.approx([0, 0.6, 0.6, 0])


def test_a_counter_is_what_it_counted_per_second(con: duckdb.DuckDBPyConnection, config: Config) -> None:
    written = course(con, config, DAY, "storage_write_bytes")
    assert written is not None
    assert written.title == "storage_write_bytes (bytes/s)"
    assert written.values[1:5].tolist() == [pytest.approx([1e6, 2e6, 3e6, 4e6])] * 4


def test_the_band_counts_the_nodes_that_have_a_value(use: Course) -> None:
    band = telemetry.band(use)
    assert band.row(45) == (minute(45), *map(pytest.approx, (0.515, 0.75, 0.9)), 4)
    assert band["nodes"].to_list() == [4] * 90 + [3] * 30


def test_lines_and_the_band_break_in_gaps_but_not_at_one_late_scrape(use: Course) -> None:
    values = np.array([[1.0, 2, 1, 1, 1, np.nan, np.nan], [np.nan, 2, np.nan, np.nan, 1, np.nan, np.nan]]).T
    gaping = replace(use, values=values, nodes=("a", "b"))
    of_b = telemetry.lines(gaping, ["b"]).rows()
    assert of_b == [
        ("b", minute(at), value) for at, value in ((1, 2), (2, None), (3, None), (4, 1), (5, None), (6, None))
    ]
    assert telemetry.cells(gaping)["node"].to_list() == ["a"] * 5 + ["b"] * 2
    assert telemetry.band(gaping).select("median", "nodes").rows()[3:] == [(1, 1), (1, 2), (None, 0), (None, 0)]
    whole = replace(use, values=values[:1], nodes=("a", "b"))
    assert (telemetry.band(whole).height, telemetry.lines(whole, ["b"]).height, telemetry.lines(whole, []).height) == (
        1,
        0,
        0,
    )


def test_the_furthest_nodes_are_drawn_unless_others_are_asked_for(use: Course) -> None:
    assert telemetry.furthest(use)["node"].to_list()[0] in ("n3", "n4")
    assert len(telemetry.chosen(use)) == 3
    assert telemetry.chosen(use, "n[1-2]") == ["n1", "n2"]
    assert telemetry.shown_node(use, ["n3"]) == "n3"
    assert telemetry.shown_node(use, ["n3"], "n2") == "n2"


@pytest.mark.parametrize(
    ("apart", "said"), [(0, "all nodes go alike"), (0.0125, "0.0125"), (2e9, "c, by 2,000,000,000 in")]
)
def test_the_distance_of_the_furthest_is_written_out(use: Course, apart: float, said: str) -> None:
    nodes = replace(use, values=np.array([[0.0, 0, apart]]), nodes=("a", "b", "c"))
    assert said in telemetry.apart(nodes)


@pytest.mark.parametrize(("nodes", "said"), [("n9", "n9 has no samples of gpu_util"), ("n[1-", "parameter nodes")])
def test_nodes_that_are_not_there_are_an_error(use: Course, nodes: str, said: str) -> None:
    with pytest.raises(telemetry.TelemetryError, match=said):
        telemetry.chosen(use, nodes)


def test_coverage_counts_steps_with_a_sample_least_first(use: Course) -> None:
    assert telemetry.coverage(use).select("node", "known_steps", "coverage_ratio").rows() == [
        ("n3", 90, 0.75), ("n1", 120, 1.0), ("n2", 120, 1.0), ("n4", 120, 1.0)
    ]  # fmt: skip


def test_long_windows_go_by_longer_steps_of_means(
    con: duckdb.DuckDBPyConnection, config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gangline.courses.MOST_STEPS", 12)
    use = course(con, config, DAY, "gpu_util")
    assert use is not None
    assert (use.step.total_seconds(), use.values.shape) == (600, (12, 4))
    assert use.values[:, 3].tolist() == pytest.approx([0] * 3 + [0.6] * 6 + [0] * 3)
    assert MOST_STEPS >= MINUTES


def test_layers_are_those_that_the_node_has_samples_of(con: duckdb.DuckDBPyConnection, config: Config) -> None:
    layers = telemetry.layers(con, config, DAY, "n2")
    assert layers["layer"].unique(maintain_order=True).to_list() == ["gpu_util (ratio)", "nfs_write_bytes (bytes/s)"]
    assert telemetry.layers(con, config, DAY, "n9").is_empty()


def test_sources_say_what_plays_a_role(con: duckdb.DuckDBPyConnection, config: Config) -> None:
    rows = telemetry.sources(con, config).select("role", "exporter", "nodes", "series", "step_s").rows()
    assert ("gpu_util", "dcgm-exporter", 4, 8, 60.0) in rows
    assert {role for role, *_ in rows} == {"gpu_util", "nfs_sent_bytes", "nfs_write_bytes", "storage_write_bytes"}


def test_what_cannot_be_shown_is_told_apart(con: duckdb.DuckDBPyConnection, config: Config) -> None:
    assert course(con, config, DAY, "gpu_temp") is None
    assert course(con, config, Window.between("2026-04-01", "2026-04-02", "UTC"), "gpu_util") is None
    assert telemetry.case(con, None) == "no_role"
    with pytest.raises(RoleError, match="did you mean gpu_util"):
        course(con, config, DAY, "gpu_utl")


def test_use_of_who_held_a_left_out_node(con: duckdb.DuckDBPyConnection, config: Config) -> None:
    use = holder_use(con, config, export_window(con, "UTC"))
    assert use.rows.rows() == [("n4", "bo", "probe", pytest.approx(0.6), pytest.approx(1.0))]
    assert use.overall.value == pytest.approx(0.6)
    assert use.overall.method == "mean over 1.0 held node-hours with samples"


def test_without_telemetry_use_is_null_with_its_reason(tmp_path_factory: pytest.TempPathFactory) -> None:
    bare = telemetries.cluster(tmp_path_factory.mktemp("bare"), [])
    with connect(bare) as con:
        use = holder_use(con, bare, DAY)
        assert telemetry.case(con, course(con, bare, DAY, "gpu_util")) == "no_telemetry"
        assert telemetry.sources(con, bare).is_empty()
    assert (use.rows.height, use.overall.value, use.overall.reason) == (0, None, NO_USE)
