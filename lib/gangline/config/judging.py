"""What no single key shows: patterns for the engine that runs them, stretches that end, sources named once."""

import re
from collections.abc import Iterator

import duckdb

from gangline.config.lines import Key
from gangline.config.model import Config

Finding = tuple[Key, str]


def judge(config: Config) -> Iterator[Finding]:
    """Yields what is wrong with a config whose keys and types are right: the key and the mend."""
    yield from _patterns(config)
    yield from _stretches(config)
    yield from _sources(config)


def _patterns(config: Config) -> Iterator[Finding]:
    for pattern in config.telemetry.node_strip:
        if problem := _python_refuses(pattern):
            yield ("telemetry", "node_strip"), f"{pattern!r} is no regular expression: {problem}"
    for pattern in config.cluster.run_name_strip:
        if problem := _python_refuses(pattern) or _database_refuses(pattern):
            yield ("cluster", "run_name_strip"), f"{pattern!r} is no regular expression: {problem}"
    for pattern in config.runs.link_patterns:
        if problem := _python_refuses(pattern) or _database_refuses(pattern) or _lacks_group(pattern):
            yield ("runs", "link_patterns"), f"{pattern!r} is no regular expression: {problem}"


def _python_refuses(pattern: str) -> str | None:
    try:
        re.compile(pattern)
    except re.error as error:
        return str(error)
    return None


def _database_refuses(pattern: str) -> str | None:
    """DuckDB's expressions (RE2) know no look-around and no back-reference."""
    try:
        duckdb.execute("select regexp_matches('', ?)", [pattern]).fetchall()
    except duckdb.Error as error:
        return f"{str(error).partition(': ')[2]} (DuckDB reads it: no look-around, no back-reference)"
    return None


def _lacks_group(pattern: str) -> str | None:
    return None if re.compile(pattern).groups else "it has no group (…) that holds the session's id"


def _stretches(config: Config) -> Iterator[Finding]:
    for name in ("stages", "maintenance", "nodes"):
        for place, period in enumerate(getattr(config, name)):
            if period.from_at is not None and period.to_at is not None and period.to_at <= period.from_at:
                yield (name, place, "to"), f"{period.to_at.isoformat()} is not after from {period.from_at.isoformat()}"


def _sources(config: Config) -> Iterator[Finding]:
    seen: set[tuple[str, str | None, str]] = set()
    for place, entry in enumerate(config.sources):
        named = (str(entry.kind), entry.source_cluster, entry.path)
        if named in seen:
            yield ("sources", place, "path"), f"an entry above names the same {entry.kind} files; leave one of them"
        seen.add(named)
