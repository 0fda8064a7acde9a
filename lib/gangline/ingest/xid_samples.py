"""What both readers of XIDs give and take: a rise or change, and a day's samples that are numbers."""

from datetime import datetime

import numpy as np

from gangline.sources.samples import DCGM_BLANK_MIN, TimesMs, Values
from gangline.store.parts import SeriesDay

Edge = tuple[int, datetime, datetime | None, int]  # series, first sample that shows it, the one before, code


def numbers_of(row: SeriesDay) -> tuple[TimesMs, Values]:
    """Without NaN, staleness markers and DCGM's word for none."""
    times_ms, values = row.times.times_ms, row.values
    is_number = np.isfinite(values) & (np.abs(values) < DCGM_BLANK_MIN)
    return (times_ms, values) if is_number.all() else (times_ms[is_number], values[is_number])
