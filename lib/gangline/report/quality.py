"""The box that says how much of the input stands behind a page."""

import duckdb
import polars as pl
from markupsafe import Markup

from gangline.report.wording import prose
from gangline.windows import Window

PER_SOURCE = """
with oddities as (
    select file_id, sum(count)::bigint as oddities from meta.oddities group by file_id
)
select
    files.kind as source,
    count(*) as files,
    sum(records)::bigint as records,
    sum(loaded)::bigint as loaded,
    sum(ignored)::bigint as ignored,
    sum(rejected)::bigint as rejected,
    coalesce(sum(oddities.oddities), 0)::bigint as oddities,
    min(first_at) as first_at,
    max(latest_at) as latest_at
from meta.files as files
left join oddities using (file_id)
group by files.kind
order by files.kind
"""
FILELESS = """
select path from meta.sources
where source_id not in (select source_id from meta.files) order by position
"""


def per_source(con: duckdb.DuckDBPyConnection) -> pl.DataFrame:
    """Count files, records, rejects and oddities by kind of source."""
    counted: pl.DataFrame = con.sql(PER_SOURCE).pl()
    return counted


def remarks(con: duckdb.DuckDBPyConnection, window: Window) -> list[Markup]:
    """Say in sentences what a reader must know: rejected records, sources without files, a window past the data."""
    sources = per_source(con)
    said = [_rejected(sources), *_uncovered(sources, window)]
    for (path,) in con.execute(FILELESS).fetchall():
        said.append(prose("No file was found for the source `{}`.", Markup.escape(path)))
    return [remark for remark in said if remark]


def box(said: list[Markup]) -> Markup:
    """Write the remarks as a box; nothing to say is said too."""
    lines = said or [prose("Every record was read, and the sources cover the window.")]
    items = Markup("").join(Markup("<li>{}</li>").format(line) for line in lines)
    return Markup('<aside class="quality{}"><ul>{}</ul></aside>').format(" is-clean" if not said else "", items)


def _rejected(sources: pl.DataFrame) -> Markup:
    records, rejected = (int(sources[name].sum() or 0) for name in ("records", "rejected"))
    if not rejected:
        return Markup("")
    return prose("**{}** of {:records} could not be read; page 00 lists them.", rejected, records)


def _uncovered(sources: pl.DataFrame, window: Window) -> list[Markup]:
    if window.is_whole:
        return []
    said = []
    for kind, first_at, latest_at in sources.select("source", "first_at", "latest_at").iter_rows():
        if first_at is not None and first_at >= window.end:
            said.append(prose("`{}` begins after the window, on {}.", kind, first_at))
        if latest_at is not None and latest_at < window.end:
            said.append(prose("`{}` ends before the window does, on {}.", kind, latest_at))
    return said
