"""Formats with one sample a line: samples gathered by series, so that numbers are parsed by the list."""

from array import array
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from gangline.sources.prometheus_judging import SampleError, check_lengths, judged
from gangline.sources.prometheus_numbers import NumberError, parse_numbers
from gangline.sources.prometheus_times import TimeError
from gangline.sources.read_log import ReadLog, SourceRefusedError
from gangline.sources.samples import SampleBatch, TimesMs

Key = TypeVar("Key", bound=Hashable)
TimesReader = Callable[[list[bytes], int], TimesMs]
SAMPLES_HELD = 400_000
SERIES_KNOWN = 200_000


@dataclass
class _Pending:
    """Values, times and lines of one series, not yet parsed."""

    values: list[bytes] = field(default_factory=list)
    times: list[bytes] = field(default_factory=list)
    lines: "array[int]" = field(default_factory=lambda: array("q"))


class SampleLines(Generic[Key]):
    """Holds a bounded number of sample lines; `labels_of_key` reads what a series is called in the file."""

    def __init__(
        self,
        labels_of_key: Callable[[Key], dict[str, str]],
        read_times: TimesReader,
        log: ReadLog,
        kind_of: Callable[[str], str | None] = lambda metric: None,
        is_gridded: bool = False,
    ) -> None:
        self._labels_of_key, self._read_times, self._kind_of = labels_of_key, read_times, kind_of
        self._log, self._is_gridded = log, is_gridded
        self._pending: dict[Key, _Pending] = {}
        self._known: dict[Key, dict[str, str]] = {}
        self._held = 0

    def add(self, key: Key, value: bytes, time: bytes, line: int) -> bool:
        """Takes one line; true where it is time to `flush`."""
        pending = self._pending.get(key)
        if pending is None:
            pending = self._pending[key] = _Pending()
        pending.values.append(value)
        pending.times.append(time)
        pending.lines.append(line)
        self._held += 1
        return self._held >= SAMPLES_HELD

    def flush(self) -> Iterator[SampleBatch]:
        """Yields what is held, by series, and forgets it."""
        self._log.split(self._held)
        if len(self._known) > SERIES_KNOWN:
            self._known.clear()
        pending, self._pending, self._held = self._pending, {}, 0
        for key, lines in pending.items():
            yield from self._series(key, lines)

    def _series(self, key: Key, lines: _Pending) -> Iterator[SampleBatch]:
        try:
            labels = self._labels(key)
        except SampleError as error:
            self._reject(key, lines, str(error))
            return
        try:
            yield self._batch(labels, lines)
        except (SampleError, NumberError, TimeError, SourceRefusedError) as error:
            if len(lines.lines) == 1:
                if isinstance(error, SourceRefusedError):  # it names the line now
                    raise
                self._reject(key, lines, str(error))
                return
            for one in _one_by_one(lines):
                yield from self._series(key, one)

    def _batch(self, labels: dict[str, str], lines: _Pending) -> SampleBatch:
        values = parse_numbers(b",".join(lines.values))
        times_ms = self._read_times(lines.times, lines.lines[0])
        check_lengths(times_ms, values)
        batch = SampleBatch(
            labels, times_ms, values, lines.lines[0], self._kind_of(labels["__name__"]), self._is_gridded
        )
        self._log.load(len(lines.lines))
        return judged(batch, self._log)

    def _labels(self, key: Key) -> dict[str, str]:
        labels = self._known.get(key)
        if labels is None:
            labels = self._known[key] = self._labels_of_key(key)
        return labels

    def _reject(self, key: Key, lines: _Pending, reason: str) -> None:
        series = key.decode("utf-8", "replace") if isinstance(key, bytes) else str(key)
        for line, value, time in zip(lines.lines, lines.values, lines.times, strict=True):
            numbers = b" ".join((value, time)).decode("utf-8", "replace")
            self._log.reject(line, reason, f"{series} {numbers}")


def _one_by_one(lines: _Pending) -> Iterator[_Pending]:
    for value, time, line in zip(lines.values, lines.times, lines.lines, strict=True):
        yield _Pending([value], [time], array("q", [line]))
