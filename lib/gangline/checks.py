"""What must hold of a built warehouse: model checks, identities, macro assertions and free-standing checks."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

import duckdb

from gangline.contracts import CheckContract, MacroContract, ModelContract, Severity
from gangline.estimates.wording import counted
from gangline.models import Model


@dataclass(frozen=True)
class CheckResult:
    """One check: how many rows break it, and what that likely means."""

    model: str
    check_name: str
    severity: Severity
    failing_rows: int
    message: str

    def __str__(self) -> str:
        """One line for a log or a terminal."""
        return f"{self.model}: {self.check_name}: {counted(self.failing_rows, 'failing rows')}: {self.message}"


@dataclass(frozen=True)
class _Question:
    name: str
    sql: str
    severity: Severity
    message: str


def run_model_checks(con: duckdb.DuckDBPyConnection, model: Model) -> Iterator[CheckResult]:
    """Asks all that one model's contract asks; a statement that cannot run counts as one failing row."""
    for question in _questions(model):
        try:
            row = con.execute(f"select count(*) from ({question.sql})").fetchone()  # noqa: S608
            failing, message = int(row[0]) if row else 0, question.message
        except duckdb.Error as error:
            failing, message = 1, f"the check itself cannot run: {str(error).splitlines()[0]}"
        yield CheckResult(model.full_name, question.name, question.severity, failing, message)


def _questions(model: Model) -> Iterator[_Question]:
    contract = model.contract
    if isinstance(contract, CheckContract):
        yield _Question(model.name, model.sql, contract.severity, contract.message)
    elif isinstance(contract, MacroContract):
        for name, assertion in contract.assertions.items():
            sql = f"select 1 where ({assertion}) is distinct from true"  # noqa: S608 - the project's own contracts
            yield _Question(name, sql, Severity.FAIL, f"the macro no longer meets: {assertion.strip()}")
    else:
        yield from _model_questions(model, contract)


def _model_questions(model: Model, contract: ModelContract) -> Iterator[_Question]:
    for name, check in contract.checks.items():
        yield _Question(name, check.sql.strip().removesuffix(";"), check.severity, check.message)
    for name, identity in contract.identities.items():
        sql = f"select 1 from {model.full_name} where not ({identity})"  # noqa: S608
        yield _Question(name, sql, Severity.FAIL, f"does not hold in every row: {identity.strip()}")


def write_checks(con: duckdb.DuckDBPyConnection, results: Iterable[CheckResult]) -> None:
    """Replaces `meta.checks` by these results."""
    con.execute(
        "create or replace table meta.checks"
        " (model varchar, check_name varchar, severity varchar, failing_rows bigint, message varchar)"
    )
    rows = [(r.model, r.check_name, str(r.severity), r.failing_rows, r.message) for r in results]
    if rows:
        marks = ", ".join(["(?, ?, ?, ?, ?)"] * len(rows))
        con.execute(f"insert into meta.checks values {marks}", list(chain.from_iterable(rows)))  # noqa: S608
