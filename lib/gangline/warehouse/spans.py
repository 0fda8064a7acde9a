"""From when to when a warehouse holds records."""

from datetime import datetime

import duckdb

from gangline.windows import Window

_SPAN = "select min(first_at), greatest(max(latest_at), (select max(exported_at) from meta.sources)) from meta.files"


def export_span(con: duckdb.DuckDBPyConnection) -> tuple[datetime | None, datetime | None]:
    """The first record of all sources, and the latest record or export time; None, None where there are no records."""
    first_at, latest_at = con.execute(_SPAN).fetchall()[0]
    return (first_at, latest_at) if first_at else (None, None)


def reaches_into(con: duckdb.DuckDBPyConnection, window: Window) -> bool:
    """Whether there are records of a window; where not, its counts are not known, and not 0."""
    first_at, latest_at = export_span(con)
    return first_at is not None and latest_at is not None and window.end > first_at and window.start < latest_at
