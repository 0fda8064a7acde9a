"""Timestamps of a Prometheus file: seconds or milliseconds, told by their size, one unit a file."""

from datetime import datetime

import numpy as np

from gangline.sources.prometheus_numbers import Numbers, parse_numbers
from gangline.sources.read_log import SourceRefusedError
from gangline.sources.samples import TimesMs

SECONDS_MIN, MS_MIN, MS_MAX = 1e8, 1e11, 1e14  # 1973 in seconds, 1973 in ms, 5138 in ms
KEPT_TEXTS = 64
KEPT_BYTES = 64 << 20


class TimeError(ValueError):
    """A timestamp that no clock of this century shows."""


class Clock:
    """Reads a file's timestamps, and keeps the latest lists so that what a target's series share is parsed once."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._unit: str | None = None
        self._kept: dict[tuple[int, bytes, bytes], tuple[bytes, TimesMs]] = {}
        self._kept_bytes = 0

    @property
    def unit(self) -> str | None:
        """`s` or `ms`; null before the first timestamp."""
        return self._unit

    def list_of_ms(self, text: bytes, line: int | None) -> TimesMs:
        """Milliseconds of a comma-separated list; the same text gives the same array."""
        key = (len(text), text[:64], text[-64:])
        known = self._kept.get(key)
        if known is not None and known[0] == text:
            return known[1]
        times_ms = self.to_ms(parse_numbers(text), line)
        self._keep(key, text, times_ms)
        return times_ms

    def to_ms(self, numbers: Numbers, line: int | None) -> TimesMs:
        """Milliseconds of timestamps in the file's unit.

        Raises
        ------
        TimeError
            Where a number is neither seconds nor milliseconds.
        SourceRefusedError
            Where the file mixes both.
        """
        if numbers.size == 0:
            return np.empty(0, np.int64)
        low, high = float(numbers.min()), float(numbers.max())
        if not (low >= SECONDS_MIN and high < MS_MAX):  # also where NaN
            raise TimeError(f"a time of {low:g} to {high:g} is neither seconds nor milliseconds since 1970")
        units = {"s" if number < MS_MIN else "ms" for number in (low, high)}
        self._unit = self._unit or ("s" if low < MS_MIN else "ms")
        if units != {self._unit}:
            raise SourceRefusedError(
                f"{self._name}{'' if line is None else f':{line}'}: seconds and milliseconds are mixed in one file;"
                " export them apart, or bring them to one unit"
            )
        return np.rint(numbers * (1000.0 if self._unit == "s" else 1.0)).astype(np.int64)

    def token_of(self, instant: datetime) -> bytes:
        """An instant as a timestamp in the file's unit."""
        seconds = instant.timestamp()
        return f"{seconds:.3f}".encode() if self._unit == "s" else str(round(seconds * 1000)).encode()

    def _keep(self, key: tuple[int, bytes, bytes], text: bytes, times_ms: TimesMs) -> None:
        times_ms.setflags(write=False)
        if len(self._kept) >= KEPT_TEXTS or self._kept_bytes + len(text) > KEPT_BYTES:
            self._kept.clear()
            self._kept_bytes = 0
        self._kept[key] = (text, times_ms)
        self._kept_bytes += len(text)
