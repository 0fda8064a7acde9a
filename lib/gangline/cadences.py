"""How often checkpoints are saved: intervals by training stage, saves that were missed, saves made twice."""

from collections.abc import Iterable

import duckdb
import polars as pl

from gangline.estimates import Estimate
from gangline.estimates.quantiles import median, quantiles
from gangline.units import BYTES_PER_GB, MINUTES_PER_HOUR, SECONDS_PER_HOUR
from gangline.warehouse.querying import query
from gangline.windows import Window

NO_STAGE = "no_stage"
"""Where saves belong to no stage that the config or their run names."""
TOLERANCE = 0.1
ROUNDING = 1e-9
DOUBLED_RATIO = 0.5
NO_SAVE = "no save of the stage starts in the window"
ONLY_FIRST = "each save of the stage is the first of its session, so none has an interval"
NO_STALL_TOLD = "nothing tells how long saves of the stage held training up"
REGULAR, MISSED, DOUBLED, OTHER = "as usual", "one missed", "soon after another", "otherwise"


def saves(con: duckdb.DuckDBPyConnection, window: Window) -> pl.DataFrame:
    """Saves that start in the window, by start: rows of `marts.checkpoint_saves` with `interval_h` and `write_share`.

    `stage` is `no_stage` where none is known.
    """
    return query(con, _SAVES, start=window.start, end=window.end, none=NO_STAGE)


def stages(con: duckdb.DuckDBPyConnection) -> list[str]:
    """Every stage of the export, those of the config first, then by first save; `no_stage` where saves have none."""
    found: list[str] = query(con, _STAGES, none=NO_STAGE)["stage"].to_list()
    return found or [NO_STAGE]


def interval(saves: pl.DataFrame, stage: str) -> Estimate:
    """Median interval between saves of a stage in hours, with its order-statistic interval."""
    own = saves.filter(pl.col("stage") == stage)
    known = own["interval_h"].drop_nulls()
    if known.is_empty():
        return Estimate.missing("h", ONLY_FIRST if own.height else NO_SAVE, n=0)
    return median(known.to_numpy(), "h")


def stall(saves: pl.DataFrame, stage: str) -> Estimate:
    """Median time that a save of a stage held training up, in seconds."""
    own = saves.filter(pl.col("stage") == stage)
    known = own["stall_s"].drop_nulls()
    if known.is_empty():
        return Estimate.missing("s", _stall_reason(own), n=0)
    return median(known.to_numpy(), "s")


def judged(saves: pl.DataFrame) -> pl.DataFrame:
    """Saves that have an interval, with the stage's `median_h` and what each interval is.

    `kind`: `as usual` (within 10 % of the median), `one missed` (within 10 % of twice the median), `soon after another`
    (under half of the median), else `otherwise`.
    """
    known = saves.drop_nulls("interval_h")
    middle = pl.col("interval_h").median().over("stage")
    times = pl.col("interval_h") / middle
    kind = (
        pl.when((times - 1).abs() <= TOLERANCE + ROUNDING)
        .then(pl.lit(REGULAR))
        .when((times - 2).abs() <= 2 * TOLERANCE + ROUNDING)
        .then(pl.lit(MISSED))
        .when(times < DOUBLED_RATIO)
        .then(pl.lit(DOUBLED))
        .otherwise(pl.lit(OTHER))
    )
    return known.with_columns(median_h=middle, kind=kind)


def by_stage(saves: pl.DataFrame, stages: Iterable[str]) -> pl.DataFrame:
    """A row a stage with saves: counts, the median interval with its interval and quartiles in minutes, shares.

    `usual_share` and `missed_share` are the shares of intervals within 10 % of once and twice the median.
    """
    rows = [_stage_row(saves, stage) for stage in stages]
    return pl.DataFrame(rows, schema=_STAGE_SCHEMA, orient="row").filter(pl.col("saves") > 0)


def irregular(judged: pl.DataFrame) -> pl.DataFrame:
    """Saves whose interval is not as usual, furthest from the median first, with minutes and times of the median."""
    times = pl.col("interval_h") / pl.col("median_h")
    return (
        judged.filter(pl.col("kind") != REGULAR)
        .sort(times.log().abs(), "save_id", descending=[True, False])
        .select("save_id", "session_id", "stage", "started_at", _MINUTES, times.alias("times_median"), "kind")
    )


def by_evidence(saves: pl.DataFrame) -> pl.DataFrame:
    """Saves by what tells their stall: stage, stall_evidence, saves, stall_s (median), resolution_s, stall_reason."""
    keys = ("stage", "stall_evidence", "stall_reason")
    counted = saves.group_by(keys).agg(
        pl.len().cast(pl.Int64).alias("saves"),
        pl.col("stall_s").median(),
        pl.col("stall_resolution_s").median().alias("resolution_s"),
    )
    order = ("stage", "stall_evidence", "saves", "stall_s", "resolution_s", "stall_reason")
    return counted.sort(keys, nulls_last=True).select(order)


def table(saves: pl.DataFrame) -> pl.DataFrame:
    """Every save: what it wrote, how long it took, what it cost, and how long after the one before."""
    written = (pl.col("bytes") / BYTES_PER_GB).alias("written_gb")
    rates = [(pl.col(f"{name}_bytes_per_s") / BYTES_PER_GB).alias(f"{name}_gb_per_s") for name in ("mean", "peak")]
    head = ("save_id", "session_id", "stage", "started_at", _MINUTES, "duration_s", "stall_s", "stall_evidence")
    return saves.select(*head, written, *rates, "writer_nodes", "save_evidence")


_MINUTES = (pl.col("interval_h") * MINUTES_PER_HOUR).alias("interval_min")
_STAGE_SCHEMA = {
    "stage": pl.String,
    "saves": pl.Int64,
    "sessions": pl.Int64,
    "intervals": pl.Int64,
    "median_min": pl.Float64,
    "low_min": pl.Float64,
    "high_min": pl.Float64,
    "q1_min": pl.Float64,
    "q3_min": pl.Float64,
    "usual_share": pl.Float64,
    "missed_share": pl.Float64,
    "missed": pl.Int64,
    "doubled": pl.Int64,
}
_SAVES = f"""
    select saves.* replace (coalesce(stage, $none) as stage), interval_s / {SECONDS_PER_HOUR} as interval_h,
        mean_bytes_per_s / rules.max_write_bytes_per_s as write_share
    from marts.checkpoint_saves as saves cross join marts.checkpoint_rules as rules
    where started_at >= $start and started_at < $end
    order by started_at, save_id
"""  # noqa: S608
_STAGES = """
    with named as (
        select name as stage, 0 as place, min(from_at) as from_at from meta.stages group by name
        union all
        select coalesce(stage, $none), if(stage is null, 2, 1), min(started_at) from marts.checkpoint_saves group by all
    )
    select stage from named group by stage order by min(place), min(from_at) nulls first, stage
"""


def _stall_reason(own: pl.DataFrame) -> str:
    if own.is_empty():
        return NO_SAVE
    reasons = own["stall_reason"].drop_nulls().mode().sort()
    return str(reasons[0]) if reasons.len() else NO_STALL_TOLD


def _stage_row(saves: pl.DataFrame, stage: str) -> tuple[object, ...]:
    own = saves.filter(pl.col("stage") == stage)
    kinds = judged(own)["kind"]
    counts = {kind: int((kinds == kind).sum()) for kind in (REGULAR, MISSED, DOUBLED)}
    middle = interval(saves, stage)
    edges = (middle.value, middle.low, middle.high, *quantiles(own["interval_h"].to_list(), [0.25, 0.75]).values)
    minutes = (None if edge is None else edge * MINUTES_PER_HOUR for edge in edges)
    shares = [counts[kind] / kinds.len() if kinds.len() else None for kind in (REGULAR, MISSED)]
    head = (stage, own.height, own["session_id"].n_unique(), kinds.len())
    return (*head, *minutes, *shares, counts[MISSED], counts[DOUBLED])
