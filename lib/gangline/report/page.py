"""A report's page as its notebook sees it: the data, the window, and one call for each thing that a page shows."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

import duckdb
import polars as pl
from markupsafe import Markup

from gangline.config import Config
from gangline.estimates import Estimate
from gangline.estimates.wording import counted
from gangline.report import cards, catalogue, downloads, history, outputs, provenance, quality, tables
from gangline.report.drawing import figure_parts
from gangline.report.figures import Figure
from gangline.report.wording import prose
from gangline.warehouse.querying import names_in
from gangline.warehouse.spans import reaches_into
from gangline.windows import Window

if TYPE_CHECKING:
    import altair as alt

MOST_CARDS = 5
CHANGED = "{}: the page of the window before printed {}; on today's data that window gives {}."
EMPTY = Markup('<p class="empty" id="{}">{}{}: there are no rows in this window.</p>')


@dataclass(slots=True)
class Page:
    """What a notebook works with; `gangline.report.open_page` makes it.

    Attributes
    ----------
    con : duckdb.DuckDBPyConnection
        The warehouse, read-only, in UTC.
    window : Window
        What the page covers.
    parameters : dict
        The notebook's own parameters by name, for the provenance.
    """

    config: Config
    con: duckdb.DuckDBPyConnection
    window: Window
    notebook: str
    parameters: Mapping[str, Any]
    opened_s: float = field(default_factory=time.monotonic)
    figure_count: int = 0
    table_count: int = 0

    def query(self, sql: str, **parameters: Any) -> pl.DataFrame:
        """Run a query; every `$name` in it is bound as a value, never pasted in.

        Bound without being given: `window_start`, `window_end`, `previous_start`, `previous_end` (null for the whole
        export), `time_zone` and `cluster`. Instants come back UTC-aware.

        Raises
        ------
        duckdb.Error
            If the query is wrong or a `$name` has no value.
        """
        given = self._usual_parameters() | parameters
        wanted = {name: given[name] for name in names_in(self.con, sql) if name in given}
        rows: pl.DataFrame = self.con.sql(sql, params=wanted or None).pl()
        return rows.with_columns(_in_utc(name, dtype) for name, dtype in rows.schema.items())

    def answer(self, template: str, /, *values: object, **named: object) -> None:
        """Say the finding in a sentence or two, in the cell tagged `answer`: it stands under the title."""
        sentence = prose(template, *values, **named)
        outputs.show(Markup('<p class="answer">{}</p>').format(sentence), sentence.striptags())

    def text(self, template: str, /, *values: object, **named: object) -> None:
        """Write a paragraph with values in it (`gangline.report.markup` says how they are written)."""
        sentence = prose(template, *values, **named)
        outputs.show(Markup("<p>{}</p>").format(sentence), sentence.striptags())

    def banner(self, template: str, /, *values: object, **named: object) -> None:
        """Warn at the top of the page, above the answer."""
        warning = prose(template, *values, **named)
        outputs.leave(outputs.BANNER, {"text": str(warning)}, f"Note: {warning.striptags()}")

    def measure(
        self, analysis: catalogue.Analysis, cards: Sequence[str] | None = None, tests: Mapping[str, float] | None = None
    ) -> dict[str, Estimate]:
        """Compute an analysis for the window and the one before, leave its figures, show cards, give its estimates.

        A window before that ends before the export begins, or starts after it ends, was not seen: its figures are not
        known, counts not 0.

        Parameters
        ----------
        analysis : callable
            From connection and window to estimates by figure id, such as `exclusions.figures`.
        tests : mapping, optional
            The p of the exact test against the window before, by the id of a figure that is a rate.
        """
        estimates = analysis(self.con, self.window)
        before = self.window.previous()
        previous = analysis(self.con, before) if before and reaches_into(self.con, before) else None
        self.headline(catalogue.headlines(estimates, previous, tests or {}), cards)
        return estimates

    def compare(
        self,
        estimates: Mapping[str, Estimate],
        courses: Mapping[str, Sequence[float | None]],
        tests: Mapping[str, float],
        cards: Sequence[str],
    ) -> None:
        """Leave figures and show cards for some, with their course over windows before that were computed as well.

        Parameters
        ----------
        courses, tests : mapping
            As `report.catalogue.with_courses` takes them.
        """
        self.headline(catalogue.with_courses(estimates, courses, tests), cards)

    def headline(self, figures: Sequence[Figure], cards_shown: Sequence[str] | None = None) -> None:
        """Leave figures for `figures.json` and show cards for some.

        Parameters
        ----------
        figures : sequence of Figure
            All the figures of the page; a page may do this more than once.
        cards_shown : sequence of str, optional
            Ids of the figures that get a card; by default the first five that have a label.
        """
        folder = history.cluster_folder(self.config.cluster.name)
        known = history.with_history(figures, self.window, folder)
        outputs.leave(outputs.FIGURES, {"figures": [figure.row() for figure in known]})
        chosen = _chosen(known, cards_shown)
        if chosen:
            before = self.window.previous()
            outputs.show(cards.cards(chosen, before.label if before else None), cards.plain(chosen))
        for figure, printed in history.changed_since(chosen, self.window, folder):
            self.text(CHANGED, figure.label, *cards.both(figure, printed))

    def chart(
        self, chart: "alt.TopLevelMixin", *, title: str, caption: str, rows: pl.DataFrame, alt_text: str = ""
    ) -> None:
        """Show a picture with its caption, its rows as CSV, and the chart itself on demand.

        Parameters
        ----------
        title : str
            What it shows, in a few words; "Figure n." is put before it.
        caption : str
            What the marks mean, and anything a reader may get wrong; "n rows" is put behind it.
        rows : DataFrame
            The rows that are drawn; where there are none, the page says so instead.
        """
        self.figure_count += 1
        anchor = f"figure-{self.figure_count}"
        label = f"Figure {self.figure_count}. "
        if rows.is_empty():
            return outputs.show(EMPTY.format(anchor, label, title), f"{label}{title}: no rows")
        link = downloads.download(rows, downloads.file_name(self.notebook, title))
        parts = figure_parts(chart, anchor, label, title, caption, alt_text, rows.height)
        outputs.show(parts.whole(link), f"{label}{title}", parts.picture_only())

    def table(
        self,
        rows: pl.DataFrame,
        *,
        caption: str,
        labels: Mapping[str, str] | None = None,
        most_rows: int = tables.MOST_ROWS,
    ) -> None:
        """Show rows as a table, in the order they come in; the rest of a long one is in its CSV.

        Parameters
        ----------
        labels : mapping, optional
            Headings by column; the others are made from the column's name and its unit.
        """
        self.table_count += 1
        label = f"Table {self.table_count}. "
        anchor = f"table-{self.table_count}"
        if rows.is_empty():
            return outputs.show(EMPTY.format(anchor, label, caption), f"{label}{caption}: no rows")
        named = Markup("<b>{}</b>{}").format(label, caption)
        whole = tables.table(rows, named, f"{label}{caption}", labels or {}, most_rows)
        foot = tables.foot(rows, most_rows, downloads.download(rows, downloads.file_name(self.notebook, caption)))
        outputs.show(tables.PLACE.format(anchor, whole, foot), f"{label}{caption}: {counted(rows.height, 'rows')}")

    def quality(self) -> None:
        """Show how much of the input stands behind the page."""
        said = quality.remarks(self.con, self.window)
        outputs.show(quality.box(said), "\n".join(remark.striptags() for remark in said) or "no remarks")
        self.table(quality.per_source(self.con), caption="What was read, by kind of source")

    def provenance(self) -> None:
        """Show the inputs with their hashes, the parameters, the versions, the commit and the time."""
        seconds = time.monotonic() - self.opened_s
        outputs.show(provenance.definitions(self.parameters, seconds), provenance.versions())
        self.table(provenance.inputs(self.con), caption="Files that the warehouse was built from")

    def done(self) -> None:
        """End the page: without this the runner takes the notebook for broken off."""
        outputs.leave(outputs.DONE, {"notebook": self.notebook})
        self.con.close()

    def _usual_parameters(self) -> dict[str, datetime | str | None]:
        before = self.window.previous()
        return {
            "window_start": self.window.start,
            "window_end": self.window.end,
            "previous_start": before.start if before else None,
            "previous_end": before.end if before else None,
            "time_zone": self.window.time_zone,
            "cluster": self.config.cluster.name,
        }


def _chosen(figures: Sequence[Figure], ids: Sequence[str] | None) -> list[Figure]:
    if ids is None:
        return [figure for figure in figures if figure.label][:MOST_CARDS]
    by_id = {figure.id: figure for figure in figures}
    return [by_id[name] for name in ids]


def _in_utc(name: str, dtype: pl.DataType) -> pl.Expr:
    if isinstance(dtype, pl.Datetime) and dtype.time_zone:
        return pl.col(name).dt.convert_time_zone("UTC")
    return pl.col(name)
