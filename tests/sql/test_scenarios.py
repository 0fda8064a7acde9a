"""Every scenario of tests/sql/<model>/<scenario>/: the rows of given.yml must give the rows of expect.csv.

`expect.csv` names the columns that the scenario is about; an empty cell is null. `given.yml` may hold a `query`
in place of the whole mart.
"""

import csv
from pathlib import Path
from typing import Any

import duckdb
import pytest

from gangline.build import build
from gangline.quoting import name_of
from tests.sql.given import read_given, warehouse_of

HERE = Path(__file__).parent
SCENARIOS = sorted(path.parent for path in HERE.glob("*/*/given.yml"))


def expected_rows(path: Path) -> tuple[list[str], list[list[str | None]]]:
    with path.open(encoding="utf-8", newline="") as lines:
        header, *rows = csv.reader(lines, skipinitialspace=True)
    return header, [[cell or None for cell in row] for row in rows]


def compared(con: duckdb.DuckDBPyConnection, query: str, path: Path) -> tuple[list[Any], list[Any]]:
    """Both sides as rows of the mart's own types, in one order."""
    header, rows = expected_rows(path)
    columns = ", ".join(name_of(name) for name in header)
    con.execute(f"create temp table got as select {columns} from ({query})")
    con.execute("create temp table wanted as from got limit 0")
    if rows:
        con.executemany(f"insert into wanted values ({', '.join('?' for _ in header)})", rows)
    return rows_of(con, "got"), rows_of(con, "wanted")


def rows_of(con: duckdb.DuckDBPyConnection, table: str) -> list[Any]:
    rows = con.execute(f"from {table} order by all").fetchall()
    return [tuple(round(cell, 9) if isinstance(cell, float) else cell for cell in row) for row in rows]


@pytest.mark.parametrize("folder", SCENARIOS, ids=lambda folder: f"{folder.parent.name}/{folder.name}")
def test_scenario(folder: Path) -> None:
    given = read_given(folder / "given.yml")
    model = folder.parent.name
    with warehouse_of(given) as con:
        build(con, only=[model])
        got, wanted = compared(con, given.get("query", f"from marts.{model}"), folder / "expect.csv")
    assert got == wanted
