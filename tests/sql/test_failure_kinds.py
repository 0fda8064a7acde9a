"""Every signature and class of the other seeds has its kind of fault, and every kind its place on the page."""

from collections.abc import Iterator

import duckdb
import pytest

from gangline import taxonomies
from gangline.build import build
from gangline.roles import ROLES
from tests.sql.given import warehouse_of

SEEDS = ("failure_kinds", "published_kinds", "case_measures", "log_signature_rules", "xid_codes")


@pytest.fixture(scope="module")
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    with warehouse_of({}) as opened:
        build(opened, only=SEEDS)
        yield opened


def _names(con: duckdb.DuckDBPyConnection, sql: str) -> set[str]:
    return {name for (name,) in con.execute(sql).fetchall()}


def test_every_signature_that_tells_a_cause_has_a_kind(con: duckdb.DuckDBPyConnection) -> None:
    told = _names(con, "select signature from staging.log_signature_rules where role <> 'cascade'")
    assert told == _names(con, "select name from staging.failure_kinds where evidence = 'signature'")


def test_every_class_of_codes_has_a_kind(con: duckdb.DuckDBPyConnection) -> None:
    classes = _names(con, "select report_class from staging.xid_codes") | {"nvswitch", "unknown"}
    assert classes == _names(con, "select name from staging.failure_kinds where evidence = 'incident'")


def test_kinds_are_those_of_the_page(con: duckdb.DuckDBPyConnection) -> None:
    kinds = _names(con, "select kind from staging.published_kinds")
    assert kinds == set(taxonomies.KINDS)
    assert _names(con, "select kind from staging.failure_kinds") == kinds
    symptoms = "select signature from staging.log_signature_rules where role = 'symptom'"
    told = "select name from staging.failure_kinds where kind = 'not_attributed'"
    assert _names(con, symptoms) == _names(con, told)


def test_measures_of_cases_are_roles(con: duckdb.DuckDBPyConnection) -> None:
    measures = _names(con, "select unnest(string_split(measures, ' ')) from staging.case_measures")
    assert measures - set(ROLES) == {"getattr_response"}
    classes = _names(con, "select class from staging.case_measures")
    assert classes - {"row_remaps", "other"} <= _names(con, "select report_class from staging.xid_codes") | {"nvswitch"}
