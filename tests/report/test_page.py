"""The page as a notebook sees it: queries bound to the window, and what each call leaves."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import altair as alt
import duckdb
import polars as pl
import pytest

from gangline.config import Config
from gangline.estimates import Estimate
from gangline.report import Figure, outputs
from gangline.report.opening import open_page
from gangline.report.outputs import OutputTooLargeError
from gangline.report.page import Page
from gangline.report.parameters import ParameterError
from tests.report.making import HOSTILE, make_cluster

Shown = list[dict[str, Any]]


def test_queries_are_bound_to_the_window(week: Page) -> None:
    rows = week.query(
        "select $window_start as a, $window_end as b, $previous_start as c, $cluster as d, $n + 1 as e", n=1
    )
    at = datetime(2025, 10, 5, 15, tzinfo=UTC)
    assert rows.row(0) == (at, at.replace(day=12), datetime(2025, 9, 28, 15, tzinfo=UTC), "orion", 2)
    assert rows.schema["a"] == pl.Datetime("us", "UTC")


@pytest.mark.parametrize("name", HOSTILE)
def test_values_are_bound_never_pasted(week: Page, name: str) -> None:
    assert week.query("select $name as name", name=name)["name"].to_list() == [name]


def test_a_name_without_value_is_an_error(week: Page) -> None:
    with pytest.raises(duckdb.Error):
        week.query("select $node")


def test_a_dollar_in_a_text_is_no_parameter(week: Page) -> None:
    assert week.query("select '$window_start' as a")["a"].to_list() == ["$window_start"]


def test_the_warehouse_is_read_only(week: Page) -> None:
    with pytest.raises(duckdb.Error, match="read-only"):
        week.con.execute("create table marts.x as select 1")


def test_a_headline_leaves_all_figures_and_shows_those_with_a_label(week: Page, shown: Shown) -> None:
    figures = [
        Figure("a.shown", Estimate(0.53, "ratio", 531), 0.51, "Top three"),
        Figure("a.kept", Estimate(3.0, "h", 2)),
    ]
    week.headline(figures)
    assert [figure["id"] for figure in shown[0][outputs.FIGURES]["figures"]] == ["a.shown", "a.kept"]
    assert "Top three" in shown[1][outputs.TRUSTED]
    assert "a.kept" not in shown[1][outputs.TRUSTED]
    assert shown[1]["text/plain"] == "Top three: 53.0 % (n = 531)"


def test_cards_may_be_chosen(week: Page, shown: Shown) -> None:
    week.headline(
        [Figure("a.b", Estimate(3.0, "h", 2), label="B"), Figure("a.c", Estimate(4.0, "h", 2), label="C")], ["a.c"]
    )
    assert "figure-a.c" in shown[1][outputs.TRUSTED]
    assert "figure-a.b" not in shown[1][outputs.TRUSTED]


def test_a_page_before_that_printed_another_value_is_said(week: Page, shown: Shown, stored: Path) -> None:
    before = stored / "2025-W40"
    before.mkdir(parents=True)
    (before / "figures.json").write_text(json.dumps({"figures": [{"id": "a.b", "value": 0.49}]}), "utf-8")
    week.headline([Figure("a.b", Estimate(0.53, "ratio", 531), 0.51, "Top three")])
    assert shown[-1]["text/plain"] == (
        "Top three: the page of the window before printed 49.0 %; on today's data that window gives 51.0 %."
    )


def test_earlier_pages_give_the_course(week: Page, shown: Shown, stored: Path) -> None:
    for number, value in ((38, 0.5), (39, None)):
        (stored / f"2025-W{number}").mkdir(parents=True)
        content = {"figures": [{"id": "a.b", "value": value}]}
        (stored / f"2025-W{number}" / "figures.json").write_text(json.dumps(content), "utf-8")
    week.headline([Figure("a.b", Estimate(0.53, "ratio", 531), 0.51, "Top three")])
    assert shown[1][outputs.TRUSTED].count("<polyline") == 1


def test_a_chart_is_a_picture_with_caption_rows_and_its_own_specification(week: Page, shown: Shown) -> None:
    rows = pl.DataFrame({"node": ["a", "b"], "h": [1.0, 2.0]})
    week.chart(
        alt.Chart(rows).mark_bar().encode(x="h:Q", y="node:N"), title="Hours", caption="A bar is a node.", rows=rows
    )
    markup = shown[0][outputs.TRUSTED]
    assert '<img src="data:image/svg+xml;base64,' in markup
    assert '<b>Figure 1. Hours.</b> A bar is a node. <span class="rows">2 rows.</span>' in markup
    assert 'data-chart="' in markup
    assert 'download="08_node_exclusions-hours.csv"' in markup
    assert 'data-chart="' not in shown[0]["text/html"]


def test_a_chart_without_rows_says_so_and_is_not_drawn(week: Page, shown: Shown) -> None:
    week.chart(None, title="Hours", caption="", rows=pl.DataFrame({"h": []}))  # type: ignore[arg-type]
    assert "Figure 1. Hours: there are no rows in this window." in shown[0][outputs.TRUSTED]


def test_figures_and_tables_are_numbered(week: Page, shown: Shown) -> None:
    rows = pl.DataFrame({"h": [1.0]})
    for _ in range(2):
        week.table(rows, caption="Hours")
    assert "<b>Table 2. </b>Hours" in shown[1][outputs.TRUSTED]


@pytest.mark.parametrize("name", HOSTILE)
def test_every_text_is_escaped(week: Page, shown: Shown, name: str) -> None:
    rows = pl.DataFrame({"node": [name], "h": [1.0]})
    week.text("{}", name)
    week.answer("{}", name)
    week.banner("{}", name)
    week.table(rows, caption=name)
    week.chart(alt.Chart(rows).mark_bar().encode(x="h:Q", y="node:N"), title=name, caption=name, rows=rows)
    for bundle in shown:
        written = str(bundle.get(outputs.TRUSTED, bundle.get(outputs.BANNER)))
        assert "<script" not in written
        assert "<img src=x" not in written
        assert "</textarea" not in written


def test_what_no_page_can_hold_is_refused_with_the_mend(week: Page) -> None:
    with pytest.raises(OutputTooLargeError, match="limit is 1 MB; show fewer rows"):
        week.table(pl.DataFrame({"node": ["x" * 1000] * 3000}), caption="Nodes", most_rows=3000)


def test_quality_says_what_was_not_read(week: Page, shown: Shown) -> None:
    week.quality()
    assert "<strong>2</strong> of 2,431 records could not be read" in shown[0][outputs.TRUSTED]
    assert '<td class="number">1,229</td>' in shown[1][outputs.TRUSTED]


def test_quality_says_where_a_source_ends_early(orion: Config, stored: Path, shown: Shown) -> None:
    page = open_page(str(orion.path), "2025-11-10", "2025-11-17", notebook="x")
    page.quality()
    page.con.close()
    assert "<code>slurm</code> ends before the window does, on 2025-11-12 21:00 UTC" in shown[-2][outputs.TRUSTED]


def test_provenance_names_inputs_versions_parameters_and_commit(week: Page, shown: Shown) -> None:
    week.provenance()
    assert "start = &#39;2025-10-06&#39;" in shown[0][outputs.TRUSTED]
    assert f"duckdb {duckdb.__version__}" in shown[0][outputs.TRUSTED]
    assert "ab12cd34" * 8 in shown[1][outputs.TRUSTED]


def test_opening_tells_the_exporter_where_it_is(orion: Config, stored: Path, shown: Shown) -> None:
    page = open_page(str(orion.path), "2025-10-06", "2025-10-13", notebook="x")
    page.con.close()
    assert len(shown) == 1
    told = shown[0][outputs.PAGE]
    assert (told["cluster"], told["window"], told["before"]) == ("orion", "2025-W41", "2025-W40")
    assert told["start"] == "2025-10-05T15:00:00+00:00"


def test_the_whole_export_has_no_window_before(orion: Config, stored: Path, shown: Shown) -> None:
    page = open_page(str(orion.path), notebook="x")
    rows = page.query("select $previous_start::timestamptz as a, $window_start as b")
    page.con.close()
    assert rows.row(0) == (None, datetime(2025, 9, 1, 0, 10, tzinfo=UTC))


def test_a_number_for_a_date_stops(orion: Config) -> None:
    with pytest.raises(
        ParameterError, match="parameter start is text, but arrived as the number 20251006; use -r start"
    ):
        open_page(str(orion.path), 20251006, "", notebook="x")  # type: ignore[arg-type]


def test_an_empty_export_gives_a_page_that_says_so(tmp_path: Path, stored: Path, shown: Shown) -> None:
    config = make_cluster(tmp_path / "empty", is_empty=True)
    page = open_page(str(config.path), notebook="x")
    page.quality()
    page.con.close()
    assert page.window.label == "no data"
    assert "<strong>No data</strong>" in shown[1][outputs.BANNER]["text"]


def test_simulated_data_is_said_on_every_page(tmp_path: Path, stored: Path, shown: Shown) -> None:
    config = make_cluster(tmp_path / "simulated")
    (config.folder / "SIMULATED").touch()
    open_page(str(config.path), notebook="x").con.close()
    assert "<strong>Simulated data</strong>" in shown[1][outputs.BANNER]["text"]
