"""Training runs of a window: how they ended, and which session each belongs to."""

from collections.abc import Mapping

import duckdb
import polars as pl

from gangline.estimates import Estimate
from gangline.estimates.proportions import proportion
from gangline.warehouse.querying import query
from gangline.windows import Window

UNLINKED = "not linked"
LINK_RULES = {
    "pattern": "a pattern of the config",
    "config_key": "a key of the run that holds the session's id",
    "group": "its group and the time",
    "name": "its name and the time",
    UNLINKED: "nothing",
}


def by_run(con: duckdb.DuckDBPyConnection, window: Window) -> pl.DataFrame:
    """Runs that were there in the window, by start, with `effort` and `began_within`.

    Rows of `marts.runs`; one whose time no file tells belongs to the whole export only.
    """
    return query(con, f"{SHOWN} select * from shown order by started_at, run_id", **span_of(window))  # noqa: S608


def case(con: duckdb.DuckDBPyConnection, runs: pl.DataFrame) -> str:
    """Which sentence fits.

    `no_source` (no run in the export), `none` (none in the window), `no_history` (no step of any), else `found`.
    """
    if runs.is_empty():
        return "none" if query(con, "select exists(from marts.runs) as found").item() else "no_source"
    return "found" if runs["history_rows"].sum() else "no_history"


def states(runs: pl.DataFrame) -> pl.DataFrame:
    """How runs stood at the export: state, runs, with_steps; commonest first."""
    counted = runs.group_by("state").agg(
        pl.len().cast(pl.Int64).alias("runs"), (pl.col("history_rows") > 0).sum().cast(pl.Int64).alias("with_steps")
    )
    return counted.sort(["runs", "state"], descending=[True, False])


def links(runs: pl.DataFrame) -> pl.DataFrame:
    """What linked runs to their sessions: link_rule, meaning, runs, run_share; rules that linked none left out."""
    rules = runs.select(pl.col("link_rule").fill_null(UNLINKED)).group_by("link_rule").agg(runs=pl.len().cast(pl.Int64))
    places = {name: place for place, name in enumerate(LINK_RULES)}
    place = pl.col("link_rule").replace_strict(places, default=len(places), return_dtype=pl.Int64)
    meaning = pl.col("link_rule").replace_strict(LINK_RULES, default="", return_dtype=pl.String)
    share = pl.col("runs") / pl.col("runs").sum()
    return rules.sort(place, "link_rule").select(
        "link_rule", meaning.alias("meaning"), "runs", share.alias("run_share")
    )


def unlinked(runs: pl.DataFrame) -> pl.DataFrame:
    """Runs that belong to no session, with what could have linked them."""
    return runs.filter(pl.col("session_id").is_null()).select(_UNLINKED_COLUMNS)


def table(runs: pl.DataFrame) -> pl.DataFrame:
    """Every run: how it ended, its session and what says so, its steps, what it did again."""
    return runs.select(_TABLE_COLUMNS)


def gangs_with_runs(con: duckdb.DuckDBPyConnection, window: Window) -> Estimate:
    """Gang sessions that start in the window and have a linked run, over all gang sessions that do."""
    linked, count = query(con, _GANGS, start=window.start, end=window.end).row(0)
    if not count:
        return Estimate.missing("ratio", "no gang session starts in the window", n=0, numerator=0)
    return proportion(linked, count)


def counts(runs: pl.DataFrame) -> dict[str, int]:
    """Numbers for sentences: runs, linked, with_steps, sampled, unfinished (the file shows no end), nan_runs."""
    conditions: Mapping[str, pl.Expr] = {
        "linked": pl.col("session_id").is_not_null(),
        "with_steps": pl.col("history_rows") > 0,
        "sampled": pl.col("is_sampled").fill_null(value=False),
        "unfinished": pl.col("is_censored"),
        "nan_runs": pl.col("nan_steps") > 0,
        "damaged": pl.col("bytes_unread") > 0,
    }
    return {"runs": runs.height} | {name: runs.filter(condition).height for name, condition in conditions.items()}


def span_of(window: Window) -> dict[str, object]:
    """The values that `SHOWN` asks for."""
    return {"start": window.start, "end": window.end, "is_whole": window.is_whole}


_UNLINKED_COLUMNS = ("run_id", "display_name", "owner", "host", "started_at", "ended_at", "state", "history_rows")
_TABLE_COLUMNS = (
    "run_id",
    "display_name",
    "owner",
    "started_at",
    "ended_at",
    "state",
    "session_id",
    "link_rule",
    "first_step",
    "max_step",
    "history_rows",
    "median_step_s",
    "inner_restarts",
    "rework_steps",
    "nan_steps",
    "processes",
)
_GANGS = """
    select count(*) filter (session_id in (select session_id from marts.run_processes)) as linked, count(*) as gangs
    from marts.sessions where is_gang and started_at >= $start and started_at < $end
"""
SHOWN = """
    with shown as (
        select runs.*, coalesce(sessions.run_name, run_name_of(runs.display_name, settings.run_name_strip), runs.run_id)
                as effort,
            coalesce(runs.started_at >= $start, false) as began_within
        from marts.runs as runs
        left join marts.sessions as sessions using (session_id)
        cross join meta.settings as settings
        where case
            when runs.started_at is null then $is_whole
            else runs.started_at < $end and coalesce(runs.ended_at, runs.started_at) >= $start
        end
    )
"""
"""The common table expression `shown`: runs that were there in the window."""
