"""`%%sql` and `%sql`: a query in a cell, its rows as a polars frame."""

from typing import TYPE_CHECKING, Any

import duckdb
import polars as pl

from gangline.lab.opening import Lab, open_lab
from gangline.warehouse.querying import names_in

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

STALE = "A newer warehouse was published meanwhile; turn to it with here.reopen()."


def register(shell: "InteractiveShell") -> None:
    """Give a notebook `%sql` for a line and `%%sql [name]` for a cell; a name keeps the frame instead of showing it."""

    def sql(line: str, cell: str | None = None) -> pl.DataFrame | None:
        rows = run(_lab_of(shell), line if cell is None else cell, shell.user_ns)
        if cell is None or not line.strip():
            return rows
        shell.user_ns[_variable(line.strip())] = rows
        return None

    shell.register_magic_function(sql, "line_cell", "sql")  # type: ignore[arg-type]


def run(lab: Lab, text: str, names: dict[str, Any]) -> pl.DataFrame:
    """Run a query with each `$name` bound to the notebook's variable of that name, else to what the lab binds.

    Raises
    ------
    IPython.core.error.UsageError
        With DuckDB's own message: a person's slip in a query needs no traceback.
    """
    from IPython.core.error import UsageError

    if lab.is_stale:
        print(STALE)  # noqa: T201
    try:
        wanted = names_in(lab.con, text)
        return lab.sql(text, **{name: names[name] for name in wanted if name in names})
    except duckdb.Error as error:
        raise UsageError(str(error)) from None


def _lab_of(shell: "InteractiveShell") -> Lab:
    """The lab that the notebook opened last; one is opened where there is none."""
    labs = [value for value in shell.user_ns.values() if isinstance(value, Lab)]
    if not labs:
        shell.user_ns["here"] = open_lab()
        return shell.user_ns["here"]  # type: ignore[no-any-return]
    return labs[-1]


def _variable(name: str) -> str:
    from IPython.core.error import UsageError

    if not name.isidentifier():
        raise UsageError(f"%%sql {name}: one name for the frame, or none")
    return name
