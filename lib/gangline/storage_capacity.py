"""How full the shared storage is, how fast it fills, and when it would be full at that pace."""

from dataclasses import dataclass
from datetime import datetime, timedelta

import duckdb
import numpy as np
import polars as pl
from statsmodels.regression.linear_model import OLS

from gangline.estimates import Estimate
from gangline.estimates.estimate import USUAL_LEVEL
from gangline.estimates.wording import words
from gangline.warehouse.querying import query
from gangline.windows import Window

BYTES_PER_TB = 1e12
FEWEST_DAYS = 5
NOT_EXPORTED = "the size of no shared file system is exported (node_exporter's filesystem collector)"
METHOD = "least squares on daily values, Newey-West interval"


@dataclass(frozen=True, slots=True)
class Trend:
    """A straight line through the days' last values of what is used.

    Attributes
    ----------
    at, used_tb
        The line's value at the last day's sample.
    growth
        In TB per day; null with its reason.
    size_tb, available_tb
        At the last sample.
    """

    export: str
    days: int
    at: datetime
    used_tb: float
    growth: Estimate
    size_tb: float
    available_tb: float


def levels(con: duckdb.DuckDBPyConnection, window: Window) -> pl.DataFrame:
    """Shared file systems by the hour: export, file_system, at, size_tb, used_tb, used_share, node_count."""
    return query(con, _LEVELS, start=window.start, end=window.end)


def largest(levels: pl.DataFrame) -> pl.DataFrame:
    """The rows of the largest export, the one that the figures tell of; takes `levels`."""
    if levels.is_empty():
        return levels
    export = levels.sort("size_tb", "export", descending=[True, False])["export"][0]
    return levels.filter(pl.col("export") == export).sort("at")


def latest(levels: pl.DataFrame) -> pl.DataFrame:
    """The latest sample of each export, largest first: export, file_system, at, size_tb, used_tb, used_share, nodes."""
    newest = levels.sort("export", "at").unique("export", keep="last", maintain_order=True)
    return newest.sort("size_tb", "export", descending=[True, False])


def trend(levels: pl.DataFrame) -> Trend | None:
    """The trend of one export; takes `largest`. Null where there are no samples.

    References
    ----------
    Newey and West 1987, Econometrica 55:703, with floor(4 (n / 100)^(2/9)) lags: days follow each other, so that the
    usual interval would be too narrow.
    """
    if levels.is_empty():
        return None
    days = levels.group_by_dynamic("at", every="1d").agg(
        pl.col("used_tb", "size_tb").last(), last_at=pl.col("at").last()
    )
    at = days["last_at"].to_list()
    elapsed = np.array([(each - at[-1]) / timedelta(days=1) for each in at])
    used = days["used_tb"].to_numpy()
    growth, at_end = _line(elapsed, used)
    size = float(days["size_tb"][-1])
    return Trend(levels["export"][0], days.height, at[-1], at_end, growth, size, size - float(used[-1]))


def days_until_full(trend: Trend) -> Estimate:
    """Days from the last sample until nothing is available, at the trend's pace; the interval is the pace's."""
    growth = trend.growth
    if growth.value is None:
        return Estimate.missing("days", growth.reason or "", n=trend.days)
    if growth.value <= 0:
        return Estimate.missing(
            "days", "it does not grow", n=trend.days, low=_until(trend, growth.high), level=growth.level
        )
    low, high = _until(trend, growth.high), _until(trend, growth.low)
    return Estimate(trend.available_tb / growth.value, "days", trend.days, low, high, growth.level, METHOD)


def forecast(trend: Trend, window: Window) -> pl.DataFrame:
    """The trend's line from the last sample on, as long again as the window: at, used_tb, low_tb, high_tb."""
    growth = trend.growth
    if growth.value is None:
        return pl.DataFrame(schema={"at": pl.Datetime("us", "UTC"), **dict.fromkeys(_LINE, pl.Float64)})
    ahead = np.linspace(0, max((window.end - window.start) / timedelta(days=1) / 2, 1), 50)
    slopes = (growth.value, growth.low or 0.0, growth.high or 0.0)
    lines = {
        name: np.minimum(trend.used_tb + slope * ahead, trend.size_tb)
        for name, slope in zip(_LINE, slopes, strict=True)
    }
    at = pl.Series("at", [trend.at + timedelta(days=day) for day in ahead.tolist()], pl.Datetime("us", "UTC"))
    return pl.DataFrame({"at": at, **lines})


def figures(con: duckdb.DuckDBPyConnection, window: Window) -> dict[str, Estimate]:
    """`nfs.{capacity_used_share, capacity_growth_tb_per_day, days_until_full}` of the largest shared file system."""
    found = trend(largest(levels(con, window)))
    if found is None:
        units = {"capacity_used_share": "ratio", "capacity_growth_tb_per_day": "tb_per_day", "days_until_full": "days"}
        return {f"nfs.{name}": Estimate.missing(unit, NOT_EXPORTED, n=0) for name, unit in units.items()}
    used = 1 - found.available_tb / found.size_tb
    return {
        "nfs.capacity_used_share": Estimate(used, "ratio", found.days, method="latest sample"),
        "nfs.capacity_growth_tb_per_day": found.growth,
        "nfs.days_until_full": days_until_full(found),
    }


_LINE = ("used_tb", "low_tb", "high_tb")


def _line(elapsed: np.ndarray, used: np.ndarray) -> tuple[Estimate, float]:
    """Growth per day, and the line's value at elapsed 0."""
    n = int(elapsed.size)
    if n < FEWEST_DAYS:
        reason = f"there are samples of {words(n, 'days')}, and a trend needs {FEWEST_DAYS}"
        return Estimate.missing("tb_per_day", reason, n=n), float(used[-1])
    lags = int(4 * (n / 100) ** (2 / 9))
    fit = OLS(used, np.stack([np.ones(n), elapsed], axis=1)).fit(
        cov_type="HAC", cov_kwds={"maxlags": lags, "use_correction": True}, use_t=True
    )
    low, high = fit.conf_int(1 - USUAL_LEVEL)[1]
    growth = Estimate(float(fit.params[1]), "tb_per_day", n, float(low), float(high), USUAL_LEVEL, METHOD)
    return growth, float(fit.params[0])


def _until(trend: Trend, pace: float | None) -> float | None:
    return trend.available_tb / pace if pace is not None and pace > 0 else None


_LEVELS = f"""
select export, file_system, "at", size_bytes / {BYTES_PER_TB} as size_tb, used_bytes / {BYTES_PER_TB} as used_tb,
    used_bytes / size_bytes as used_share, node_count
from marts.storage_levels
where "at" >= $start and "at" < $end and size_bytes > 0
order by export, "at"
"""  # noqa: S608 - the number is this module's own
