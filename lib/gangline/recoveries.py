"""Restored by a retry or by a person: how often each has come first by a time, whatever answered the failure."""

from collections.abc import Sequence

import polars as pl

from gangline.downtimes import KINDS, survival
from gangline.estimates.incidence import IncidenceCurve, cumulative_incidence

NO_RESPONSE = "none yet"
MARKS_H = (1.0, 4.0, 24.0)


def curves(episodes: pl.DataFrame) -> dict[str, IncidenceCurve]:
    """Cumulative incidence (Aalen-Johansen) of each kind of recovery over all episodes of `downtimes.with_hours`.

    Kinds compete: what a retry restores, no person can. Episodes still down count as far as they were watched;
    closed ones without a length are left out.
    """
    known = _timed(episodes)
    kinds = known["recovery_kind"].to_list()
    return cumulative_incidence(known["watched_h"].to_numpy(), kinds, [str(kind) for kind in KINDS])


def steps(found: dict[str, IncidenceCurve]) -> pl.DataFrame:
    """Curves as rows: recovery_kind, after_h, restored_share, low_share, high_share; kinds never seen are left out.

    Before a kind's first end there is no band.
    """
    frames = [
        pl.DataFrame(
            {
                "recovery_kind": [kind] * curve.times.size,
                "after_h": curve.times,
                "restored_share": curve.incidence,
                "low_share": curve.low,
                "high_share": curve.high,
            },
            schema=_STEP_SCHEMA,
        )
        for kind, curve in found.items()
        if curve.ended.sum()
    ]
    rows = pl.concat(frames) if frames else pl.DataFrame(schema=_STEP_SCHEMA)
    return rows.with_columns(pl.when(pl.col("restored_share") > 0).then(pl.col("low_share", "high_share")))


def by_mark(found: dict[str, IncidenceCurve], marks_h: Sequence[float] = MARKS_H) -> pl.DataFrame:
    """Share restored by each kind within 1, 4 and 24 hours, in words: recovery_kind, then a column a time."""
    rows = [(kind, *(str(curve.at(mark)) for mark in marks_h)) for kind, curve in found.items() if curve.ended.sum()]
    names = ["recovery_kind", *(f"within {mark:g} h" for mark in marks_h)]
    return pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")


def by_first_response(episodes: pl.DataFrame) -> pl.DataFrame:
    """Episodes by what answered the failure first, and what came of it.

    `recovery_kind` is chosen by the outcome (a retry that fails hands over to a person, and the episode counts as
    manual); the first response is not. Columns: first_response, episodes, by_retry, by_person, by_prequeued,
    still_down, and the Kaplan-Meier median in words. Takes rows of `downtimes.with_hours`.
    """
    answered = episodes.with_columns(pl.col("first_response").fill_null(NO_RESPONSE))
    order = [*map(str, KINDS), NO_RESPONSE]
    rows = [_response_row(name, answered.filter(pl.col("first_response") == name)) for name in order]
    return pl.DataFrame(rows, schema=_RESPONSE_SCHEMA, orient="row").filter(pl.col("episodes") > 0)


_STEP_SCHEMA = {
    "recovery_kind": pl.String,
    "after_h": pl.Float64,
    "restored_share": pl.Float64,
    "low_share": pl.Float64,
    "high_share": pl.Float64,
}
_RESPONSE_SCHEMA = {
    "first_response": pl.String,
    "episodes": pl.Int64,
    "by_retry": pl.Int64,
    "by_person": pl.Int64,
    "by_prequeued": pl.Int64,
    "still_down": pl.Int64,
    "median_length": pl.String,
}


def _timed(episodes: pl.DataFrame) -> pl.DataFrame:
    watched = pl.when("is_censored").then("observed_h").otherwise("hours").alias("watched_h")
    return episodes.with_columns(watched).filter(pl.col("watched_h").is_not_null())


def _response_row(name: str, rows: pl.DataFrame) -> tuple[object, ...]:
    kinds = rows["recovery_kind"]
    automatic, prequeued, manual = (int((kinds == kind).sum()) for kind in KINDS)
    censored = int(rows["is_censored"].sum())
    return name, rows.height, automatic, manual, prequeued, censored, str(survival(rows).median("h"))
