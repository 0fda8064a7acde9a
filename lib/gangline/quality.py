"""How much of the input stands behind every page: what was read, what was not, and what to do about it."""

from collections.abc import Iterator
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from typing import NamedTuple

import duckdb
import polars as pl

from gangline.oddities import meaning_of
from gangline.warehouse.querying import query
from gangline.windows import Window

MOST_REJECTS = 200
MOST_DAYS = 800


class Topic(NamedTuple):
    """One line of the page's first table: how many, what that means, the mend."""

    topic: str
    found: int
    meaning: str
    mend: str


def summary(con: duckdb.DuckDBPyConnection, folder: Path) -> pl.DataFrame:
    """What a reader must know, a row a topic: topic, found, meaning, mend (a dash where nothing is found).

    Parameters
    ----------
    folder : Path
        The config's, which the files' paths start from.
    """
    topics = [topic if topic.found else topic._replace(mend="–") for topic in _topics(con, folder)]
    return pl.DataFrame(
        topics, schema={"topic": pl.String, "found": pl.Int64, "meaning": pl.String, "mend": pl.String}, orient="row"
    )


def totals(con: duckdb.DuckDBPyConnection) -> dict[str, int]:
    """Counts for the page's first sentence.

    Of files, records, loaded, ignored, rejected, oddities, checks, and checks that failed or warned.
    """
    row: dict[str, int] = query(con, _TOTALS).row(0, named=True)
    return row


def case(counts: dict[str, int]) -> str:
    """Which sentence fits: `nothing` was read, `clean`, or `damaged` (rejects or failed checks)."""
    if not counts["records"]:
        return "nothing"
    return "damaged" if counts["rejected"] or counts["failed"] else "clean"


def files(con: duckdb.DuckDBPyConnection) -> pl.DataFrame:
    """Every file that was read: path, kind, records, loaded, ignored, rejected, oddities, first_at, latest_at."""
    return query(con, _FILES)


def ignored(con: duckdb.DuckDBPyConnection) -> pl.DataFrame:
    """Records that are no rows by design: kind of source, what they are, records."""
    return query(con, _IGNORED)


def rejects(con: duckdb.DuckDBPyConnection) -> pl.DataFrame:
    """The first records that could not be read, by file: place (file:line), reason, text."""
    return query(con, _REJECTS, most=MOST_REJECTS)


def oddities(con: duckdb.DuckDBPyConnection) -> pl.DataFrame:
    """What was read but is strange, most first: kind, source, count, first_place, meaning, mend."""
    found = query(con, _ODDITIES)
    told = [meaning_of(kind) for kind in found["kind"].to_list()]
    return found.with_columns(
        meaning=pl.Series([one.meaning for one in told], dtype=pl.String),
        mend=pl.Series([one.mend for one in told], dtype=pl.String),
    )


def broken_checks(con: duckdb.DuckDBPyConnection) -> pl.DataFrame:
    """What must hold of the warehouse and does not, worst first: model, check, result, failing_rows, meaning."""
    return query(con, _CHECKS)


def unmapped(con: duckdb.DuckDBPyConnection) -> pl.DataFrame:
    """Words of sources that no seed maps, most first: what, source, word, rows."""
    return query(con, _UNMAPPED)


def changed_files(con: duckdb.DuckDBPyConnection, folder: Path) -> pl.DataFrame:
    """Files that are not there any more, or not as they were read: path, kind, records, change."""
    rows = [
        (path, kind, records, change)
        for path, kind, records, size_bytes in query(con, _PLACES).iter_rows()
        if (change := _change(folder / path, size_bytes))
    ]
    return pl.DataFrame(
        rows, schema={"path": pl.String, "kind": pl.String, "records": pl.Int64, "change": pl.String}, orient="row"
    )


def fileless(con: duckdb.DuckDBPyConnection) -> pl.DataFrame:
    """Entries of the config that found no file: kind, path."""
    return query(con, _FILELESS)


def coverage(con: duckdb.DuckDBPyConnection, window: Window) -> pl.DataFrame:
    """What the sources tell of each local day of the window: source, day, events, day_share of its busiest day.

    A row is a source and a day on which something starts, ends or is created; longer windows go by several days
    (`step_days`).
    """
    return query(con, _COVERAGE, start=window.start, end=window.end, zone=window.time_zone, step=step_days(window))


def step_days(window: Window) -> int:
    """Days that a cell of the coverage stands for, so that a row has at most 800."""
    return max(1, -(-round(window.days) // MOST_DAYS))


def midnights(window: Window) -> tuple[datetime, datetime]:
    """The window's first local day and the one after its last, as the zone's clock shows them (marked UTC)."""
    # the whole export ends a microsecond after its last instant, which may be a midnight
    last = (window.local_end - timedelta(microseconds=2)).date() if window.days else window.local_end.date()
    days = (window.local_start.date(), last + timedelta(days=1))
    first, after = (datetime.combine(day, time(), UTC) for day in days)
    return first, after


def _topics(con: duckdb.DuckDBPyConnection, folder: Path) -> Iterator[Topic]:
    counts = totals(con)
    yield from _record_topics(counts)
    yield from _check_topics(counts)
    yield Topic(
        "Words that no table maps",
        int(unmapped(con)["rows"].sum()),
        "Their rows count as unknown.",
        "Add the words to the seed that is named below.",
    )
    yield from _file_topics(con, folder)


def _record_topics(counts: dict[str, int]) -> Iterator[Topic]:
    yield Topic(
        "Records that could not be read",
        counts["rejected"],
        "They are in no figure.",
        "See the first ones below; correct the export, then run ingest again.",
    )
    yield Topic(
        "Oddities", counts["oddities"], "They were read, in the way that the table below says.", "See each kind below."
    )


def _check_topics(counts: dict[str, int]) -> Iterator[Topic]:
    yield Topic(
        "Checks that fail",
        counts["failed"],
        "Something that must hold of the tables does not: figures may be wrong.",
        "Follow the message below; if the data is right, this is a fault of the software.",
    )
    yield Topic(
        "Checks that warn",
        counts["warned"],
        "Rows that a reader should know of; figures stand.",
        "Follow the message below.",
    )


def _file_topics(con: duckdb.DuckDBPyConnection, folder: Path) -> Iterator[Topic]:
    yield Topic(
        "Files gone or changed since",
        changed_files(con, folder).height,
        "The warehouse still holds what was read from them.",
        "None where they were deleted on purpose; else run ingest again. ingest --rebuild forgets what is gone.",
    )
    yield Topic(
        "Sources without a file",
        fileless(con).height,
        "The config names them, but nothing matches.",
        "None where it was deleted on purpose; else correct the path in the config, or copy the export there.",
    )


def _change(path: Path, size_bytes: int) -> str:
    if not path.is_file():
        return "gone"
    return "changed since it was read" if path.stat().st_size != size_bytes else ""


_TOTALS = """
    select
        (select count(*) from meta.files) as files,
        (select coalesce(sum(records), 0)::bigint from meta.files) as records,
        (select coalesce(sum(loaded), 0)::bigint from meta.files) as loaded,
        (select coalesce(sum(ignored), 0)::bigint from meta.files) as ignored,
        (select coalesce(sum(rejected), 0)::bigint from meta.files) as rejected,
        (select coalesce(sum(count), 0)::bigint from meta.oddities) as oddities,
        (select count(*) from meta.checks) as checks,
        (select count(*) from meta.checks where failing_rows > 0 and severity = 'fail') as failed,
        (select count(*) from meta.checks where failing_rows > 0 and severity <> 'fail') as warned
"""
_FILES = """
    with odd as (select file_id, sum(count)::bigint as oddities from meta.oddities group by file_id)
    select path, kind, size_bytes, records, loaded, ignored, rejected, coalesce(odd.oddities, 0) as oddities, first_at,
        latest_at
    from meta.files left join odd using (file_id)
    order by rejected desc, records desc, path, kind
"""
_IGNORED = """
    with kept as (select kind, unnest(json_keys(ignored_kinds)) as what, ignored_kinds from meta.files)
    select kind as source, what, sum((ignored_kinds ->> ('$."' || what || '"'))::bigint)::bigint as records
    from kept group by all order by records desc, source, what
"""
_REJECTS = """
    with numbered as (
        select files.path || coalesce(':' || line, '') as place, reason, text, files.path, line,
            row_number() over (partition by rejects.file_id order by line nulls last, reason) as position
        from meta.rejects as rejects join meta.files as files using (file_id)
    )
    select place, reason, text from numbered order by position > 20, path, line, reason limit $most
"""
_ODDITIES = """
    with placed as (
        select oddities.kind, files.kind as source, oddities.count, files.path || coalesce(':' || line, '') as place
        from meta.oddities as oddities join meta.files as files using (file_id)
    )
    select kind, source, sum(count)::bigint as count, min(place) as first_place
    from placed group by all order by count desc, kind, source
"""
_CHECKS = """
    select model, check_name as "check",
        if(severity = 'fail', 'fails', 'warns') as result,
        failing_rows, message as meaning
    from meta.checks where failing_rows > 0
    order by severity, failing_rows desc, model, check_name
"""
_UNMAPPED = """
    select 'end of a session (sql/seeds/end_reasons.csv)' as what, source, source_state as word, count(*) as rows
    from marts.sessions where end_reason = 'unknown' and source_state is not null group by all
    union all
    select 'state of a node (sql/seeds/node_state_words.csv)', source, state, count(*)
    from marts.node_states where state_kind = 'unknown' group by all
    order by rows desc, what, source, word
"""
_PLACES = "select path, kind, records, size_bytes from meta.files order by path, kind"
_FILELESS = """
    select kind, path from meta.sources
    where is_configured and file_count = 0 order by position
"""
_COVERAGE = """
    with told as (
        select source, (events.at at time zone $zone)::date as day from marts.events as events
        where events.at >= $start and events.at < $end
    ),
    stepped as (
        select source, ($start::timestamptz at time zone $zone)::date
            + ((day - ($start::timestamptz at time zone $zone)::date) // $step * $step)::integer as day
        from told
    ),
    counted as (select source, day, count(*) as events from stepped group by all)
    select *, events / max(events) over (partition by source) as day_share from counted order by source, day
"""
