"""Rates of several clusters: every name stands whole above its mark, and what has no rate has no row."""

import polars as pl

from gangline.charts import picture, published_clusters
from gangline.published_clusters import HERE

LONG = "run that ended neither completed nor planned, of those that had trained"


def _rates(names: list[tuple[str, str, str, float | None]]) -> pl.DataFrame:
    rates = pl.DataFrame(names, schema=["block", "cluster", "meaning", "rate"], orient="row")
    bounds = (pl.lit(None, pl.Float64).alias(f"{side}_per_1000_node_days") for side in ("low", "high"))
    return rates.rename({"rate": "rate_per_1000_node_days"}).with_columns(*bounds)


def test_names_are_whole_and_stand_above_their_marks() -> None:
    rates = _rates([("jobs", HERE, LONG, 3.0), ("jobs", "<b>Llama</b> 3", LONG, 2.0), ("nodes", HERE, "fault", None)])
    dots = published_clusters.dots(rates)
    assert dots["rate"].to_list() == [3.0, 2.0]
    drawn = picture.svg(published_clusters.strips(dots))
    assert f">this cluster: {LONG}<" in drawn
    assert f">&lt;b&gt;Llama&lt;/b&gt; 3: {LONG}<" in drawn


def test_a_name_that_is_longer_than_the_strip_is_cut() -> None:
    dots = published_clusters.dots(_rates([("jobs", HERE, "x" * 300, 3.0)]))
    assert f">this cluster: {'x' * 75}…<" in picture.svg(published_clusters.strips(dots))
