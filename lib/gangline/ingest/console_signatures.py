"""Console lines that tell why a program ended: each rule's pattern becomes part of one query.

A pattern that comes from a table is compiled again for every line, which takes a thousand times as long.
"""

import duckdb

from gangline.config.model import Config
from gangline.quoting import text as quoted

_FILL = """
insert into meta.console_signatures
with hits as materialized (
    select file_id, line, ordinal, text from staging.stg_exports__console_lines
    where regexp_matches(text, {any_rule}, 'i')
)
select file_id, line, ordinal, case {cases} end from hits
"""


def fill_console_signatures(con: duckdb.DuckDBPyConnection, config: Config) -> None:
    """Fills `meta.console_signatures`: a row for each console line that a rule matches, with the first that does."""
    con.execute("delete from meta.console_signatures")
    rules = con.execute("select rule_id, pattern from staging.log_signature_rules order by precedence").fetchall()
    if rules:
        con.execute(signing_query(rules))


def signing_query(rules: list[tuple[str, str]]) -> str:
    """The query that gives each line of the warehouse's console its rule.

    Parameters
    ----------
    rules
        Name and pattern, the one that counts first ahead.
    """
    any_rule = "|".join(f"(?:{pattern})" for _, pattern in rules)
    cases = " ".join(
        f"when regexp_matches(text, {quoted(pattern)}, 'i') then {quoted(name)}" for name, pattern in rules
    )
    return _FILL.format(any_rule=quoted(any_rule), cases=cases)
