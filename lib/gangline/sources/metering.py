"""How far the reading of a file has come, told about once a second."""

import time
from collections.abc import Callable, Iterator
from typing import TypeVar

from gangline.sources.files import InputFile

Batch = TypeVar("Batch")
Meter = Callable[[int, int], None]
METER_S = 1.0


def metered(batches: Iterator[Batch], file: InputFile, meter: Meter) -> Iterator[Batch]:
    """The same batches; the meter is told how many bytes of the file are read and how many it has."""
    size_bytes, told_s = file.path.stat().st_size, time.monotonic()
    for batch in batches:
        if time.monotonic() - told_s >= METER_S:
            told_s = time.monotonic()
            meter(file.position(), size_bytes)
        yield batch
