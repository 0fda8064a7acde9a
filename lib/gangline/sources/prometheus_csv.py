r"""VictoriaMetrics `/api/v1/export/csv`: no header; the columns are those of its `format=`, which the config repeats.

A field with a comma or quote in it is quoted as Go does (`"say \"hi\""`), never by doubling; carriage returns and tabs
stand as they are; one line is one sample.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from gangline.estimates.wording import counted
from gangline.sources.files import InputFile
from gangline.sources.prometheus_judging import CUT_LINE, LINE_MAX_BYTES, SampleError, labels_of
from gangline.sources.prometheus_labels import unquoted
from gangline.sources.prometheus_lines import SampleLines
from gangline.sources.prometheus_numbers import parse_numbers
from gangline.sources.prometheus_times import Clock, TimeError
from gangline.sources.read_log import ReadLog, SourceRefusedError
from gangline.sources.samples import NAME_LABEL, SampleBatch, TimesMs

VALUE, TIMESTAMP = "__value__", "__timestamp__"
_FIELD = re.compile(rb'("(?:[^"\\]|\\.)*"|[^,]*)(?:,|$)', re.DOTALL)
_NUMERIC_FORMATS = {"", "unix_s", "unix_ms", "unix_ns"}
FORMAT_HINT = 'set format of this [[sources]] entry to the format= it was exported with, as "__name__,instance,__value__,__timestamp__:unix_ms"'  # noqa: E501


@dataclass(frozen=True)
class CsvFormat:
    """The columns of an export: label names by place, where value and time stand, and how times are written."""

    labels: dict[int, str]
    value: int
    time: int
    time_format: str
    column_count: int

    @classmethod
    def of(cls, text: str, name: str) -> "CsvFormat":
        """Reads a `format=`.

        Raises
        ------
        SourceRefusedError
            Where it names no metric, value or time, or a layout of times without a zone.
        """
        columns = [column.strip() for column in text.split(",")]
        bare = [column.partition(":")[0] for column in columns]
        missing = [column for column in (NAME_LABEL, VALUE, TIMESTAMP) if column not in bare]
        if missing:
            raise SourceRefusedError(f"{name}: its format has no {missing[0]}; {FORMAT_HINT}")
        time = bare.index(TIMESTAMP)
        time_format = columns[time].partition(":")[2]
        if time_format not in _NUMERIC_FORMATS | {"rfc3339"}:
            raise SourceRefusedError(
                f"{name}: times as {time_format!r} have no zone; export with __timestamp__:unix_ms"
            )
        labels = {place: column for place, column in enumerate(bare) if column not in (VALUE, TIMESTAMP)}
        return cls(labels, bare.index(VALUE), time, time_format, len(columns))


def read_csv(file: InputFile, columns: str | None, log: ReadLog) -> Iterator[SampleBatch]:
    """Yields samples by series, a bounded number of lines at a time.

    Raises
    ------
    SourceRefusedError
        Where the config does not say the columns.
    """
    if columns is None:
        raise SourceRefusedError(f"{file.path.name}: a CSV without a header; {FORMAT_HINT}")
    shape = CsvFormat.of(columns, file.path.name)
    clock = Clock(file.path.name)
    lines: SampleLines[tuple[bytes, ...]] = SampleLines(
        lambda key: _labels(key, shape), lambda tokens, line: _times(tokens, line, shape, clock), log
    )
    for number, line, is_whole in file.whole_lines(LINE_MAX_BYTES):
        if not line:
            continue
        fields = _fields(line)
        if len(fields) != shape.column_count or not is_whole:
            log.split()
            log.reject(number, _reason(fields, shape, line), _shown(line[:500]))
            continue
        key = tuple(fields[place] for place in shape.labels)
        if lines.add(key, fields[shape.value], fields[shape.time], number):
            yield from lines.flush()
    yield from lines.flush()


def _fields(line: bytes) -> list[bytes]:
    if b'"' not in line:
        return line.split(b",")
    fields, position = [], 0
    while position <= len(line):
        match = _FIELD.match(line, position)
        if match is None:
            return []
        fields.append(match[1])
        position = match.end() if match.end() > position else position + 1
        if position == len(line) and not match[0].endswith(b","):
            break
    return fields


def _reason(fields: list[bytes], shape: CsvFormat, line: bytes) -> str:
    if len(line) > LINE_MAX_BYTES:
        return f"a line of more than {LINE_MAX_BYTES >> 20} MiB is no sample; leave the series out"
    if len(fields) != shape.column_count:
        return (
            f"it has {counted(len(fields), 'fields')}; its format has {shape.column_count}: mend the one or the other"
        )
    return CUT_LINE


def _labels(key: tuple[bytes, ...], shape: CsvFormat) -> dict[str, str]:
    return labels_of({name: unquoted(field) for name, field in zip(shape.labels.values(), key, strict=True)})


def _times(tokens: list[bytes], line: int, shape: CsvFormat, clock: Clock) -> TimesMs:
    if shape.time_format == "rfc3339":
        return np.array([_ms_of(token) for token in tokens], dtype=np.int64)
    numbers = parse_numbers(b",".join(tokens))
    return clock.to_ms(numbers / 1e6 if shape.time_format == "unix_ns" else numbers, line)


def _ms_of(token: bytes) -> int:
    try:
        instant = datetime.fromisoformat(token.decode("utf-8", "replace"))
    except ValueError:
        raise TimeError(
            f"{token[:40].decode('utf-8', 'replace')!r} is no RFC 3339 time; export with __timestamp__:unix_ms"
        ) from None
    if instant.tzinfo is None:
        raise SampleError("its time has no zone; export with __timestamp__:unix_ms")
    return round(instant.astimezone(UTC).timestamp() * 1000)


def _shown(line: bytes) -> str:
    return line.decode("utf-8", "replace")
