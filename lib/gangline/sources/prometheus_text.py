"""Text with a sample a line: exposition and federation, OpenMetrics, `promtool tsdb dump`, `promtool query`.

The numbers are taken from the right, because labels may hold anything: `name{labels} value [time]`.
"""

import re
from collections.abc import Iterator
from datetime import datetime

from gangline.sources.files import InputFile
from gangline.sources.prometheus_judging import CUT_LINE, LINE_MAX_BYTES
from gangline.sources.prometheus_labels import series_of_text
from gangline.sources.prometheus_lines import SampleLines
from gangline.sources.prometheus_numbers import is_number, parse_numbers
from gangline.sources.prometheus_times import Clock
from gangline.sources.read_log import ReadLog, SourceRefusedError
from gangline.sources.samples import SampleBatch, TimesMs

_EXEMPLAR = re.compile(rb"([^{}]*(?:\{.*\})?\s+\S+(?:\s+\S+)?)\s+# \{.*")
_TYPE = re.compile(rb"#\s*TYPE\s+(\S+)\s+(\S+)")
_ARROW, _AT = b"=>", b"@["
_KINDS = {"counter", "gauge", "histogram", "summary"}
_PARTS = {"_bucket": "counter", "_count": "counter", "_sum": "counter", "_total": "counter", "_created": "gauge"}


def is_promtool_query(head: bytes) -> bool:
    """True for what `promtool query` prints: a series and an arrow."""
    return _ARROW in head.partition(b"\n")[0].rpartition(b"}")[2]


def read_text(
    file: InputFile, exported_at: datetime | None, log: ReadLog, is_gridded: bool = False
) -> Iterator[SampleBatch]:
    """Yields samples by series, a bounded number of lines at a time.

    Parameters
    ----------
    exported_at
        The instant of a scrape whose lines hold no times.
    is_gridded
        True where they are known to be points of a query's grid.

    Raises
    ------
    SourceRefusedError
        Where lines hold no times and none is given, or mix seconds and milliseconds.
    """
    text = _Text(file.path.name, exported_at, log, is_gridded)
    for number, line, is_whole in file.whole_lines(LINE_MAX_BYTES):
        if text.take(number, line, is_whole):
            yield from text.lines.flush()
    yield from text.lines.flush()
    text.end()


class _Text:
    """The state of one file: its comments, the series that promtool wrote above its points."""

    def __init__(self, name: str, exported_at: datetime | None, log: ReadLog, is_gridded: bool) -> None:
        self._name, self._exported_at, self._log = name, exported_at, log
        self._clock = Clock(name)
        self._kinds: dict[str, str] = {}
        self._is_exposition = False
        self._header: bytes | None = None
        self._has_samples = False
        self._latest_time = b""
        self.lines: SampleLines[bytes] = SampleLines(self._labels, self._times, log, self._kind, is_gridded)

    def take(self, number: int, line: bytes, is_whole: bool) -> bool:
        """Takes a line; true where enough are held."""
        if len(line) > LINE_MAX_BYTES:
            return self._reject(
                number, f"a line of more than {LINE_MAX_BYTES >> 20} MiB is no sample; leave the series out", line[:500]
            )
        if not line or line.isspace() or line.startswith(b"#"):
            self._comment(line)
            return False
        key, numbers = _parted(self._without_exemplar(line, number))
        if not is_whole and self._is_cut(numbers):
            return self._reject(number, CUT_LINE, line)
        if _ARROW in numbers or self._header is not None:
            return self._take_promtool(number, key, numbers)
        if len(numbers) == 2:
            return self._add(key, numbers[0], numbers[1], number)
        if len(numbers) == 1 and is_number(numbers[0]) and (self._exported_at is not None or not self._latest_time):
            return self._add(key, numbers[0], b"", number)
        return self._reject(number, "it is no sample (name{labels} value time); export it again", line)

    def end(self) -> None:
        """Refuses a file without a sample (a list of series, say)."""
        if not self._has_samples and self._log.rejected:
            raise SourceRefusedError(f"{self._name}: no line of it is a sample (name{{labels}} value time)")

    def _take_promtool(self, number: int, key: bytes, numbers: list[bytes]) -> bool:
        """`series =>` heads points `value @[time]`; an instant stands on the line itself."""
        if numbers == [_ARROW]:
            self._header = key
            return False
        if numbers[:1] == [_ARROW] and len(numbers) == 3:
            series, value, time = key, numbers[1], numbers[2]
        elif self._header is not None and len(numbers) == 1 and numbers[0].startswith(_AT):
            series, value, time = self._header, key, numbers[0]
        else:
            return self._reject(number, "it is no point (value @[time]); export it again", key)
        return self._add(series, value, time.removeprefix(_AT).removesuffix(b"]"), number)

    def _add(self, key: bytes, value: bytes, time: bytes, number: int) -> bool:
        if not time and self._exported_at is None:
            raise SourceRefusedError(
                f"{self._name}:{number}: the line holds no time; set exported_at of this [[sources]] entry to the"
                " instant of the scrape"
            )
        self._has_samples, self._latest_time = True, time or self._latest_time
        return self.lines.add(key, value, time, number)

    def _is_cut(self, numbers: list[bytes]) -> bool:
        """Of a last line without a newline: whether its time is shorter than the one before, or lacks its bracket."""
        time = numbers[-1] if len(numbers) > 1 else b""
        if any(number.startswith(_AT) for number in numbers):
            return not numbers[-1].endswith(b"]")
        return self._has_samples and len(time) < max(1, len(self._latest_time))

    def _without_exemplar(self, line: bytes, number: int) -> bytes:
        match = _EXEMPLAR.fullmatch(line) if b" # {" in line else None
        if match is None:
            return line
        self._log.odd("exemplar_left_out", number)
        return match[1]

    def _reject(self, number: int, reason: str, line: bytes) -> bool:
        self._log.split()
        self._log.reject(number, reason, _shown(line))
        return False

    def _comment(self, line: bytes) -> None:
        match = _TYPE.match(line)
        if match:
            self._kinds[match[1].decode("utf-8", "replace")] = match[2].decode("utf-8", "replace").lower()
        self._is_exposition |= match is not None or line.startswith(b"# HELP")

    def _labels(self, key: bytes) -> dict[str, str]:
        return series_of_text(key, is_go_quoted=not self._is_exposition)

    def _times(self, tokens: list[bytes], line: int) -> TimesMs:
        if b"" in tokens and self._exported_at is not None:
            tokens = [token or self._clock.token_of(self._exported_at) for token in tokens]
        return self._clock.to_ms(parse_numbers(b",".join(tokens)), line)

    def _kind(self, metric: str) -> str | None:
        kind = self._kinds.get(metric)
        for suffix, part_kind in _PARTS.items():
            if kind is None and metric.endswith(suffix):
                family = self._kinds.get(metric.removesuffix(suffix))
                kind = part_kind if family in _KINDS - {"gauge"} else None
        return kind if kind in _KINDS else None


def _parted(line: bytes) -> tuple[bytes, list[bytes]]:
    """The series, and what follows it: labels may hold anything, so they are sought from the right."""
    head, brace, tail = line.rpartition(b"}")
    if brace:
        return head + brace, tail.split()
    key, *numbers = line.split()
    return key, numbers


def _shown(line: bytes) -> str:
    return line.decode("utf-8", "replace")
