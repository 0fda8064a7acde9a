"""Tables: headings with units, aligned numbers, harmless and legible cells."""

from datetime import UTC, datetime

import polars as pl
import pytest
from markupsafe import Markup

from gangline.report import tables
from tests.report.making import HOSTILE

ROWS = pl.DataFrame(
    {
        "node": ["gpu001", "gpu002"],
        "excluded_ratio": [0.5312, None],
        "excluded_h": [12.34, 1294.0],
        "started_at": [datetime(2025, 9, 1, 12, tzinfo=UTC), None],
        "sessions": [1234, 0],
        "is_gang": [True, False],
    }
)


def test_headings_carry_the_unit_and_cells_the_number() -> None:
    written = tables.table(ROWS, Markup("Nodes"), "Nodes", {})
    for head in ("Node", "Excluded (%)", "Excluded (h)", "Started (UTC)", "Sessions"):
        assert f">{head}</th>" in written
    assert '<th scope="row">gpu001</th>' in written
    assert '<td class="number">53.1</td>' in written
    assert '<td class="number">1,294</td>' in written
    assert '<td class="whole">2025-09-01 12:00</td>' in written
    assert '<td class="number">–</td>' in written
    assert "<td>yes</td>" in written
    assert written.count("<caption>") == 1


def test_headings_may_be_given() -> None:
    assert ">Left out</th>" in tables.table(ROWS, Markup("x"), "x", {"excluded_h": "Left out"})


@pytest.mark.parametrize("name", HOSTILE)
def test_names_are_harmless_and_one_line(name: str) -> None:
    written = tables.table(pl.DataFrame({name: [name], "other": [name]}), Markup("x"), "x", {})
    assert written.count("<") == written.count("</") * 2
    assert "<script" not in written
    assert "\n" not in written


def test_long_names_are_cut_with_the_whole_in_the_title() -> None:
    written = tables.table(pl.DataFrame({"node": ["x" * 100]}), Markup("x"), "x", {})
    assert f'title="{"x" * 100}">{"x" * 43}…</th>' in written


def test_rows_above_the_cap_are_counted() -> None:
    frame = pl.DataFrame({"n": range(120)})
    assert tables.table(frame, Markup("x"), "x", {}, 30).count("<tr>") == 31
    assert "90 more in the CSV" in tables.foot(frame, 30, Markup(""))
