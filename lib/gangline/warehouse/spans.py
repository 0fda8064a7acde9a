"""From when to when a warehouse holds records."""

from datetime import datetime

import duckdb

_SPAN = "select min(first_at), greatest(max(latest_at), (select max(exported_at) from meta.sources)) from meta.files"


def export_span(con: duckdb.DuckDBPyConnection) -> tuple[datetime | None, datetime | None]:
    """The first record of all sources, and the latest record or export time; None, None where there are no records."""
    first_at, latest_at = con.execute(_SPAN).fetchall()[0]
    return (first_at, latest_at) if first_at else (None, None)
