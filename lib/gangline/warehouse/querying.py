"""From SQL to polars frames, with values bound and never pasted."""

from typing import Any

import duckdb
import polars as pl
import polars.selectors as cs


def query(con: duckdb.DuckDBPyConnection, sql: str, **values: Any) -> pl.DataFrame:
    """The rows of a select as a frame; `$name` in the SQL takes the value of that name; instants are UTC.

    Examples
    --------
    >>> query(duckdb.connect(), "select $a + 1 as b", a=1).rows()
    [(2,)]
    """
    used = {name: value for name, value in values.items() if f"${name}" in sql}
    frame: pl.DataFrame = con.sql(sql, params=used or None).pl()
    return frame.with_columns(cs.datetime(time_zone="*").dt.convert_time_zone("UTC"))


def names_in(con: duckdb.DuckDBPyConnection, sql: str) -> set[str]:
    """The `$name`s that SQL asks values for.

    Examples
    --------
    >>> names_in(duckdb.connect(), "select $a, '$b'")
    {'a'}
    """
    return {name for statement in con.extract_statements(sql) for name in statement.named_parameters}
