"""Gaps between a session's end and the next launch: their spread, and how sharply they tell retries from people."""

from dataclasses import dataclass, replace

import duckdb
import polars as pl

from gangline.estimates import Estimate
from gangline.estimates.proportions import fisher_p, proportion, ratio_of_proportions
from gangline.estimates.quantiles import median, quantile, quantiles
from gangline.vocabulary import EndClass, StartKind
from gangline.warehouse.querying import query
from gangline.windows import Window

FACTORS = {"half as wide": 0.5, "as configured": 1.0, "twice as wide": 2.0, "four times as wide": 4.0}
EARLIER, WITHIN, LATER = "just before", "the rule's window", "just after"
JUDGED_BY_DELAY = ("delay", "none")
NOT_ABNORMAL = (EndClass.COMPLETED, EndClass.PLANNED)


@dataclass(frozen=True, slots=True)
class DelayRule:
    """Minutes from a previous end to a submission that make an automatic retry, both ends included."""

    from_min: float
    to_min: float
    delay_min: float

    @property
    def width_min(self) -> float:
        """How wide the window is."""
        return self.to_min - self.from_min

    def widened(self, factor: float) -> "DelayRule":
        """The same delay with both sides of its window times a factor."""
        before, after = self.delay_min - self.from_min, self.to_min - self.delay_min
        return replace(self, from_min=self.delay_min - factor * before, to_min=self.delay_min + factor * after)

    def moved(self, widths: int) -> "DelayRule":
        """The window moved by so many of its widths."""
        shift = widths * self.width_min
        return DelayRule(self.from_min + shift, self.to_min + shift, self.delay_min + shift)


def rule(con: duckdb.DuckDBPyConnection) -> DelayRule:
    """The window that the config sets (`[retries]`)."""
    return DelayRule(*query(con, _RULE).row(0))


def longest_min(con: duckdb.DuckDBPyConnection) -> float:
    """The longest gap after which a launch by hand still follows the one before (`manual_gap_max_h`), in minutes."""
    return float(query(con, "select retries_manual_gap_max_h * 60 as longest_min from meta.settings").item())


def automatic_gaps(launches: pl.DataFrame) -> pl.DataFrame:
    """Launches that an automatic link joins to the one before."""
    return launches.filter(pl.col("start_kind") == StartKind.AUTOMATIC)


def manual_gaps(launches: pl.DataFrame, longest_min: float) -> pl.DataFrame:
    """Launches that follow the one before by any other link, at most `longest_min` minutes after its end."""
    return launches.filter(pl.col("start_kind") != StartKind.AUTOMATIC, pl.col("gap_min") <= longest_min)


def gap_figures(launches: pl.DataFrame, longest_min: float) -> dict[str, Estimate]:
    """The `retries.*_gap_*` headlines: from the previous end to the start, links of at most `longest_min` by hand."""
    automatic = automatic_gaps(launches)["gap_min"].to_numpy()
    by_hand = manual_gaps(launches, longest_min)["gap_min"].to_numpy()
    least, most = quantiles(by_hand, (0.0, 1.0)).values
    return {
        "retries.auto_gap_median_min": median(automatic, "min"),
        "retries.auto_gap_q1_min": quantile(automatic, 0.25, "min"),
        "retries.auto_gap_q3_min": quantile(automatic, 0.75, "min"),
        "retries.manual_gap_median_min": median(by_hand, "min"),
        "retries.manual_gap_min_min": _end(least, by_hand.size, "smallest"),
        "retries.manual_gap_max_min": _end(most, by_hand.size, "largest"),
    }


def judged_by_delay(launches: pl.DataFrame) -> pl.DataFrame:
    """Launches after an end that was neither completed nor planned, of which the delay alone decides."""
    is_abnormal = ~pl.col("previous_end_class").fill_null(EndClass.UNKNOWN).is_in(NOT_ABNORMAL)
    return launches.filter(pl.col("start_rule").is_in(JUDGED_BY_DELAY), is_abnormal)


def chance_level(launches: pl.DataFrame, rule: DelayRule) -> pl.DataFrame:
    """Gaps in the rule's window and in windows of equal width on either side: place, from_min, to_min, gaps.

    Where hardly a gap falls beside it, hardly one falls into it by chance. The earlier window ends at 0 minutes; a
    part of it below that can hold no gap, so its count is scaled up (`per_width`).
    """
    gaps = judged_by_delay(launches)["submit_gap_min"]
    spans = {EARLIER: rule.moved(-1), WITHIN: rule, LATER: rule.moved(1)}
    rows = [(place, max(span.from_min, 0.0), max(span.to_min, 0.0)) for place, span in spans.items()]
    return pl.DataFrame(
        [(place, low, high, _inside(gaps, low, high, place)) for place, low, high in rows],
        schema={"place": pl.String, "from_min": pl.Float64, "to_min": pl.Float64, "gaps": pl.Int64},
        orient="row",
    ).with_columns(per_width=_scaled(rule))


def by_chance(level: pl.DataFrame) -> Estimate:
    """Share of the gaps in the rule's window that would be there by chance: the mean of both sides over them."""
    inside = level.filter(pl.col("place") == WITHIN)["gaps"].item()
    beside = level.filter(pl.col("place") != WITHIN)["per_width"].drop_nulls()
    method = "mean of the windows on either side over the rule's window, at most 100 %"
    if not inside or not len(beside):
        return Estimate.missing("ratio", "no gap falls into the rule's window", n=inside, method=method)
    return Estimate(min(float(beside.sum()) / len(beside) / inside, 1.0), "ratio", inside, method=method)


def sensitivity(con: duckdb.DuckDBPyConnection, window: Window) -> pl.DataFrame:
    """What chains there would be with other windows of the rule, a row each.

    The last two rows are windows of equal width that hold no retry by the rule: chains found there are made by chance.
    Links that the source itself tells stay what they are.
    """
    usual = rule(con)
    rules = {name: usual.widened(factor) for name, factor in FACTORS.items()}
    rules |= {EARLIER: usual.moved(-1), LATER: usual.moved(1)}
    return pl.DataFrame([_ruled(con, window, name, other) for name, other in rules.items()])


_RULE = """
    select retries_delay_min - retries_window_before_min as from_min, retries_delay_min + retries_window_after_min
        as to_min, retries_delay_min as delay_min
    from meta.settings
"""
_BY_DELAY = """
    with chains as (from marts.retry_chains_by_delay($start, $end, $from_min, $to_min)),
    launches as (from marts.launches_by_delay($start, $end, $from_min, $to_min) where chain_id is null)
    select count(*) as chains, coalesce(sum(attempts), 0)::bigint as attempts,
        coalesce(sum(retries), 0)::bigint as retries, count(*) filter (recovered) as recovered,
        count(recovered) as known, (select count(*) filter (reached_training) from launches) as hand_reached,
        (select count(reached_training) from launches) as hand_known
    from chains
"""


def _inside(gaps: pl.Series, low: float, high: float, place: str) -> int:
    # Both edges belong to the rule, so that a gap on one is not counted beside it as well.
    closed = {EARLIER: "left", WITHIN: "both", LATER: "right"}[place]
    return int(gaps.is_between(low, high, closed=closed).sum())  # type: ignore[arg-type]


def _scaled(rule: DelayRule) -> pl.Expr:
    width = pl.col("to_min") - pl.col("from_min")
    return pl.when(width > 0).then(pl.col("gaps") * rule.width_min / width)


def _ruled(con: duckdb.DuckDBPyConnection, window: Window, name: str, rule: DelayRule) -> dict[str, object]:
    span = {"start": window.start, "end": window.end, "from_min": rule.from_min, "to_min": rule.to_min}
    found = query(con, _BY_DELAY, **span).row(0, named=True)
    sides = (found["recovered"], found["known"], found["hand_reached"], found["hand_known"])
    return {
        "window": name,
        "from_min": rule.from_min,
        "to_min": rule.to_min,
        **{column: found[column] for column in ("chains", "attempts", "retries", "recovered")},
        "chain_success_ratio": proportion(*sides[:2]).value,
        "manual_success_ratio": proportion(*sides[2:]).value,
        "times": ratio_of_proportions(*sides).value,
        "fisher_p": fisher_p(*sides).value,
    }


def _end(value: float | None, n: int, which: str) -> Estimate:
    if value is None:
        return Estimate.missing("min", "there are no values", n=0, method=which)
    return Estimate(value, "min", n, method=which)
