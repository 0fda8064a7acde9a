"""The figures that the 504-GPU report prints, beside the same figures computed here, and where they agree."""

import re
from collections.abc import Callable, Mapping
from typing import Any

import duckdb
import polars as pl

from gangline import checkpoints, downtimes, exclusions, nfs, published_details, retries, sessions
from gangline.estimates import Estimate
from gangline.estimates.wording import PERCENTAGES, word, words
from gangline.warehouse.querying import query
from gangline.windows import Window

SESSIONS, TELEMETRY, BEFORE = "sessions", "telemetry", "before"
SPANS = {SESSIONS: "all sessions", TELEMETRY: "telemetry", BEFORE: "before"}
"""The report's spans of time, in words."""
WITHIN, OUTSIDE, NOT_MEASURED = "within the printed digits", "outside the printed digits", "not measured"
LATER, ONLY, CASES = "later", "published only", "on page 09"
LATER_REASON = "its analysis is not built yet"
TOLERANCE = 1e-9
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
_MEASURES = {"h", "min", "s", "ms", "gb", "kb", "ratio", "times"}
Analysis = Callable[[duckdb.DuckDBPyConnection, Window], dict[str, Estimate]]
ANALYSES: dict[str, tuple[Analysis, ...]] = {
    SESSIONS: (
        sessions.figures,
        exclusions.figures,
        retries.figures,
        downtimes.figures,
        published_details.of_sessions,
    ),
    TELEMETRY: (exclusions.figures, checkpoints.figures, nfs.figures, published_details.of_telemetry),
}
CARDS_TO_COME = ("peers.",)


def spans(con: duckdb.DuckDBPyConnection, window: Window) -> dict[str, Window]:
    """The two spans of the report's figures: the page's window, and from the first to the last sample of telemetry.

    Without telemetry both are the window.
    """
    first_at, last_at = query(con, _TELEMETRY, start=window.start, end=window.end).row(0)
    seen = Window(first_at, last_at, window.time_zone, SPANS[TELEMETRY]) if first_at else window
    return {SESSIONS: window, TELEMETRY: seen}


def compared(con: duckdb.DuckDBPyConnection, window: Window) -> pl.DataFrame:
    """A row a printed figure, in the order of the report.

    Returns
    -------
    DataFrame
        place, subject, figure (its id, or the overlap of a node; null where nothing here answers to it), printed,
        computed (in words), value (as printed), computed_value,
        low, high (what prints so), difference (computed less printed; null where either is no number), verdict, why
        (the reason where there is no value), span, versions, note.
    """
    found = {span: _figures(con, ANALYSES[span], at) for span, at in spans(con, window).items()}
    overlaps = dict(query(con, _OVERLAPS, start=window.start, end=window.end).rows())
    rows = [row | _judged(row, found, overlaps) for row in query(con, _PUBLISHED).iter_rows(named=True)]
    return pl.DataFrame([{name: row.get(name) for name in _SCHEMA} for row in rows], schema=_SCHEMA)


def agreeing(compared: pl.DataFrame) -> pl.DataFrame:
    """Rows with a computed value, for the table: figure, printed, computed, off, prints_alike, span, versions.

    `off` is the difference in words; null where no single number is printed.
    """
    is_alike = pl.when(pl.col("verdict") == WITHIN).then(pl.lit("yes")).otherwise(pl.lit("no"))
    return compared.filter(pl.col("computed").is_not_null()).select(
        "figure",
        "printed",
        "computed",
        pl.struct("difference", "unit", "printed").map_elements(_off, pl.String).alias("off"),
        is_alike.alias("prints_alike"),
        pl.col("span").replace(SPANS),
        "versions",
    )


def alike(value: float, unit: str, printed: str) -> str:
    """A value with one decimal more than the first number that is printed; a whole count stays one.

    Examples
    --------
    >>> alike(2.2333, "h", "2.23 h"), alike(0.96602, "ratio", "96.6 %"), alike(523.0, "saves", "523")
    ('2.233 h', '96.60 %', '523 saves')
    """
    if value.is_integer() and unit not in _MEASURES:
        return words(value, unit)
    decimals = len((NUMBER.search(printed) or [""])[0].partition(".")[2]) + 1
    shown = value * 100 if unit in PERCENTAGES else value
    return f"{shown:,.{decimals}f} {word(unit)}".rstrip()


def signed(difference: float, unit: str, printed: str) -> str:
    """A difference, as `alike` prints values, with its sign.

    Examples
    --------
    >>> signed(-0.0033, "h", "2.23 h"), signed(0.0, "saves", "523"), signed(0.0004, "ratio", "16.0 %")
    ('−0.003 h', '0 saves', '+0.04 %')
    """
    told = alike(abs(difference), unit, printed)
    is_none = not any(digit in told for digit in "123456789")
    return told if is_none else f"{'+' if difference > 0 else '−'}{told}"


def disagreeing(compared: pl.DataFrame) -> pl.DataFrame:
    """Rows outside their printed digits: subject, figure, printed, computed, meaning."""
    return compared.filter(verdict=OUTSIDE).select(
        "subject", "figure", "printed", "computed", pl.col("note").alias("meaning")
    )


def ambiguous(compared: pl.DataFrame) -> pl.DataFrame:
    """Rows of which something must be said: subject, figure, printed, computed, meaning."""
    return compared.filter(pl.col("note").is_not_null()).select(
        "subject", "figure", "printed", "computed", pl.col("note").alias("meaning")
    )


def unanswered(compared: pl.DataFrame) -> pl.DataFrame:
    """Rows without a computed value, with why: subject, figure, printed, verdict, reason, span, versions."""
    why = pl.coalesce("why", "note").alias("reason")
    return compared.filter(pl.col("computed").is_null()).select(
        "subject", "figure", "printed", "verdict", why, pl.col("span").replace(SPANS), "versions"
    )


def counts(compared: pl.DataFrame) -> dict[str, int]:
    """How many rows there are of each verdict."""
    found = dict(compared.group_by("verdict").len().rows())
    return {verdict: int(found.get(verdict, 0)) for verdict in (WITHIN, OUTSIDE, NOT_MEASURED, LATER, ONLY, CASES)}


def summary(counts: Mapping[str, int]) -> dict[str, int]:
    """The same for a sentence: within, told (of figures that can be computed here), later, cases, only.

    Examples
    --------
    >>> summary({WITHIN: 70, OUTSIDE: 1, NOT_MEASURED: 2, LATER: 4, ONLY: 6, CASES: 4})
    {'within': 70, 'told': 73, 'later': 4, 'cases': 4, 'only': 6}
    """
    told = counts[WITHIN] + counts[OUTSIDE] + counts[NOT_MEASURED]
    return {
        "within": counts[WITHIN],
        "told": told,
        "later": counts[LATER],
        "cases": counts[CASES],
        "only": counts[ONLY],
    }


def case(con: duckdb.DuckDBPyConnection, compared: pl.DataFrame) -> str:
    """Which sentence fits: `no_source` (no session), `other` (not the reference cluster's size), else `found`."""
    if not query(con, "select exists(from marts.sessions where has_started) as found").item():
        return "no_source"
    gang = compared.filter(figure="fleet.multi_node_sessions")["verdict"].item()
    return "found" if gang == WITHIN else "other"


def _figures(con: duckdb.DuckDBPyConnection, analyses: tuple[Analysis, ...], window: Window) -> dict[str, Estimate]:
    return {name: estimate for analysis in analyses for name, estimate in analysis(con, window).items()}


def _judged(
    row: Mapping[str, object], found: Mapping[str, Mapping[str, Estimate]], overlaps: Mapping[str, float | None]
) -> dict[str, object]:
    """Computed value, difference, verdict and reason of one row."""
    name = str(row["figure_id"] or "")
    if row["node"]:
        share = overlaps.get(str(row["node"]))
        estimate = _share(share, str(row["node"]))
    elif name.startswith(CARDS_TO_COME):
        return {"verdict": LATER, "why": LATER_REASON}
    elif name:
        estimate = found[str(row["span"])].get(name) or Estimate.missing("ratio", f"{name} is not computed")
    else:
        return {"verdict": CASES if row["subject"] == "cases" else ONLY, "why": None}
    return _against(row, estimate)


def _off(row: Mapping[str, Any]) -> str | None:
    return None if row["difference"] is None else signed(row["difference"], row["unit"], row["printed"])


def _share(share: float | None, node: str) -> Estimate:
    if share is None:
        return Estimate.missing("ratio", f"no gang session of the window leaves out {node}")
    return Estimate(share, "ratio", None)


def _against(row: Mapping[str, object], estimate: Estimate) -> dict[str, object]:
    if estimate.value is None:
        return {"verdict": NOT_MEASURED, "why": estimate.reason}
    low, high, value = row["low"], row["high"], row["value"]
    is_within = (
        isinstance(low, float) and isinstance(high, float) and low - TOLERANCE <= estimate.value <= high + TOLERANCE
    )
    return {
        "computed": alike(estimate.value, estimate.unit, str(row["printed"])),
        "computed_value": estimate.value,
        "difference": estimate.value - value if isinstance(value, float) else None,
        "verdict": WITHIN if is_within else OUTSIDE,
        "why": None,
    }


_SCHEMA = {
    "place": pl.Int64,
    "subject": pl.String,
    "figure": pl.String,
    "node": pl.String,
    "printed": pl.String,
    "computed": pl.String,
    "value": pl.Float64,
    "computed_value": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "unit": pl.String,
    "difference": pl.Float64,
    "verdict": pl.String,
    "why": pl.String,
    "span": pl.String,
    "versions": pl.String,
    "note": pl.String,
}
_TELEMETRY = """
    select greatest(min(first_at), $start) as first_at, least(max(last_at), $end) as last_at
    from marts.series where first_at < $end and last_at > $start
"""
_OVERLAPS = "select node, overlap_ratio from marts.node_exclusions($start, $end)"
_PUBLISHED = """
    select place, subject, figure_id, coalesce(figure_id, 'overlap of ' || node) as figure, node, printed, value, low,
        high, unit, span, versions, note
    from staging.published_figures order by place
"""
