"""Builds the SQL layer: seeds, macros and models in order, each held to its contract, then the checks."""

import csv
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import duckdb

from gangline.checks import CheckResult, run_model_checks, write_checks
from gangline.contracts import ContractError, ModelContract, Severity
from gangline.definitions import sql_folder
from gangline.descriptions import comments, describe
from gangline.estimates.wording import counted
from gangline.models import Model, ModelError, find_models, in_order, with_sources
from gangline.quoting import name_of, text

__all__ = ["BuildError", "BuildReport", "build", "describe", "run_checks"]

Filler = Callable[[duckdb.DuckDBPyConnection], None]
LAYERS = ("staging", "intermediate", "marts", "meta", "raw")


class BuildError(ValueError):
    """The SQL layer cannot be built, or what it holds breaks its contract: what, where, likely cause and mend."""


@dataclass(frozen=True)
class BuiltModel:
    """One thing made, with the seconds it took."""

    name: str
    seconds: float


@dataclass(frozen=True)
class BuildReport:
    """What a build made, in order, and how its checks came out."""

    models: tuple[BuiltModel, ...]
    checks: tuple[CheckResult, ...]

    @property
    def warnings(self) -> tuple[CheckResult, ...]:
        """Checks that found rows but do not stop the build."""
        return tuple(check for check in self.checks if check.failing_rows)


def build(
    con: duckdb.DuckDBPyConnection,
    folder: Path | None = None,
    only: Iterable[str] | None = None,
    fillers: Mapping[str, Filler] | None = None,
) -> BuildReport:
    """Makes every model of `sql/` in the database, or only some with all that they read.

    Parameters
    ----------
    con
        A writable connection to a warehouse whose `raw` and `meta` tables exist.
    folder
        The `sql/` folder; the project's own by default.
    only
        Model names with or without schema.
    fillers
        What Python computes in between, into tables of `meta`: called before the model whose full name is the key, when
        all that this one reads has been made.

    Raises
    ------
    BuildError
        Where SQL, contract or a `fail` check is not met; the database then holds what was built before it.
    """
    models = _ordered(con, folder or sql_folder(), only)
    for schema in LAYERS:
        con.execute(f"create schema if not exists {schema}")
    built = tuple(_make(con, model, fillers or {}) for model in models if model.folder != "checks")
    results = tuple(result for model in models for result in run_model_checks(con, model))
    write_checks(con, results)
    _stop_on_failures(results)
    return BuildReport(built, results)


def run_checks(con: duckdb.DuckDBPyConnection, folder: Path | None = None) -> tuple[CheckResult, ...]:
    """Every check, identity and macro assertion against a built warehouse; writes nothing."""
    models = _ordered(con, folder or sql_folder(), None)
    return tuple(result for model in models for result in run_model_checks(con, model))


def _ordered(con: duckdb.DuckDBPyConnection, folder: Path, only: Iterable[str] | None) -> list[Model]:
    try:
        models = find_models(folder)
        chosen = models if only is None else with_sources(models, only)
        return in_order(chosen, _existing(con))
    except (ModelError, ContractError) as error:
        raise BuildError(str(error)) from None


def _existing(con: duckdb.DuckDBPyConnection) -> set[str]:
    rows = con.execute("select table_schema || '.' || table_name from information_schema.tables").fetchall()
    return {str(row[0]) for row in rows}


def _stop_on_failures(results: Iterable[CheckResult]) -> None:
    failed = [result for result in results if result.failing_rows and result.severity == Severity.FAIL]
    if failed:
        more = f" (and {len(failed) - 1} more in meta.checks)" if len(failed) > 1 else ""
        raise BuildError(f"{failed[0]}{more}")


def _make(con: duckdb.DuckDBPyConnection, model: Model, fillers: Mapping[str, Filler]) -> BuiltModel:
    started = time.monotonic()
    if model.full_name in fillers:
        fillers[model.full_name](con)
    try:
        _create(con, model)
        if isinstance(model.contract, ModelContract):
            _enforce(con, model, model.contract)
        _describe(con, model)
    except duckdb.Error as error:
        raise BuildError(f"{model.path}: {_first_lines(error)}") from error
    return BuiltModel(model.reference, time.monotonic() - started)


def _describe(con: duckdb.DuckDBPyConnection, model: Model) -> None:
    """In one transaction: a thousand comments, each committed by itself, took half of a build."""
    with con.cursor() as cursor:
        cursor.execute(f"begin; {'; '.join(comments(model))}; commit")


def _first_lines(error: duckdb.Error) -> str:
    return " ".join(line.strip() for line in str(error).split("\n\n")[0].splitlines())


def _create(con: duckdb.DuckDBPyConnection, model: Model) -> None:
    if model.folder == "macros":
        con.execute(model.sql)
        return
    body = _seed_select(model) if model.folder == "seeds" else model.sql
    kind, other = ("view", "table") if model.is_view else ("table", "view")
    if _kind_of(con, model) == other:
        con.execute(f"drop {other} {model.full_name}")
    con.execute(f"create or replace {kind} {model.full_name} as {body}")


def _kind_of(con: duckdb.DuckDBPyConnection, model: Model) -> str | None:
    row = con.execute(
        "select table_type from information_schema.tables where table_schema = ? and table_name = ?",
        [model.schema, model.name],
    ).fetchone()
    return None if row is None else "view" if row[0] == "VIEW" else "table"


def _seed_select(model: Model) -> str:
    assert isinstance(model.contract, ModelContract)
    columns = list(model.contract.columns)
    with model.path.open(encoding="utf-8", newline="") as lines:
        header = next(csv.reader(lines), [])
    if header != columns:
        raise BuildError(f"{model.path}:1: the header is {','.join(header)}; its contract says {','.join(columns)}")
    types = ", ".join(f"{text(name)}: {text(column.type)}" for name, column in model.contract.columns.items())
    options = "header = true, auto_detect = false, delim = ',', quote = '\"', escape = '\"', nullstr = ''"
    return f"select * from read_csv({text(str(model.path))}, {options}, columns = {{{types}}})"  # noqa: S608


def _enforce(con: duckdb.DuckDBPyConnection, model: Model, contract: ModelContract) -> None:
    _enforce_columns(con, model, contract)
    _enforce_not_null(con, model, contract)
    if contract.key:
        _enforce_key(con, model, contract)


def _enforce_columns(con: duckdb.DuckDBPyConnection, model: Model, contract: ModelContract) -> None:
    is_rows = con.execute(f"describe {model.full_name}").fetchall()
    wanted = ", ".join(f"null::{column.type} as {name_of(name)}" for name, column in contract.columns.items())
    wanted_rows = con.execute(f"describe select {wanted}").fetchall()
    for place, (made, said) in enumerate(zip(is_rows, wanted_rows, strict=False), start=1):
        if made[:2] != said[:2]:
            raise BuildError(
                f"{model.path}: column {place} is {made[0]} {made[1].lower()}; its contract says"
                f" {said[0]} {said[1].lower()}; mend the select or {model.path.with_suffix('.yml').name}"
            )
    if len(is_rows) != len(wanted_rows):
        odd = {row[0] for row in is_rows} ^ {row[0] for row in wanted_rows}
        raise BuildError(f"{model.path}: {', '.join(sorted(odd))} stands in one of select and contract only")


def _enforce_not_null(con: duckdb.DuckDBPyConnection, model: Model, contract: ModelContract) -> None:
    required = contract.required()
    if not required:
        return
    counts = ", ".join(f"count(*) - count({name_of(name)})" for name in required)
    row = con.execute(f"select {counts} from {model.full_name}").fetchone() or ()  # noqa: S608
    for name, nulls in zip(required, row, strict=True):
        if nulls:
            raise BuildError(f"{model.path}: {name} is null in {counted(nulls, 'rows')}; its contract allows none")


def _enforce_key(con: duckdb.DuckDBPyConnection, model: Model, contract: ModelContract) -> None:
    # Hashes first: a group-by of 18 million pairs of names would not fit beside the data.
    key = ", ".join(name_of(name) for name in contract.key)
    hashes = f"select hash({key}) from {model.full_name} group by 1 having count(*) > 1"  # noqa: S608
    rows = f"select {key} from {model.full_name} where hash({key}) in ({hashes})"  # noqa: S608
    repeated = con.execute(f"{rows} group by all having count(*) > 1 order by all").fetchall()
    if repeated:
        first = ", ".join(str(value) for value in repeated[0])
        raise BuildError(
            f"{model.path}: {counted(len(repeated), 'keys')} ({key}) repeated, the first {first!r:.200};"
            f" a join repeats rows, or the grain is not {contract.grain!r}"
        )
