"""Pictures as a browser lays them out: no word sticks out of its frame."""

from typing import Any

import altair as alt
import polars as pl
import pytest

from gangline.charts import incidents, picture, published_clusters
from gangline.estimates import Estimate
from tests.charts.test_incidents import WEEK, rows

OUTSIDE = """() => {
  const frame = document.querySelector("svg").getBoundingClientRect();
  const all = [...document.querySelectorAll("svg text")];
  const texts = all.map(text => [text.textContent, text.getBoundingClientRect()]);
  return texts.filter(([_, box]) => box.width && (box.left < frame.left - 1 || box.right > frame.right + 1
    || box.top < frame.top - 2 || box.bottom > frame.bottom + 2)).map(([name]) => name);
}"""


def outside(browser: Any, chart: alt.TopLevelMixin) -> list[str]:
    """The texts of a picture that leave its frame."""
    page = browser.new_page()
    page.set_content(picture.svg(chart))
    found: list[str] = page.evaluate(OUTSIDE)
    page.close()
    return found


def test_long_kinds_do_not_run_out_of_the_legend(browser: Any) -> None:
    named = rows(200, kinds=8).with_columns(kind=pl.col("kind") + " of the parameter plane's cables")
    assert outside(browser, incidents.calendar(incidents.with_kinds(named.drop("kind_label")), WEEK)) == []


@pytest.mark.parametrize("hours", [(4.0, 25.4, 39.9), (1.8, 2.5, 98.0), (95.0, 97.0, 99.0), (0.02, 0.03, 0.04)])
def test_quartiles_at_the_edges_keep_their_names_in_the_frame(browser: Any, hours: tuple[float, ...]) -> None:
    lengths = rows(50).with_columns(duration_h=pl.Series([hours[0]] * 20 + [hours[1]] * 10 + [hours[2]] * 20))
    quartiles = [Estimate(value, "h", 50) for value in hours]
    assert outside(browser, incidents.durations(incidents.duration_bins(lengths), quartiles)) == []


def test_names_above_their_marks_stay_in_the_strip(browser: Any) -> None:
    """The longest name that is not cut, in the widest letters that names have."""
    row = {"name": "MW" * 45, "block": "node events", "is_here": True, "rate": 2.0, "low": 1.0, "high": 4.0}
    assert outside(browser, published_clusters.strips(pl.DataFrame([row]))) == []
