"""What counts as one try: chains, single retries, launches and sequences by hand, attempts by number, evidence.

A chain has several attempts and a launch by hand has one, so that their success rates compare unlike things. Here the
same sessions are counted in other units, to see whether the direction of the comparison holds.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import polars as pl

from gangline.estimates import Estimate
from gangline.estimates.proportions import fisher_p, proportion, ratio_of_proportions
from gangline.retries import by_hand, chain_success, manual_success, retry_success

AUTOMATIC, MANUAL, NEITHER, UNKNOWN = "automatic", "by hand", "neither", "not known"


@dataclass(frozen=True, slots=True)
class Comparison:
    """Success of one unit of automatic retries against one of launches by hand."""

    automatic_unit: str
    manual_unit: str
    automatic: Estimate
    manual: Estimate

    @property
    def ratio(self) -> Estimate:
        """Automatic over by hand, with the score interval."""
        return ratio_of_proportions(*self._counts)

    @property
    def p(self) -> Estimate:
        """Fisher's exact p that both are the same."""
        return fisher_p(*self._counts)

    @property
    def higher(self) -> str:
        """Which of the two succeeds more often, however little: `automatic`, `by hand`, `neither`, `not known`."""
        if self.automatic.value is None or self.manual.value is None:
            return UNKNOWN
        if self.automatic.value == self.manual.value:
            return NEITHER
        return AUTOMATIC if self.automatic.value > self.manual.value else MANUAL

    @property
    def _counts(self) -> tuple[int, int, int, int]:
        sides = (self.automatic.numerator, self.automatic.n, self.manual.numerator, self.manual.n)
        hits, n, other_hits, other_n = (count or 0 for count in sides)
        return hits, n, other_hits, other_n


def comparisons(chains: pl.DataFrame, launches: pl.DataFrame) -> list[Comparison]:
    """The headline comparison, then the same sessions in other units."""
    chain, retry, hand = chain_success(chains), retry_success(chains), manual_success(launches)
    with_firsts, sequences = _with_first_attempts(launches), manual_sequences(launches)
    return [
        Comparison("chains", "launches by hand", chain, hand),
        Comparison("single retries", "launches by hand", retry, hand),
        Comparison("chains", "by hand, with chains' first attempts", chain, with_firsts),
        Comparison("single retries", "by hand, with chains' first attempts", retry, with_firsts),
        Comparison("chains", "sequences by hand", chain, _known(sequences["reached_any"])),
        Comparison("chains", "sequences by hand of two or more", chain, _known(_longer(sequences)["recovered"])),
    ]


def turned(compared: Sequence[Comparison]) -> list[str]:
    """In words, the comparisons whose direction is not that of the first (which must have one)."""
    first = compared[0].higher
    if first not in (AUTOMATIC, MANUAL):
        return []
    opposite = MANUAL if first == AUTOMATIC else AUTOMATIC
    return [
        f"{one.automatic_unit} against {one.manual_unit} ({one.ratio.brief}, {one.p.brief})"
        for one in compared
        if one.higher == opposite
    ]


def table(compared: Iterable[Comparison]) -> pl.DataFrame:
    """Comparisons in words: automatic_unit, automatic, manual_unit, manual, times, p, more_often."""
    rows = [
        (one.automatic_unit, _said(one.automatic), one.manual_unit, _said(one.manual), *_compared(one))
        for one in compared
    ]
    return pl.DataFrame(rows, schema=dict.fromkeys(_TABLE_COLUMNS, pl.String), orient="row")


def intervals(compared: Iterable[Comparison]) -> pl.DataFrame:
    """Each unit once, with its success and interval: unit, kind, reached, n, success_share, low_share, high_share."""
    seen: dict[str, tuple[str, Estimate]] = {}
    for one in compared:
        seen.setdefault(one.automatic_unit, (AUTOMATIC, one.automatic))
        seen.setdefault(one.manual_unit, (MANUAL, one.manual))
    rows = [
        (unit, kind, share.numerator, share.n, share.value, share.low, share.high)
        for unit, (kind, share) in seen.items()
        if share.value is not None
    ]
    return pl.DataFrame(rows, schema=_INTERVAL_SCHEMA, orient="row")


def manual_sequences(launches: pl.DataFrame) -> pl.DataFrame:
    """Sequences by hand that begin in the window, each once: manual_sequence_id, launches, reached_any, recovered.

    Launches in no chain that follow one another by links of at most `manual_gap_max_h`; `reached_any` and `recovered`
    (one after the first reached training) are null where that is not known yet.
    """
    within = launches.filter("is_manual_sequence_within")
    reached, later = pl.col("reached_training"), pl.col("manual_attempt") > 1
    return within.group_by("manual_sequence_id", maintain_order=True).agg(
        pl.len().alias("launches"),
        reached.any(ignore_nulls=False).alias("reached_any"),
        reached.filter(later).any(ignore_nulls=False).alias("recovered"),
    )


def by_attempt(launches: pl.DataFrame) -> pl.DataFrame:
    """Chains by attempt number: how many had not recovered and tried again, how many of these then trained.

    Columns: attempt, tried, open (not known yet), trained, success_share with low_share and high_share (Wilson),
    recovered (all chains recovered so far), ended (chains that stop at this attempt without having recovered).
    Attempt 1 is the session whose failure began the chain: it is no recovery. Takes `retries.by_launch`.
    """
    within = launches.filter("is_chain_within").sort("chain_id", "attempt")
    trained = (pl.col("reached_training").fill_null(value=False) & (pl.col("attempt") > 1)).cast(pl.Int64)
    waiting = within.with_columns(
        before=trained.cum_sum().shift(1, fill_value=0).over("chain_id"), last=pl.col("attempt").max().over("chain_id")
    ).filter(pl.col("before") == 0)
    counted = waiting.group_by("attempt").agg(
        pl.len().alias("tried"),
        pl.col("reached_training").is_null().sum().cast(pl.Int64).alias("open"),
        pl.col("reached_training").sum().cast(pl.Int64).alias("trained"),
        ((pl.col("attempt") == pl.col("last")) & (trained == 0)).sum().cast(pl.Int64).alias("ended"),
    )
    return _with_intervals(counted.sort("attempt"))


def evidence(launches: pl.DataFrame) -> pl.DataFrame:
    """By what evidence launches were judged: training_evidence, launches, launch_share, in_chains, by_hand."""
    in_chain = pl.col("chain_id").is_not_null()
    counted = launches.group_by("training_evidence").agg(
        pl.len().alias("launches"), in_chain.sum().alias("in_chains"), (~in_chain).sum().alias("by_hand")
    )
    share = (pl.col("launches") / pl.col("launches").sum()).alias("launch_share")
    ranked = counted.sort(["launches", "training_evidence"], descending=[True, False])
    return ranked.select("training_evidence", "launches", share, "in_chains", "by_hand")


def on_equal_evidence(chains: pl.DataFrame, launches: pl.DataFrame) -> list[Comparison]:
    """Chains all of whose attempts one kind of evidence judges, and single retries that it judges, each against
    launches by hand that the same kind judges.
    """
    kinds = evidence(launches)["training_evidence"].drop_nulls().to_list()
    return [comparison for kind in kinds for comparison in _judged_by(kind, chains, launches)]


def _judged_by(kind: str, chains: pl.DataFrame, launches: pl.DataFrame) -> list[Comparison]:
    alike = launches.filter(pl.col("training_evidence") == kind)
    whole = chains.filter(pl.col("has_equal_evidence"), pl.col("training_evidence") == kind)
    retries = alike.filter(pl.col("is_chain_within"), pl.col("attempt") > 1)["reached_training"]
    hand = manual_success(alike)
    return [
        Comparison(f"chains, {kind}", f"launches by hand, {kind}", chain_success(whole), hand),
        Comparison(f"single retries, {kind}", f"launches by hand, {kind}", _known(retries), hand),
    ]


_TABLE_COLUMNS = ("automatic_unit", "automatic", "manual_unit", "by_hand", "times", "p", "more_often")
_INTERVAL_SCHEMA = {
    "unit": pl.String,
    "kind": pl.String,
    "reached": pl.Int64,
    "n": pl.Int64,
    "success_share": pl.Float64,
    "low_share": pl.Float64,
    "high_share": pl.Float64,
}


def _with_first_attempts(launches: pl.DataFrame) -> Estimate:
    firsts = launches.filter(pl.col("is_chain_within"), pl.col("attempt") == 1)
    return _known(pl.concat([by_hand(launches)["reached_training"], firsts["reached_training"]]))


def _longer(sequences: pl.DataFrame) -> pl.DataFrame:
    return sequences.filter(pl.col("launches") > 1)


def _known(reached: pl.Series) -> Estimate:
    known = reached.drop_nulls()
    return proportion(int(known.sum()), len(known))


def _with_intervals(counted: pl.DataFrame) -> pl.DataFrame:
    shares = [
        proportion(trained, tried - still_open)
        for tried, still_open, trained in counted.select("tried", "open", "trained").iter_rows()
    ]
    recovered = pl.when(pl.col("attempt") > 1).then("trained").otherwise(0).cum_sum().cast(pl.Int64)
    columns = {"success_share": "value", "low_share": "low", "high_share": "high"}
    known = {
        name: pl.Series(name, [getattr(share, part) for share in shares], pl.Float64) for name, part in columns.items()
    }
    return counted.with_columns(**known, recovered=recovered)


def _said(share: Estimate) -> str:
    return str(share) if share.value is not None else share.brief


def _compared(one: Comparison) -> tuple[str, str, str]:
    return (one.ratio.brief.removesuffix(" times"), one.p.brief.removeprefix("p = ").removeprefix("p "), one.higher)
