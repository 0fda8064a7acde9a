"""Figures of requests inside saves and loads: the story's own numbers, the CHECK values, and every reason for none."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import duckdb
import polars as pl
import pytest

from gangline import load_starts, nfs, nfs_requests, node_bytes, save_epochs
from gangline.config import Config
from gangline.report.catalogue import CATALOGUE
from gangline.warehouse import connect
from gangline.warehouse.opening import path_of
from gangline.windows import Window
from tests import mountstats
from tests.mountstats import MB

WINDOW = Window.between("2026-03-01", "2026-03-03", "UTC")


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Config:
    return mountstats.ingested(tmp_path_factory.mktemp("norma"), mountstats.story().lines)


@pytest.fixture
def con(config: Config) -> Iterator[duckdb.DuckDBPyConnection]:
    with connect(config) as opened:
        yield opened


def test_the_figures_are_those_of_the_story(con: duckdb.DuckDBPyConnection) -> None:
    figures = nfs.figures(con, WINDOW)
    assert set(figures) <= set(CATALOGUE)
    value = {name.removeprefix("nfs."): figure.value for name, figure in figures.items()}
    assert value["write_request_s"] == pytest.approx(2.026)
    assert value["write_queue_share"] == pytest.approx(1.89 / 2.026)
    assert value["write_response_ms"] == pytest.approx(136)
    assert value["write_kb"] == pytest.approx(1000)
    assert (value["write_queue_p95_ms"], value["write_response_p95_ms"]) == (pytest.approx(1890), pytest.approx(136))
    assert value["read_request_ms"] == pytest.approx(78.2)
    assert round(value["read_queue_share"] or 0, 3) == 0.693
    assert value["read_kb"] == pytest.approx(500)
    assert (value["saves_measured"], value["saves_50_writers_share"]) == (2, 0)
    assert (figures["nfs.write_request_s"].n, figures["nfs.read_request_ms"].n) == (2, 1)
    hidden = 0.6 / 2  # of n3 in one of two saves: what it wrote in the half minute before its counters began anew
    assert value["handed_gb_per_save"] == pytest.approx(7.2 - hidden)
    assert value["handed_gb_per_node"] == pytest.approx((7.2 - hidden) / 3)
    assert value["sent_over_handed"] == pytest.approx(1.0)
    assert nfs.case(figures) == "both"
    assert nfs.where(figures["nfs.write_queue_share"]) == "most of it before it leaves the node"
    assert nfs.where(figures["nfs.metadata_share"]) == "most of it until the storage answers"


def test_in_flight_is_rate_times_answer(con: duckdb.DuckDBPyConnection) -> None:
    figures = nfs.figures(con, WINDOW)
    saves = nfs_requests.by_checkpoint(con, WINDOW).filter(pl.col("phase") == "save")
    per_s, answer_s = saves["requests"].sum() / saves["node_s"].sum(), saves["response_ms"].mean()
    assert isinstance(answer_s, float)
    expected = nfs_requests.in_flight(per_s, answer_s / 1000)
    assert figures["nfs.write_in_flight"].value == pytest.approx(expected)


def test_the_check_values_of_requests_in_flight() -> None:
    """READ 150.8 GB/s over 60 nodes, 440 KB, 24.0 ms: 137; WRITE 40.1 GB/s, 1,021 KB, 136 ms: 89."""
    assert round(nfs_requests.in_flight(150.8e9 / 60 / 440e3, 0.0240)) == 137
    assert round(nfs_requests.in_flight(40.1e9 / 60 / 1021e3, 0.136)) == 89


def test_operations_have_shares_and_parts(con: duckdb.DuckDBPyConnection) -> None:
    rows = nfs_requests.by_operation(con, WINDOW)
    write = rows.filter((pl.col("phase") == "save") & (pl.col("operation") == "WRITE")).row(0, named=True)
    assert (write["queue_ms"], write["response_ms"]) == (pytest.approx(1890), pytest.approx(136))
    assert write["rest_ms"] == pytest.approx(0, abs=1e-6)
    assert rows.group_by("phase").agg(pl.col("share_ratio").sum())["share_ratio"].to_list() == [pytest.approx(1)] * 2
    shown = nfs_requests.weighty(rows).select("phase", "operation").rows()
    assert shown == [("save", "WRITE"), ("save", "COMMIT"), ("save", "GETATTR"), ("load", "READ"), ("load", "GETATTR")]


def test_operations_of_few_requests_are_flagged(con: duckdb.DuckDBPyConnection) -> None:
    """Three nodes: 60 WRITE and 120 READ a second are many, 1.2 GETATTR and 0.6 COMMIT under the 10 of bugs E11."""
    rows = nfs_requests.by_operation(con, WINDOW)
    assert set(rows.filter("is_few").select("phase", "operation").rows()) == {
        ("save", "COMMIT"), ("save", "GETATTR"), ("load", "GETATTR")
    }  # fmt: skip


def test_a_window_holds_what_begins_in_it(con: duckdb.DuckDBPyConnection) -> None:
    later = Window.between("2026-03-02", "2026-03-03", "UTC")
    assert nfs.figures(con, later)["nfs.write_request_s"].reason == "no save begins in the window"
    assert nfs.case(nfs.figures(con, later)) == "none"


def test_nodes_write_what_they_stage(con: duckdb.DuckDBPyConnection) -> None:
    nodes = node_bytes.by_node(con, WINDOW)
    assert nodes.select("node", "saves", "shared_memory_gb", "buffer_gb").rows() == [
        ("n1", 2, 48.0, 47.0), ("n2", 2, 48.0, 47.0), ("n3", 2, 9.0, 8.0)
    ]  # fmt: skip
    assert nodes["sent_gb"].to_list() == [pytest.approx(2.4), pytest.approx(2.4), pytest.approx(2.1)]
    groups = node_bytes.staging_groups(nodes)
    assert groups.select("group", "nodes", "example").rows() == [(1, 2, "n1"), (2, 1, "n3")]


def test_groups_part_where_one_holds_half_as_much_again() -> None:
    held = [50.0, 47.0, 48.0, 9.0, 9.5, 8.0, 0.0, None]
    nodes = pl.DataFrame({"node": [f"n{place}" for place in range(8)], "shared_memory_gb": held}).with_columns(
        buffer_gb=pl.col("shared_memory_gb"), sent_gb=pl.lit(1.0)
    )
    assert node_bytes.staging_groups(nodes).select("nodes", "shared_memory_gb").rows() == [(3, 48.0), (3, 9.0)]
    assert node_bytes.staging_groups(nodes.clear()).is_empty()


def test_layers_peak_in_order(con: duckdb.DuckDBPyConnection) -> None:
    peaks = save_epochs.peaks(con, WINDOW).filter(pl.col("role").is_in(["shm_used", "dirty", "write_back"]))
    assert dict(peaks.select("role", "saves").iter_rows()) == {"shm_used": 2, "dirty": 2, "write_back": 2}
    assert save_epochs.order_of_peaks(peaks) == "shared memory, then dirty pages, then pages being written"
    dirty = save_epochs.saves(con, WINDOW).filter(pl.col("role") == "dirty")
    assert dict(dirty.select("lag_s", "median").iter_rows())[60.0] == 4e9
    assert set(dirty["count"]) == {2}


def test_starts_are_laid_over_the_sessions_start(con: duckdb.DuckDBPyConnection) -> None:
    cache = save_epochs.starts(con, WINDOW).filter(pl.col("role") == "page_cache")
    at = dict(cache.select("lag_s", "median").iter_rows())
    assert (at[60.0], at[720.0]) == (1e9, 2.6e9)
    assert save_epochs.named(cache)["layer"].unique().to_list() == ["Page cache"]


def test_a_load_against_what_memory_keeps(con: duckdb.DuckDBPyConnection) -> None:
    load = load_starts.loads(con, WINDOW).row(0, named=True)
    assert (load["load_min"], load["read_kb"], load["cache_gb"]) == (8.0, pytest.approx(500), pytest.approx(1.6))
    assert load["received_gb"] == pytest.approx(9.6)
    assert load["reread_times"] == pytest.approx(6.0)
    assert load["tail_share"] == pytest.approx(0.1, abs=0.001)
    curve = load_starts.curves(con, WINDOW)
    assert curve.row(0) == ("load:g", 0.0, 0.0)
    assert curve["share_ratio"][-1] == pytest.approx(1)
    assert load_starts.smallest_reads(load_starts.loads(con, WINDOW)).is_empty()


def test_what_read_hands_out_beyond_the_network_is_reuse() -> None:
    loads = pl.DataFrame({"handed": [10 * MB, 10 * MB], "moved": [4 * MB, 12 * MB]})
    assert node_bytes.reuse(loads, "none").value == pytest.approx(0.3)
    assert node_bytes.reuse(loads.clear(), "no load").reason == "no load"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("delete from marts.checkpoint_saves", "no save begins in the window"),
        ("delete from marts.checkpoint_requests", "no NFS request counters are exported"),
        (
            "delete from marts.checkpoint_requests; update marts.checkpoint_rules set write_metric = 'gpfs_x'",
            "storage is told by gpfs_x, which does not count requests",
        ),
        (
            "delete from marts.checkpoint_saves; update marts.checkpoint_rules set save_reason = 'no threshold is set'",
            "no threshold is set",
        ),
        (
            "update marts.checkpoint_requests set is_covered = false where node = 'n3'",
            "no save has samples of NFS requests throughout on nine tenths of its nodes",
        ),
        ("update marts.checkpoint_requests set queue_s = null", "the time that requests wait is not exported"),
        ("delete from marts.checkpoint_nodes", "the bytes of write() and read() are not exported"),
        ("update marts.checkpoint_saves set writer_nodes = null", "writers are not told"),
    ],
)
def test_every_reason_for_none_is_said(change: str, said: str, config: Config, tmp_path: Path) -> None:
    changed = Path(shutil.copy(path_of(config), tmp_path))
    with duckdb.connect(changed) as con:
        con.execute(f"set TimeZone = 'UTC'; {change}")
        figures = nfs.figures(con, WINDOW).values()
    assert any(said in (figure.reason or "") for figure in figures)
    assert all(figure.reason or figure.value is not None for figure in figures)
