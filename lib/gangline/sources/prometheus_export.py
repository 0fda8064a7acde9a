"""VictoriaMetrics `/api/v1/export`: one JSON object a line with a series' labels, values and timestamps.

The two lists are cut out of the line by their keys and read by the number parser; what is left is a small JSON object.
An unescaped quote cannot stand inside a JSON string, so `"values":[` is never part of a label.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from gangline.sources.files import InputFile
from gangline.sources.prometheus_json import json_value
from gangline.sources.prometheus_judging import (
    SERIES_MAX_BYTES,
    SampleError,
    check_lengths,
    check_size,
    judged,
    labels_of,
)
from gangline.sources.prometheus_numbers import NumberError, parse_numbers
from gangline.sources.prometheus_times import Clock, TimeError
from gangline.sources.read_log import ReadLog
from gangline.sources.samples import SampleBatch

_EXPORT_LINE = re.compile(rb'\s*\{\s*"(?:metric"\s*:\s*\{|values"|timestamps")')
_API_POINTS = re.compile(rb'"(?:values"\s*:\s*\[\s*\[|value"\s*:\s*\[|histograms?"\s*:\s*\[|timestamps"\s*:)')
_LIST = re.compile(rb'"(values|timestamps)"\s*:\s*\[')
_TAIL_BYTES = 100  # of a line that breaks off, for the ledger


@dataclass(frozen=True)
class _Cut:
    """Where a list begins and ends in its line, brackets included."""

    name: bytes
    start: int
    end: int

    def inside(self, line: bytes) -> bytes:
        return line[self.start + 1 : self.end - 1]


def is_export(head: bytes) -> bool:
    """True where a file's first bytes are those of such lines, and not of series cut from an answer of the API."""
    points = _API_POINTS.search(head)
    return _EXPORT_LINE.match(head) is not None and (points is None or points[0].startswith(b'"timestamps'))


def read_export(file: InputFile, log: ReadLog) -> Iterator[SampleBatch]:
    """Yields each line's series; a line that cannot be read costs only itself."""
    return read_lines(file.lines(SERIES_MAX_BYTES), Clock(str(file.path.name)), log)


def read_lines(lines: Iterable[tuple[int, bytes]], clock: Clock, log: ReadLog) -> Iterator[SampleBatch]:
    """Yields the series of numbered lines, which may be some of a file's."""
    for number, line in lines:
        if not line.strip():
            continue
        log.split()
        try:
            batch = _series(line, number, clock)
        except (SampleError, NumberError, TimeError) as error:
            log.reject(number, str(error), _shown(line))
            continue
        log.load()
        yield judged(batch, log)


def _series(line: bytes, number: int, clock: Clock) -> SampleBatch:
    check_size(line, SERIES_MAX_BYTES)
    cuts = list(_cuts(line))
    lists = {cut.name: cut.inside(line) for cut in cuts}
    if len(cuts) != 2 or len(lists) != 2:
        raise SampleError("it is no series of values and timestamps, or breaks off; export it again")
    labels = labels_of(_envelope(line, cuts).get("metric"))
    values = parse_numbers(lists[b"values"])
    times_ms = clock.list_of_ms(lists[b"timestamps"], number)
    check_lengths(times_ms, values)
    return SampleBatch(labels, times_ms, values, number)


def _cuts(line: bytes) -> Iterator[_Cut]:
    position = 0
    while match := _LIST.search(line, position):
        position = line.find(b"]", match.end()) + 1
        if position == 0:
            return
        yield _Cut(match[1], match.end() - 1, position)


def _envelope(line: bytes, cuts: list[_Cut]) -> dict[str, object]:
    """The line without its lists, which leaves no room for what was not read."""
    first, second = cuts
    rest = line[: first.start] + b"0" + line[first.end : second.start] + b"0" + line[second.end :]
    text = rest.decode("utf-8", "replace").strip()
    envelope, end = json_value(text)
    if not isinstance(envelope, dict) or end < len(text):
        raise SampleError("it is no JSON object alone on its line; export it again")
    return envelope


def _shown(line: bytes) -> str:
    cut = line if len(line) <= 4 * _TAIL_BYTES else line[: 3 * _TAIL_BYTES] + b" ... " + line[-_TAIL_BYTES:]
    return cut.decode("utf-8", "replace")
