"""Rules of log signatures: each has its lines, and no line of a healthy program has a rule."""

import csv
from pathlib import Path

import duckdb
import pytest

from gangline.build import build
from gangline.config.model import Config
from gangline.ingest.console_signatures import fill_console_signatures
from tests.sql.given import warehouse_of

EXAMPLES = Path(__file__).parent / "console_examples.csv"
CONFIG = Config.model_validate({"cluster": {"name": "test", "time_zone": "UTC"}})


def examples() -> list[tuple[str | None, str]]:
    with EXAMPLES.open(encoding="utf-8", newline="") as lines:
        return [(row["rule_id"] or None, row["text"]) for row in csv.DictReader(lines)]


@pytest.fixture(scope="module")
def signed() -> dict[str, str | None]:
    """Each example's text and the rule that it was given, by the build's own way."""
    with warehouse_of({}) as con:
        con.executemany(
            "insert into raw.console_records (file_id, line, ordinal, text) values ('export', ?, ?, ?)",
            [(place, place, text) for place, (_, text) in enumerate(examples(), start=1)],
        )
        build(con, only=["log_signatures"], fillers=fillers())
        query = """
            select lines.text, signs.rule_id
            from raw.console_records as lines
            left join marts.log_signatures as signs on signs.ordinal = lines.ordinal
        """
        return dict(con.execute(query).fetchall())


def fillers() -> dict[str, object]:
    def fill(con: duckdb.DuckDBPyConnection) -> None:
        fill_console_signatures(con, CONFIG)

    return {"intermediate.int_console_lines_signed": fill}


@pytest.mark.parametrize(("rule_id", "text"), examples())
def test_a_line_has_the_rule_that_tells_it(signed: dict[str, str | None], rule_id: str | None, text: str) -> None:
    assert signed[text] == rule_id


def test_each_rule_has_an_example() -> None:
    with warehouse_of({}) as con:
        build(con, only=["log_signature_rules"])
        rules = {rule_id for (rule_id,) in con.execute("select rule_id from staging.log_signature_rules").fetchall()}
    assert {rule_id for rule_id, _ in examples() if rule_id} == rules
