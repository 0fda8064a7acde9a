"""An analysis measured for a page: both windows, the catalogue's words, the cards that were asked for."""

from datetime import date, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pytest

from gangline.config import Config
from gangline.estimates import Estimate
from gangline.report import catalogue, opening, outputs
from gangline.report.page import Page
from gangline.windows import Window

COUNT, RATE = "incidents.count", "incidents.per_1000_node_days"


def analysis(con: duckdb.DuckDBPyConnection, window: Window) -> dict[str, Estimate]:
    """A count that is the window's first day, and a rate."""
    day = window.local_start.day
    return {COUNT: Estimate(float(day), "incidents", day), RATE: Estimate(day / 2, "per_1000_node_days", day)}


def test_both_windows_are_measured_and_left(week: Page, shown: list[dict[str, Any]]) -> None:
    estimates = week.measure(analysis, cards=[RATE])
    (left,) = [bundle[outputs.FIGURES]["figures"] for bundle in shown if outputs.FIGURES in bundle]
    assert estimates[COUNT].value == 6  # the week begins on 6 October
    assert [(row["id"], row["value"], row["previous"]) for row in left] == [(COUNT, 6.0, 29.0), (RATE, 3.0, 14.5)]
    (cards,) = [bundle[outputs.TRUSTED] for bundle in shown if "card-label" in bundle.get(outputs.TRUSTED, "")]
    assert "Incident rate" in cards
    assert "Node incidents" not in cards


@pytest.mark.parametrize(
    ("start", "previous"), [("2025-08-25", None), ("2025-08-26", None), ("2025-09-01", None), ("2025-09-02", 26.0)]
)
def test_a_window_before_the_export_begins_is_not_known(
    orion: Config, stored: Path, shown: list[dict[str, Any]], start: str, previous: float | None
) -> None:
    """The first record is of 1 September, in the first hours of the zone's day."""
    end = (date.fromisoformat(start) + timedelta(days=7)).isoformat()
    page = opening.open_page(str(orion.path), start, end, notebook="04_incidents")
    page.measure(analysis, cards=[COUNT], tests={COUNT: 0.001})
    page.con.close()
    (left,) = [bundle[outputs.FIGURES]["figures"] for bundle in shown if outputs.FIGURES in bundle]
    assert left[0]["previous"] == previous
    cards = "".join(bundle.get(outputs.TRUSTED, "") for bundle in shown)
    assert ("no value for" in cards) is (previous is None)


@pytest.mark.parametrize(("p_value", "word"), [(0.01, "better"), (0.2, "within the usual range")])
def test_the_exact_test_decides_the_word(week: Page, shown: list[dict[str, Any]], p_value: float, word: str) -> None:
    week.measure(analysis, cards=[RATE], tests={RATE: p_value})
    assert word in "".join(bundle.get(outputs.TRUSTED, "") for bundle in shown)


def test_a_figure_that_the_catalogue_does_not_know_is_an_error(week: Page) -> None:
    with pytest.raises(catalogue.UnknownFigureError, match=r"incidents\.luck is not in the catalogue"):
        week.measure(lambda con, window: {"incidents.luck": Estimate(1.0, "count", 1)})
