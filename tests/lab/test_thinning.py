"""Fewer rows for the same picture, in charts as people write them."""

from datetime import UTC, datetime, timedelta

import altair as alt
import numpy as np
import polars as pl
import pytest

from gangline.lab.drawing import MEDIA_TYPE, bundle
from gangline.lab.thinning import BUCKETS, MOST_DRAWN, MOST_ROWS, thinned

COUNT = 30_000
SPIKE = 21_237


@pytest.fixture(autouse=True)
def _no_limit():
    with alt.data_transformers.enable("default", max_rows=None):
        yield


def _rows() -> pl.DataFrame:
    start = datetime(2026, 3, 1, tzinfo=UTC)
    value = np.zeros(COUNT)
    value[SPIKE] = 9.0
    return pl.DataFrame(
        {
            "at": [start + timedelta(seconds=30 * place) for place in range(COUNT)],
            "place": range(COUNT),
            "value": value,
            "node": ["n1", "n2"] * (COUNT // 2),
            "word": [str(place) for place in range(COUNT)],
        }
    )


def _drawn(chart: alt.TopLevelMixin) -> tuple[list[dict[str, object]], dict[str, object]]:
    spec = bundle(chart)[MEDIA_TYPE]
    (rows,) = spec["datasets"].values()
    return rows, spec


@pytest.mark.parametrize("x", ["at:T", "place:Q"])
def test_a_line_keeps_each_pixels_ends_and_says_so(x: str) -> None:
    rows, spec = _drawn(alt.Chart(_rows()).mark_line().encode(x=x, y="value:Q"))
    assert len(rows) <= 2 * (BUCKETS + 1)
    assert [row["place"] for row in rows if row["value"]] == [SPIKE]
    assert spec["title"]["subtitle"] == [f"{len(rows):,} of 30,000 rows drawn: each pixel's lowest and highest"]


def test_each_series_keeps_its_own() -> None:
    rows, _ = _drawn(alt.Chart(_rows()).mark_line().encode(x="at:T", y="value:Q", color="node:N"))
    assert {row["node"] for row in rows} == {"n1", "n2"}
    assert [row["node"] for row in rows if row["value"]] == ["n2"]


def test_what_vega_sums_is_kept_whole() -> None:
    rows, spec = _drawn(alt.Chart(_rows()).mark_bar().encode(x="node:N", y="mean(value):Q"))
    assert (len(rows), "title" in spec) == (COUNT, False)
    rows, _ = _drawn(alt.Chart(_rows()).mark_bar().encode(x=alt.X("value:Q").bin(), y="count()"))
    assert len(rows) == COUNT


def test_a_layer_shares_its_rows_and_a_transform_keeps_them() -> None:
    base = alt.Chart(_rows()).encode(x="at:T")
    rows, _ = _drawn(base.mark_line().encode(y="value:Q") + base.mark_point().encode(y="place:Q"))
    assert len(rows) <= 4 * (BUCKETS + 1)
    rows, _ = _drawn(alt.Chart(_rows()).transform_filter("datum.value > 1").mark_point().encode(x="at:T", y="value:Q"))
    assert len(rows) == COUNT


def test_names_along_x_are_picked_evenly() -> None:
    rows, spec = _drawn(alt.Chart(_rows()).mark_point().encode(x="word:N", y="value:Q"))
    assert 0 < len(rows) <= MOST_DRAWN
    assert "evenly picked" in spec["title"]["subtitle"][0]


def test_small_charts_stay_as_they_are() -> None:
    small = alt.Chart(_rows().head(MOST_ROWS), title="mine").mark_line().encode(x="at:T", y="value:Q")
    assert thinned(small.to_dict()) == small.to_dict()


def test_a_title_stays() -> None:
    _, spec = _drawn(alt.Chart(_rows(), title="mine").mark_line().encode(x="at:T", y="value:Q"))
    assert spec["title"]["text"] == "mine"


def test_nulls_and_infinities_do_not_matter() -> None:
    rows = _rows().with_columns(pl.when(pl.col("place") % 2 == 0).then(None).otherwise(pl.col("value")).alias("value"))
    drawn, _ = _drawn(alt.Chart(rows).mark_line().encode(x="at:T", y="value:Q"))
    assert [row["place"] for row in drawn if row["value"]] == [SPIKE]
