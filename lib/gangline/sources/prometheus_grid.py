"""Whether an API answer holds samples, or points that a query looked up on its own grid.

The answer does not say. A grid it is where every timestamp lies on one grid of whole steps, and either those of several
targets do (Prometheus scrapes each at an offset of its own), or some series, after changing, ends in equal values of
up to five minutes (Prometheus' look-back) before a gap.
"""

import math
from collections.abc import Iterable, Iterator
from contextlib import suppress

import numpy as np

from gangline.sources.files import InputFile
from gangline.sources.prometheus_api import api_series, pieces
from gangline.sources.prometheus_judging import SampleError
from gangline.sources.prometheus_numbers import NumberError, Numbers
from gangline.sources.prometheus_times import Clock, TimeError
from gangline.sources.read_log import SourceRefusedError
from gangline.sources.samples import SampleBatch, TimesMs

LOOK_BACK_MS = 300_000
STEP_MIN_MS = 1_000
TARGET_LABELS = ("exported_instance", "instance")


def is_grid(file: InputFile) -> bool:
    """Reads an answer up to the first timestamp that is on no grid of steps of at least a second."""
    return are_of_grid(_batches(file))


def are_of_grid(batches: Iterable[SampleBatch]) -> bool:
    """The same of what was read; it takes no more of it than it needs."""
    grid = _Grid()
    for batch in batches:
        if batch.times_ms.size > 1:
            grid.take(batch)
        if grid.step_ms and grid.step_ms < STEP_MIN_MS:
            return False
    return grid.is_of_targets() or grid.has_looked_back()


def _batches(file: InputFile) -> Iterator[SampleBatch]:
    clock = Clock(file.path.name)
    for piece in pieces(file):
        if piece.ordinal == 0:
            continue
        with suppress(SampleError, NumberError, TimeError, SourceRefusedError):  # reading it says so
            series = api_series(piece)
            if series.pairs is not None:
                times_ms = clock.to_ms(series.pairs[:, 0], piece.ordinal)
                yield SampleBatch(series.labels, times_ms, series.pairs[:, 1])


class _Grid:
    """The step that all timestamps so far share, and the stretches of equal values before gaps."""

    def __init__(self) -> None:
        self.step_ms = 0
        self._origin: int | None = None
        self._latest = 0
        self._targets: set[str] = set()
        self._endings: list[tuple[int, int]] = []  # end of a stretch, its length in ms

    def take(self, batch: SampleBatch) -> None:
        times_ms, values = batch.times_ms, batch.values
        self._targets.add(next((batch.labels[name] for name in TARGET_LABELS if name in batch.labels), ""))
        origin = self._origin = int(times_ms[0]) if self._origin is None else self._origin
        steps = np.diff(times_ms)
        self.step_ms = math.gcd(self.step_ms, int(np.gcd.reduce(steps)), int(times_ms[0]) - origin)
        self._latest = max(self._latest, int(times_ms[-1]))
        usual = int(np.median(steps))
        for last in [*np.flatnonzero(steps > 1.5 * usual).tolist(), times_ms.size - 1]:
            self._note_ending(times_ms, values, last)

    def _note_ending(self, times_ms: TimesMs, values: Numbers, last: int) -> None:
        changes = np.flatnonzero(values[:last] != values[last])
        if changes.size and changes[-1] + 1 < last:
            end = int(times_ms[last]) if last == times_ms.size - 1 else 0
            self._endings.append((end, int(times_ms[last] - times_ms[changes[-1] + 1])))

    def is_of_targets(self) -> bool:
        return self.step_ms >= STEP_MIN_MS and len(self._targets) > 1

    def has_looked_back(self) -> bool:
        return any(end < self._latest and length <= LOOK_BACK_MS for end, length in self._endings)
