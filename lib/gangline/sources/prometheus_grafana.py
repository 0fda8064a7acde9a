"""CSV that Grafana downloads from a panel, in its shapes: joined by time, one frame after another, rows, tables.

A panel holds points of a query's grid. Values that Grafana formatted (`1.98 GHz`) are rounded and carry units: a
plain number or per cent is read, anything else asks for an export with "Formatted data" off.
"""

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from gangline.sources.clocks import readings
from gangline.sources.files import UTF8_BOM, InputFile
from gangline.sources.prometheus_judging import SERIES_MAX_BYTES, SampleError, labels_of
from gangline.sources.prometheus_labels import series_of_text
from gangline.sources.prometheus_lines import SampleLines
from gangline.sources.prometheus_numbers import parse_numbers
from gangline.sources.prometheus_times import Clock, TimeError
from gangline.sources.read_log import ReadLog, SourceOptions
from gangline.sources.samples import NAME_LABEL, SampleBatch, TimesMs

_HEAD = re.compile(rb'(?:\xef\xbb\xbf)?(?:sep=(.)\r?\n)?"?Time"?([,;\t])', re.IGNORECASE)
_MS = re.compile(r"\d{11,14}")
_PLAIN_UNIT = re.compile(r"\s*(%|W|°C|C|s|)")
_NUMBER = re.compile(r"([-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|Inf(?:inity)?|NaN))(.*)", re.DOTALL)
_VALUE_COLUMN = re.compile(r"Value(?: #.*)?")
_EMPTY_CELLS = {"", "null", "undefined", "-"}
Series = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class _Frame:
    """One header: the places of label columns, and of the columns with values and what they are called."""

    labels: dict[int, str]
    values: dict[int, str]
    name_place: int | None = None


def is_grafana(head: bytes) -> bool:
    """True where the file begins with a header whose first column is Time."""
    return _HEAD.match(head) is not None


def read_grafana(file: InputFile, options: SourceOptions, log: ReadLog) -> Iterator[SampleBatch]:
    """Yields the points of every series in the file, as points of a grid unless the config says they are samples."""
    clock = Clock(file.path.name)
    zone = ZoneInfo(options.time_zone)
    lines: SampleLines[Series] = SampleLines(
        _labels, lambda tokens, line: _times(tokens, line, zone, clock), log, is_gridded=options.api_points != "raw"
    )
    delimiter = _delimiter(file)
    frame: _Frame | None = None
    for number, cells in _rows(file, delimiter, log):
        if not any(cells) or cells[0].startswith("sep="):
            continue
        if frame is None or cells[0].strip().lower() == "time":
            frame = _frame(cells)
        elif _add_row(lines, frame, cells, number, delimiter, log):
            yield from lines.flush()
    yield from lines.flush()


def _delimiter(file: InputFile) -> str:
    with file.open() as stream:
        match = _HEAD.match(stream.read(64))
    assert match is not None
    return (match[1] or match[2]).decode()


def _rows(file: InputFile, delimiter: str, log: ReadLog) -> Iterator[tuple[int, list[str]]]:
    """Rows with the line that each ends on; after one that is no CSV, a new one begins."""
    text = (line.removeprefix(UTF8_BOM).decode("utf-8", "replace") + "\n" for _, line in file.lines(SERIES_MAX_BYTES))
    reader = csv.reader(text, delimiter=delimiter)
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            log.split()
            log.reject(reader.line_num, f"no row of CSV ({error}): export the panel again")
        else:
            yield reader.line_num, cells


def _frame(header: list[str]) -> _Frame:
    """Rows (Time, Metric, Value) and tables (Time, labels, Value) name series in the row, the rest in the header."""
    if [name.lower() for name in header] == ["time", "metric", "value"]:
        return _Frame({}, {2: ""}, name_place=1)
    values = {place: "" for place, name in enumerate(header) if place and _VALUE_COLUMN.fullmatch(name)}
    if values:
        labels = {place: name for place, name in enumerate(header) if place and place not in values}
        return _Frame(labels, values)
    return _Frame({}, {place: name for place, name in enumerate(header) if place})


def _add_row(
    lines: SampleLines[Series], frame: _Frame, cells: list[str], number: int, delimiter: str, log: ReadLog
) -> bool:
    labels = tuple((name, cells[place]) for place, name in frame.labels.items() if place < len(cells))
    is_full = False
    for place, name in frame.values.items():
        text = cells[place] if place < len(cells) else ""
        if text.strip() in _EMPTY_CELLS:
            continue
        value = _number(text, delimiter)
        series = cells[frame.name_place] if frame.name_place is not None else name
        if value is None:
            log.split()
            log.reject(number, f'{text!r} is formatted: export the panel with "Formatted data" off', ",".join(cells))
        else:
            is_full |= lines.add((("", series), *labels), value, cells[0].encode(), number)
    return is_full


def _number(text: str, delimiter: str) -> bytes | None:
    """A cell's number; null where it carries a unit that may have scaled it."""
    plain = text.strip().replace(",", ".") if delimiter == ";" else text.strip()
    match = _NUMBER.fullmatch(plain)
    return match[1].encode() if match and _PLAIN_UNIT.fullmatch(match[2]) else None


def _labels(key: Series) -> dict[str, str]:
    """Labels of a row's columns, or a series as Grafana writes it; a legend stands for the metric's name."""
    name, labels = key[0][1], dict(key[1:])
    if labels:
        return labels_of(labels if NAME_LABEL in labels else {NAME_LABEL: "grafana_table"} | labels)
    if re.fullmatch(r"[A-Za-z_:][\w:]*(\{.*\})?|\{.*\}", name, re.DOTALL):
        try:
            return series_of_text(name.encode(), is_go_quoted=True)
        except SampleError:
            return labels_of({NAME_LABEL: name})
    return labels_of({NAME_LABEL: name})


def _times(tokens: list[bytes], line: int, zone: ZoneInfo, clock: Clock) -> TimesMs:
    texts = [token.decode("utf-8", "replace").strip() for token in tokens]
    numbers = [text if _MS.fullmatch(text) else str(_wall_ms(text, zone)) for text in texts]
    return clock.to_ms(parse_numbers(",".join(numbers).encode()), line)


def _wall_ms(text: str, zone: ZoneInfo) -> int:
    """A wall time of the zone in ms, the earlier reading where a clock change repeats it."""
    try:
        instants = readings(datetime.fromisoformat(text), zone)
    except ValueError:
        raise TimeError(f'{text[:40]!r} is no time; export the panel with "Formatted data" off') from None
    if not instants:
        raise TimeError(f"{text!r} never was in {zone.key}; set time_zone of this [[sources]] entry")
    return round(instants[0].timestamp() * 1000)
