"""Heat maps: the right cell in the right colour, grey for no data, small however many cells."""

import base64
import io
from datetime import UTC, datetime, timedelta

import numpy as np
import polars as pl
from PIL import Image

from gangline.charts import heat, picture, theme

START = datetime(2025, 10, 6, tzinfo=UTC)
STEP = timedelta(hours=6)


def grid(names: list[str], rows: list[tuple[str, datetime, float | None]], steps: int = 4) -> heat.Grid:
    schema = {"name": pl.String, "at": pl.Datetime("us", "UTC"), "value": pl.Float64}
    cells = pl.DataFrame(rows, schema=schema, orient="row")
    return heat.Grid(cells, names, START, START + steps * STEP, STEP)


def pixels(uri: str) -> Image.Image:
    return Image.open(io.BytesIO(base64.b64decode(uri.partition(",")[2]))).convert("RGB")


def test_values_stand_in_their_row_and_step() -> None:
    rows = [
        ("b", START, 1.0),
        ("a", START + 3 * STEP, 2.0),
        ("a", START + 4 * STEP, 9.0),
        ("c", START, 9.0),
        ("a", START, None),
    ]
    expected = [[np.nan, np.nan, np.nan, 2.0], [1.0, np.nan, np.nan, np.nan]]
    np.testing.assert_array_equal(grid(["a", "b"], rows).matrix(), np.array(expected))


def test_a_part_of_a_step_is_a_column() -> None:
    short = heat.Grid(pl.DataFrame(), ["a"], START, START + STEP * 1.5, STEP)
    assert short.columns == 2


def test_colours_run_from_low_to_high_and_grey_is_no_data() -> None:
    image = pixels(heat.image_uri(np.array([[0.0, 100.0, np.nan, 250.0]]), 0, 100))
    size = heat.PIXELS_PER_CELL
    assert image.size == (4 * size, size)
    shown = [image.getpixel((column * size + 1, 1)) for column in range(4)]
    assert shown == [(0x44, 0x01, 0x54), (0xFD, 0xE7, 0x25), (0xB8, 0xBF, 0xCA), (0xFD, 0xE7, 0x25)]


def test_one_value_everywhere_is_no_error() -> None:
    assert heat.image_uri(np.zeros((2, 2)), 0, 0).startswith("data:image/png;base64,")


def test_a_map_of_5292_cells_is_small_and_names_every_row() -> None:
    names = [f"gpu{number:03d}" for number in range(62, 125)]
    rows = [(name, START + step * STEP, float(step)) for name in names for step in range(84)]
    chart = heat.heat_map(grid(names, rows, 84), "GPU use (%)", 0, 100)
    drawn = picture.svg(chart)
    assert len(drawn) < 50_000
    assert 'opacity="0"' not in drawn
    assert all(f">{name}<" in drawn for name in names)
    assert ">GPU use (%)<" in drawn
    assert len(picture.compact(chart)) < 60_000


def test_fewer_cells_keep_their_tooltips_for_the_live_chart() -> None:
    chart = heat.heat_map(grid(["a"], [("a", START, 5.0)]), "Load", 0, 10)
    assert b'"when":"2025-10-06 00:00 UTC"' in picture.compact(chart)


def test_no_cells_are_still_a_map() -> None:
    assert ">a<" in picture.svg(heat.heat_map(grid(["a"], []), "Load", 0, 10))


def test_colours_are_those_of_okabe_and_ito() -> None:
    assert theme.SERIES[:6] == ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
