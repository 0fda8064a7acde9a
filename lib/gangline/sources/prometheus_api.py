"""Answers of the Prometheus HTTP API (and promtool's JSON), cut into series as they stream by.

Whatever wraps them (status and data, a bare array, several answers in a row), each series begins with
`{"metric":{`, which no JSON string can hold unescaped; so the answer's size does not matter.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from gangline.sources.files import InputFile
from gangline.sources.prometheus_json import json_value
from gangline.sources.prometheus_judging import SERIES_MAX_BYTES, SampleError, check_size, judged, labels_of
from gangline.sources.prometheus_numbers import NumberError, Numbers, parse_numbers
from gangline.sources.prometheus_times import Clock, TimeError
from gangline.sources.prometheus_wrappers import Wrapper
from gangline.sources.read_log import ReadLog
from gangline.sources.samples import SampleBatch

CHUNK_BYTES = 1 << 20
HEAD_MAX_BYTES = 1 << 22  # before the first series
_ITEM = re.compile(rb'\{\s*"metric"\s*:\s*\{')
_ITEM_OVERLAP = 64
_POINTS = re.compile(rb'"(values?|histograms?)"\s*:\s*\[')
_CLOSE = re.compile(rb"\]\s*\]")
_HISTOGRAMS = re.compile(rb'"histograms?"\s*:\s*\[')
_PUNCTUATION = b'[]"'
_SHOWN_BYTES = 400


@dataclass(frozen=True)
class ApiPiece:
    """What stands before the first series (`ordinal` 0), then each series with what follows it up to the next."""

    ordinal: int
    text: bytes


@dataclass(frozen=True)
class ApiSeries:
    """A series' labels, its points as pairs, and the text that follows it; no points where they are histograms."""

    labels: dict[str, str]
    pairs: Numbers | None
    is_instant: bool
    outside: bytes


def pieces(file: InputFile) -> Iterator[ApiPiece]:
    """Cuts a document before every series, holding one series at a time; ends at one that is too large to hold."""
    buffer, searched, ordinal = bytearray(), 0, 0
    with file.open() as stream:
        while chunk := stream.read(CHUNK_BYTES):
            buffer += chunk
            begin = 0
            for start in [match.start() for match in _ITEM.finditer(buffer, searched)]:
                yield ApiPiece(ordinal, bytes(buffer[begin:start]))
                ordinal, begin = ordinal + 1, start
            del buffer[:begin]
            searched = max(1 if ordinal else 0, len(buffer) - _ITEM_OVERLAP)
            if len(buffer) > (SERIES_MAX_BYTES if ordinal else HEAD_MAX_BYTES):
                break
    yield ApiPiece(ordinal, bytes(buffer))


def read_api(file: InputFile, is_gridded: bool, log: ReadLog) -> Iterator[SampleBatch]:
    """Yields the series of matrices and vectors.

    Raises
    ------
    SourceRefusedError
        Where an answer is an error, or the file is no answer with series.
    """
    clock, wrapper = Clock(file.path.name), Wrapper(file.path.name, log)
    for piece in pieces(file):
        if piece.ordinal == 0:
            wrapper.before(piece.text)
            continue
        log.split()
        try:
            series = api_series(piece)
            batch = _batch(series, piece.ordinal, clock, is_gridded)
        except (SampleError, NumberError, TimeError) as error:
            log.reject(piece.ordinal, str(error), piece.text[:_SHOWN_BYTES].decode("utf-8", "replace"))
            wrapper.after(b"]")
            continue
        wrapper.after(series.outside)
        if batch is not None and _HISTOGRAMS.search(series.outside):
            log.odd("histograms_left_out", piece.ordinal)
        if batch is None:
            log.ignore("native histogram")
            continue
        log.load()
        yield judged(batch, log)
    wrapper.end()


def api_series(piece: ApiPiece) -> ApiSeries:
    """Takes a piece apart.

    Raises
    ------
    SampleError, NumberError
        Where it breaks off or is none.
    """
    text = piece.text
    check_size(text, SERIES_MAX_BYTES)
    key = _POINTS.search(text)
    if key is None:
        raise SampleError("it has no values, or the file breaks off inside it; export it again")
    labels = labels_of(_metric(text[: key.start()]))
    if key[1].startswith(b"histogram"):
        return ApiSeries(labels, None, False, b"]")
    start, is_instant = key.end(), key[1] == b"value"
    end, after = _instant_end(text, start) if is_instant else _list_end(text, start)
    flat = parse_numbers(text[start:end].translate(None, _PUNCTUATION))
    if flat.size != 2 * (1 if is_instant else text.count(b"[", start, end)):
        raise SampleError("its points are no pairs of time and value; export it again")
    return ApiSeries(labels, flat.reshape(-1, 2), is_instant, text[after:])


def _batch(series: ApiSeries, ordinal: int, clock: Clock, is_gridded: bool) -> SampleBatch | None:
    if series.pairs is None:
        return None
    times_ms = clock.to_ms(series.pairs[:, 0], ordinal)
    is_looked_up = is_gridded or series.is_instant
    return SampleBatch(series.labels, times_ms, series.pairs[:, 1].copy(), ordinal, is_gridded=is_looked_up)


def _metric(head: bytes) -> object:
    metric, _ = json_value(head[head.index(b":") + 1 :].decode("utf-8", "replace"))
    return metric


def _instant_end(text: bytes, start: int) -> tuple[int, int]:
    end = text.find(b"]", start)
    if end < 0:
        raise SampleError("the file breaks off inside it; export it again")
    return end, end + 1


def _list_end(text: bytes, start: int) -> tuple[int, int]:
    """Where the points end, and where the list does."""
    if text[start : start + _ITEM_OVERLAP].lstrip().startswith(b"]"):
        end = text.index(b"]", start)
        return end, end + 1
    compact = text.find(b"]]", start)
    if compact >= 0:
        return compact + 1, compact + 2
    close = _CLOSE.search(text, start)
    if close is None:
        raise SampleError("the file breaks off inside it; export it again")
    return close.start() + 1, close.end()
