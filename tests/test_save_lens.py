"""A save under the lens: which one is chosen, what each layer shows, what is said where there is nothing to see."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import duckdb
import polars as pl
import pytest

from gangline import cadences, save_lens, warehouse
from gangline.config import Config
from gangline.windows import Window
from tests import saving

START = datetime(2026, 3, 1, tzinfo=UTC)
WHOLE = Window.between("2026-03-01", "2026-03-02", "UTC")


@pytest.fixture(scope="module")
def norma(tmp_path_factory: pytest.TempPathFactory) -> Config:
    return saving.cluster(tmp_path_factory.mktemp("norma"), saving.lines())


@pytest.fixture(scope="module")
def con(norma: Config) -> Iterator[duckdb.DuckDBPyConnection]:
    opened = warehouse.connect(norma)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def saves(con: duckdb.DuckDBPyConnection) -> pl.DataFrame:
    return cadences.saves(con, WHOLE)


def test_the_telemetry_holds_the_saves_that_were_made(saves: pl.DataFrame) -> None:
    assert saves["started_at"].to_list() == [START + timedelta(minutes=minute) for minute in saving.SAVES]
    assert saves["interval_h"].to_list() == [None, 0.25, 0.25, None, 0.25, 0.25]
    assert saves["write_share"].to_list() == pytest.approx([3 / 8] * 6)


def test_layers_show_the_session_at_the_scrape_step(
    con: duckdb.DuckDBPyConnection, norma: Config, saves: pl.DataFrame
) -> None:
    chosen = save_lens.chosen(saves, "save:g1:2")
    assert chosen is not None
    lens = save_lens.lens(con, norma, chosen, "UTC")
    assert (lens.window.start, lens.window.end) == (START + timedelta(minutes=30), START + timedelta(minutes=41))
    assert lens.rows["layer"].unique(maintain_order=True).to_list() == [
        "Written (GB/s, all nodes)",
        "Read (GB/s, all nodes)",
        "GPU use (%, median node)",
        "Writers (nodes above 10 MB/s)",
        "Dirty pages (GB, all nodes)",
    ]
    in_save = lens.rows.filter(pl.col("at") == START + timedelta(minutes=35))["value"].to_list()
    assert in_save == pytest.approx([3, 0, 40, 3, 3])
    after = lens.rows.filter(pl.col("at") == START + timedelta(minutes=36))["value"].to_list()
    assert after == pytest.approx([0, 0, 90, 0, 9])
    assert lens.phases["phase"].to_list() == ["training", "save", "training"]
    assert (lens.phases["from"][0], lens.phases["to"][-1]) == (lens.window.start, lens.window.end)


def test_without_a_choice_it_is_one_of_median_length(saves: pl.DataFrame) -> None:
    lengths = saves.with_columns(duration_s=pl.Series([10.0, 90.0, 40.0, 60.0, None, 20.0]))
    chosen = save_lens.chosen(lengths, "")
    assert chosen is not None
    assert chosen["duration_s"] == 40
    assert save_lens.chosen(saves.clear(), "") is None


def test_a_save_that_is_not_there_is_one_clear_line(saves: pl.DataFrame) -> None:
    with pytest.raises(save_lens.SaveError, match="no save 'save:g1:9' starts in the window; the nearest is 'save:g1:"):
        save_lens.chosen(saves, "save:g1:9")
    with pytest.raises(save_lens.SaveError, match="no save of the window is seen in the telemetry"):
        save_lens.chosen(saves.clear(), "x")
    logged = saves.with_columns(telemetry_started_at=pl.lit(None, pl.Datetime("us", "UTC")))
    with pytest.raises(save_lens.SaveError, match="told by its run alone"):
        save_lens.chosen(logged, "save:g1:1")


def test_a_layer_that_nothing_tells_is_left_out(
    con: duckdb.DuckDBPyConnection, norma: Config, saves: pl.DataFrame
) -> None:
    chosen = save_lens.chosen(saves, "save:g1:1")
    assert chosen is not None
    elsewhere = chosen | {
        "telemetry_started_at": START + timedelta(days=3),
        "telemetry_ended_at": START + timedelta(days=3, minutes=1),
    }
    lens = save_lens.lens(con, norma, elsewhere, "UTC")
    assert lens.rows.is_empty()
    assert lens.phases.is_empty()
