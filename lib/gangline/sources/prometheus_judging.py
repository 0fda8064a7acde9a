"""What is said of samples whatever format they come in: counts of what is strange, the span of time, the batch."""

from collections.abc import Mapping
from functools import lru_cache
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from gangline.estimates.wording import counted
from gangline.sources.read_log import ReadLog
from gangline.sources.samples import (
    DCGM_BLANK_MIN,
    DCGM_PREFIX,
    NAME_LABEL,
    SampleBatch,
    TimesMs,
    Values,
    instant_of_ms,
)

SERIES_MAX_BYTES = 256 << 20  # of one series' text, so that it fits in memory with what is made of it
LINE_MAX_BYTES = 1 << 20  # of one sample's line
NAME_MAX_BYTES = 240  # of a metric, which names a folder of the store
CUT_LINE = "the file breaks off inside this line; export it again (or end the line, if it is whole)"
NO_CHARACTER = "\ufffd"


class SampleError(ValueError):
    """A series or sample that cannot be kept: why, and the mend."""


def labels_of(raw: object) -> dict[str, str]:
    """Label values by name without empty ones, which mean a missing label.

    Half a character (a surrogate alone, as a cut JSON escape leaves it) is shown as �.

    Raises
    ------
    SampleError
        Where they are no labels, name no metric, or one of a name that no folder can have.
    """
    if not isinstance(raw, Mapping) or not all(isinstance(value, str) for value in raw.values()):
        raise SampleError("its metric is no set of labels; export it again")
    labels = {_whole(str(name)): _whole(value) for name, value in raw.items() if value}
    if NAME_LABEL not in labels:
        raise SampleError("it has no metric name (an expression's result): export the metric itself, or record it")
    if not _is_folder_name(labels[NAME_LABEL]):
        raise SampleError(f"its metric's name has more than {NAME_MAX_BYTES} bytes; rename it, or leave it out")
    return labels


def _whole(text: str) -> str:
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


@lru_cache(maxsize=10_000)
def _is_folder_name(metric: str) -> bool:
    return len(quote(metric, safe="")) <= NAME_MAX_BYTES


def judged(batch: SampleBatch, log: ReadLog) -> SampleBatch:
    """Passes a batch on after noting in the log what its samples hold."""
    if batch.times_ms.size:
        log.saw(instant_of_ms(int(batch.times_ms.min())), instant_of_ms(int(batch.times_ms.max())))
        _note_values(batch, log)
    if any(NO_CHARACTER in value for value in batch.labels.values()):
        log.odd("not_utf8", batch.line)
    if batch.is_gridded:
        log.odd("grid_points", batch.line, batch.times_ms.size)
    return batch


def _note_values(batch: SampleBatch, log: ReadLog) -> None:
    values = batch.values
    if not np.isfinite(values).all():
        is_nan, is_infinite = np.isnan(values), np.isinf(values)
        beside = (is_nan[1:] & is_infinite[:-1]) | (is_nan[:-1] & is_infinite[1:])
        _note(log, "nan_or_stale", is_nan, batch.line)
        _note(log, "infinite", is_infinite, batch.line)
        _note(log, "nan_beside_infinity", beside, batch.line)
    if batch.metric.startswith(DCGM_PREFIX):
        _note(log, "dcgm_blank", np.isfinite(values) & (values >= DCGM_BLANK_MIN), batch.line)


def _note(log: ReadLog, kind: str, flags: NDArray[np.bool_], line: int | None) -> None:
    count = int(np.count_nonzero(flags))
    if count:
        log.odd(kind, line, count)


def check_lengths(times_ms: TimesMs, values: Values) -> None:
    """Refuses lists of unequal length: which value belongs to which time cannot be told."""
    if times_ms.size != values.size:
        raise SampleError(
            f"it has {counted(values.size, 'values')} and {counted(times_ms.size, 'timestamps')}; export it again"
        )


def check_size(text: bytes, max_bytes: int) -> None:
    """Refuses text that was cut because no export of samples has a line or series of its size."""
    if len(text) > max_bytes:
        raise SampleError(f"it has more than {max_bytes >> 20} MiB; export shorter windows (max_rows_per_line=1000000)")
