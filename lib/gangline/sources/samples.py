"""Samples as a source hands them on: the numbers of one series, with the labels that the file gives it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from gangline.intervals import EPOCH

TimesMs = NDArray[np.int64]
Values = NDArray[np.float64]

NAME_LABEL = "__name__"
DCGM_PREFIX, DCGM_BLANK_MIN = "DCGM_", 9.2233720368e18  # from here on DCGM's int64 values mean "no value"


@dataclass(frozen=True, eq=False)
class SampleBatch:
    """Some samples of one series, in the order of the file, repeats included.

    Attributes
    ----------
    labels
        Label values by name, the metric under `__name__`; no empty ones.
    times_ms
        Milliseconds since 1970 UTC. Series of one scrape may share the array itself: it is never written to.
    values
        As exported; NaN where the file holds NaN or a staleness marker.
    metric_kind
        What a `# TYPE` line says (counter, gauge, ...); null where the format has none.
    is_gridded
        True where the points are those of a query's grid, looked up to five minutes back, not samples.
    """

    labels: Mapping[str, str]
    times_ms: TimesMs
    values: Values
    line: int | None = None
    metric_kind: str | None = None
    is_gridded: bool = False

    @property
    def metric(self) -> str:
        """The metric's name."""
        return self.labels[NAME_LABEL]


def instant_of_ms(time_ms: int) -> datetime:
    """The UTC instant of milliseconds since 1970.

    >>> instant_of_ms(1_709_251_200_000)
    datetime.datetime(2024, 3, 1, 0, 0, tzinfo=datetime.timezone.utc)
    """
    return EPOCH + timedelta(milliseconds=time_ms)
