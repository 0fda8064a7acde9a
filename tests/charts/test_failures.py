"""Pictures of failures: every one renders, with what its caption says, from rows of a real cluster."""

from collections.abc import Iterator

import duckdb
import polars as pl
import pytest

from gangline import exposures, failures, lemon_nodes, row_remaps, taxonomies
from gangline.charts import failures as charts
from gangline.charts.picture import svg
from gangline.warehouse import connect
from tests import failing


@pytest.fixture(scope="module")
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    with connect(failing.lepus()) as opened:
        yield opened


def test_incidents_by_node_and_class(con: duckdb.DuckDBPyConnection) -> None:
    drawn = svg(charts.calendar(failures.rows(con, failing.window()), failing.window()))
    assert all(name in drawn for name in ("n02", "n03", "application", "bus", "no end", "a session ended"))


def test_kinds_beside_the_published_ones(con: duckdb.DuckDBPyConnection) -> None:
    caused = taxonomies.ends(con, exposures.exposure(con, failing.window()))
    drawn = svg(charts.kinds(taxonomies.beside(con, caused)))
    assert all(name in drawn for name in ("host hardware, ECC included", "not attributed", charts.THEIRS))
    assert charts.THEIRS in svg(charts.kinds(taxonomies.beside(con, caused.clear())))


def test_nodes_beside_chance(con: duckdb.DuckDBPyConnection) -> None:
    spread = lemon_nodes.spread(lemon_nodes.lemons(con, failing.window()))
    drawn = svg(charts.chance(spread))
    assert charts.SEEN in drawn
    assert charts.CHANCE in drawn


def test_remapped_rows_name_their_gpus(con: duckdb.DuckDBPyConnection) -> None:
    found = row_remaps.remaps(con, failing.lepus(), failing.window())
    drawn = svg(charts.remaps(found.points, failing.window()))
    assert all(name in drawn for name in ("n04 GPU 0", "n05 GPU 0", "Rows after uncorrectable errors"))
    nameless = found.points.with_columns(gpu_index=pl.lit(None, pl.Int32), gpu_uuid=pl.lit("GPU-0123456789ab"))
    assert "n04 GPU 456789ab" in svg(charts.remaps(nameless, failing.window()))
