"""Descriptions from the contracts, written into the database and read back from it alone."""

import difflib
from collections.abc import Iterator

import duckdb
import polars as pl

from gangline.contracts import Column, MacroContract, ModelContract
from gangline.models import Model
from gangline.quoting import name_of, text

_THINGS = """
select schema_name || '.' || table_name as name, 'table' as kind, comment as description from duckdb_tables()
union all
select schema_name || '.' || view_name, 'view', comment from duckdb_views() where not internal
union all
select case function_type when 'macro' then '' else schema_name || '.' end
       || function_name || '(' || array_to_string(parameters, ', ') || ')',
       replace(function_type, '_', ' '), comment
from duckdb_functions() where not internal and function_type in ('macro', 'table_macro')
order by all
"""
_COLUMNS = """
select column_name as "column", lower(data_type) as type, comment as description
from duckdb_columns() where schema_name || '.' || table_name = ? order by column_index
"""


class UnknownTableError(ValueError):
    """The warehouse has no such table."""


def comments(model: Model) -> Iterator[str]:
    """The `comment on` statements that carry a contract into the database."""
    contract = model.contract
    if isinstance(contract, MacroContract):
        kind = "macro table" if model.is_table_macro else "macro"  # DuckDB names the two kinds by different words
        yield f"comment on {kind} {model.full_name} is {text(contract.description)}"
    elif isinstance(contract, ModelContract):
        kind = "view" if model.is_view else "table"
        yield f"comment on {kind} {model.full_name} is {text(f'{contract.description} A row: {contract.grain}.')}"
        for name, column in contract.columns.items():
            yield f"comment on column {model.full_name}.{name_of(name)} is {text(described(column))}"


def described(column: Column) -> str:
    """A column's meaning with its unit."""
    return f"{column.description.removesuffix('.')}. Unit: {column.unit}." if column.unit else column.description


def describe(con: duckdb.DuckDBPyConnection, table: str | None = None) -> pl.DataFrame:
    """What the database says of itself.

    Parameters
    ----------
    con
        Any connection to a warehouse.
    table
        A name with or without schema (`marts` is looked at first); all tables, views and macros where left out.

    Returns
    -------
    pl.DataFrame
        name, kind, description; for one table: column, type, description, in the table's order.

    Raises
    ------
    UnknownTableError
        Where there is no such table; the message names the nearest.
    """
    things = _frame(con.execute(_THINGS).fetchall(), ["name", "kind", "description"])
    if table is None:
        return things
    names: list[str] = things["name"].to_list()
    found = [name for name in (table, f"marts.{table}", *_ending(names, table)) if name in names]
    if not found:
        near = difflib.get_close_matches(table, [*names, *(name.split(".")[-1] for name in names)], 1)
        raise UnknownTableError(f"{table} is no table of this warehouse{f'; did you mean {near[0]}?' if near else ''}")
    return _frame(con.execute(_COLUMNS, [found[0]]).fetchall(), ["column", "type", "description"])


def _ending(names: list[str], table: str) -> list[str]:
    return [name for name in names if name.endswith(f".{table}")]


def _frame(rows: list[tuple[str, ...]], columns: list[str]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=dict.fromkeys(columns, pl.String), orient="row")
