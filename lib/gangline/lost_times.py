"""Work lost at each end: by the steps that were done again, else by the last save completed before."""

from collections.abc import Mapping

import duckdb
import polars as pl

from gangline.cadences import NO_STAGE
from gangline.estimates import Estimate
from gangline.estimates.means import mean
from gangline.estimates.wording import counted
from gangline.exposures import Exposure
from gangline.units import SECONDS_PER_HOUR
from gangline.warehouse.querying import query

STEPS, SAVE, TRAINING, UNTRAINED = "steps", "save", "begin of training", "never trained"
EVIDENCE = {
    STEPS: "the last step reached less the one that the next run resumed from, times the step time",
    SAVE: "from the last save completed to the end",
    TRAINING: "from the begin of training to the end: no save was completed",
    UNTRAINED: "nothing: it never trained",
}
"""What tells the lost time, best first."""
UNUSABLE = "resumed from an earlier checkpoint than the last: it could not be used"
UNSEEN = "less was lost than since the last save: a later one was not seen, or no step was done before the end"
SLACK_ROWS = 2
"""A run may resume so many of its history's rows past the last that was logged; beyond that, another trained."""
NO_END = "no end is neither completed nor planned"
UNTOLD = "neither steps of the next run nor telemetry of saves tell what was lost"


def by_end(con: duckdb.DuckDBPyConnection, found: Exposure, intervals_h: Mapping[str, float]) -> pl.DataFrame:
    """A row an abnormal end of the window: what it lost, by which evidence, and what the other evidence says.

    The next run is that of the first later gang session of the lineage with the same owner and run name, or of a new
    name whose steps go on from this run's: where a lineage holds several jobs, each counts its own steps.

    Parameters
    ----------
    intervals_h : mapping
        Median interval between saves by stage: evidence that differs by more is `finding`, an unusable checkpoint
        where the steps say that more was lost.

    Returns
    -------
    DataFrame
        session_id, ended_at, end_class, stage, lost_h, evidence (a key of `EVIDENCE`; null with `reason`), by_steps_h,
        lost_steps, last_step, resumed_step, step_s, next_session_id, by_save_h, save_id, save_ended_at, unseen_h (hours
        before the end without telemetry, in which a save may hide), interval_h, finding.
    """
    rows = query(con, _BY_END, none=NO_STAGE, ids=found.ends["session_id"].to_list())
    known = pl.DataFrame(list(intervals_h.items()), schema=_INTERVAL_SCHEMA, orient="row")
    return _judged(rows.join(known, on="stage", how="left", maintain_order="left")).select(_COLUMNS)


def figures(lost: pl.DataFrame) -> dict[str, Estimate]:
    """`checkpoints.lost_mean_h` and `lost_total_h` over the ends of `by_end` whose lost time is known."""
    known = lost["lost_h"].drop_nulls()
    if known.is_empty():
        reason = UNTOLD if lost.height else NO_END
        return {name: Estimate.missing("h", reason, n=0) for name in ("checkpoints.lost_mean_h", _TOTAL)}
    gap = lost.height - known.len()
    unknown = f"; {gap} of {counted(lost.height, 'ends')} not known" if gap else ""
    total = Estimate(float(known.sum()), "h", known.len(), method=f"sum over ends{unknown}")
    return {"checkpoints.lost_mean_h": mean(lost["lost_h"].to_list(), "h", least=0.0), _TOTAL: total}


def by_evidence(lost: pl.DataFrame) -> pl.DataFrame:
    """Ends by what tells their lost time, best first: evidence, meaning, ends, lost_h."""
    counted = lost.group_by("evidence").agg(pl.len().cast(pl.Int64).alias("ends"), pl.col("lost_h").sum())
    order = pl.col("evidence").replace_strict(_PLACES, default=len(_PLACES), return_dtype=pl.Int64)
    meaning = pl.col("evidence").replace_strict(EVIDENCE, default=UNTOLD, return_dtype=pl.String).alias("meaning")
    named = pl.col("evidence").fill_null("not known")
    lost_h = pl.when(pl.col("evidence").is_not_null()).then("lost_h")
    return counted.sort(order).select(named, meaning, "ends", lost_h)


def findings(lost: pl.DataFrame) -> pl.DataFrame:
    """Ends at which steps and saves disagree by more than an interval, furthest first."""
    return (
        lost.drop_nulls("finding")
        .sort((pl.col("by_steps_h") - pl.col("by_save_h")).abs(), "session_id", descending=[True, False])
        .select("session_id", "ended_at", "by_steps_h", "by_save_h", "interval_h", "save_id", "finding")
    )


def table(lost: pl.DataFrame) -> pl.DataFrame:
    """Every end: what it lost and by which evidence, both kinds of evidence beside each other, who resumed."""
    return lost.select(_TABLE_COLUMNS)


_TOTAL = "checkpoints.lost_total_h"
_PLACES = {name: place for place, name in enumerate(EVIDENCE)}
_TABLE_COLUMNS = (
    "session_id",
    "ended_at",
    "end_class",
    "stage",
    "lost_h",
    "evidence",
    "by_steps_h",
    "lost_steps",
    "by_save_h",
    "save_ended_at",
    "unseen_h",
    "next_session_id",
    "reason",
)
_INTERVAL_SCHEMA = {"stage": pl.String, "interval_h": pl.Float64}
_COLUMNS = (
    "session_id",
    "ended_at",
    "end_class",
    "stage",
    "lost_h",
    "evidence",
    "by_steps_h",
    "lost_steps",
    "last_step",
    "resumed_step",
    "step_s",
    "next_session_id",
    "by_save_h",
    "save_id",
    "save_ended_at",
    "unseen_h",
    "interval_h",
    "finding",
    "reason",
)
_BY_END = f"""
    with ends as (select * from marts.sessions where session_id in (select unnest($ids::varchar[]))),
    processes as (select * from marts.run_processes where session_id is not null),
    saves as (select * from marts.checkpoint_saves),
    phases as (select * from marts.phases),
    steps as (
        select session_id, arg_max(median_step_s, last_step_at) as step_s
        from processes where median_step_s is not null group by session_id
    ),
    resumed as (
        select session_id, arg_min(coalesce(starting_step, first_step), coalesce(first_step_at, started_at))
                as resumed_step,
            max((max_step - first_step) / nullif(history_rows - 1, 0)) as row_steps
        from processes where coalesce(starting_step, first_step) is not null group by session_id
    ),
    reached as (
        select ends.*, resumed.resumed_step as own_step,
            ends.last_step + coalesce({SLACK_ROWS} * resumed.row_steps, 1) as reach_step
        from ends left join resumed using (session_id)
    ),
    candidates as (
        select sessions.session_id, sessions.lineage_id, sessions.owner, sessions.run_name, sessions.started_at,
            resumed.resumed_step, row_number() over (
                partition by sessions.lineage_id, sessions.owner, sessions.run_name
                order by sessions.started_at, sessions.session_id
            ) = 1 as is_first_of_name
        from marts.sessions as sessions join resumed using (session_id) where sessions.is_gang
    ),
    followers as (
        select reached.session_id, arg_min(struct_pack(id := later.session_id, step := later.resumed_step),
            struct_pack(started_at := later.started_at, id := later.session_id)) as next
        from reached
        join candidates as later on later.lineage_id = reached.lineage_id and later.session_id <> reached.session_id
            and later.started_at >= reached.ended_at - interval 1 minute
        where (later.owner is not distinct from reached.owner and later.run_name is not distinct from reached.run_name)
            or (later.is_first_of_name and later.resumed_step between reached.own_step and reached.reach_step)
        group by reached.session_id
    ),
    last_saves as (
        select ends.session_id, arg_max(struct_pack(id := saves.save_id, ended_at := saves.ended_at),
            struct_pack(ended_at := saves.ended_at, id := saves.save_id)) as save
        from ends join saves on saves.session_id = ends.session_id and saves.is_completed
        group by ends.session_id
    ),
    staged as (
        select session_id, arg_max(stage, started_at) as stage from saves group by session_id
    ),
    periods as (
        select ends.session_id, min(stages.name) as stage
        from ends join meta.stages as stages on ends.ended_at >= coalesce(stages.from_at, ends.ended_at)
            and (stages.to_at is null or ends.ended_at < stages.to_at)
        group by ends.session_id
    ),
    seen as (
        select session_id from marts.checkpoint_sessions where save_evidence is not null
    ),
    based as (
        select reached.*, steps.step_s, followers.next.id as next_session_id,
            followers.next.step as resumed_step, last_saves.save.id as save_id,
            last_saves.save.ended_at as save_ended_at, seen.session_id is not null as is_seen,
            coalesce(staged.stage, periods.stage, $none) as stage,
            coalesce(last_saves.save.ended_at, reached.training_from) as safe_at
        from reached
        left join steps using (session_id)
        left join followers using (session_id)
        left join last_saves using (session_id)
        left join staged using (session_id)
        left join periods using (session_id)
        left join seen using (session_id)
    ),
    hidden as (
        select based.session_id, sum(hours_between(greatest(phases.started_at, based.safe_at),
            least(phases.ended_at, based.ended_at))) as unseen_h
        from based join phases on phases.session_id = based.session_id and phases.phase = 'unknown'
            and phases.ended_at > based.safe_at and phases.started_at < based.ended_at
        group by based.session_id
    )
    select based.session_id, ended_at, end_class, stage, last_step, resumed_step, step_s, next_session_id,
        save_id, save_ended_at, coalesce(not reached_training, false) as is_untrained,
        case
            when resumed_step > reach_step then null
            when last_step < resumed_step then 0
            else last_step - resumed_step
        end as lost_steps,
        lost_steps * step_s / {SECONDS_PER_HOUR} as by_steps_h,
        case when is_seen then if(safe_at > ended_at, 0, hours_between(safe_at, ended_at)) end as by_save_h,
        case when is_seen then coalesce(hidden.unseen_h, 0) end as unseen_h
    from based left join hidden using (session_id)
    order by ended_at, based.session_id
"""  # noqa: S608


def _judged(rows: pl.DataFrame) -> pl.DataFrame:
    """Choose the best evidence, and say where the two differ by more than an interval."""
    by_steps, by_save, more = pl.col("by_steps_h"), pl.col("by_save_h"), pl.col("by_steps_h") - pl.col("by_save_h")
    saved = pl.when(pl.col("save_id").is_null()).then(pl.lit(TRAINING)).otherwise(pl.lit(SAVE))
    evidence = (
        pl.when(by_steps.is_not_null())
        .then(pl.lit(STEPS))
        .when("is_untrained")
        .then(pl.lit(UNTRAINED))
        .when(by_save.is_not_null())
        .then(saved)
    )
    lost = pl.coalesce(by_steps, pl.when("is_untrained").then(pl.lit(0.0)), by_save)
    is_unusable = (more > pl.col("interval_h")) & pl.col("save_id").is_not_null()
    finding = pl.when(is_unusable).then(pl.lit(UNUSABLE)).when(-more > pl.col("interval_h")).then(pl.lit(UNSEEN))
    return rows.with_columns(
        lost_h=lost,
        evidence=evidence,
        finding=finding,
        reason=pl.when(lost.is_null()).then(pl.lit(UNTOLD)),
    )
