"""VictoriaMetrics `/api/v1/export`: a series a line, written in bulk from matrices; form and quirks as in formats 2.1.

Timestamps of one target are made into text once. A node that was not scraped leaves samples out, in all of its series.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
import zstandard
from numpy.typing import NDArray

from gangline.simulate.number_texts import Integers, row_texts

ZSTD_LEVEL = 1
Labels = Mapping[str, str]


@dataclass(frozen=True, eq=False)
class Target:
    """What one exporter of one node gave at each scrape.

    Attributes
    ----------
    labels
        Of every series: `job`, `instance`.
    times_ms
        Scrapes, ascending, milliseconds since 1970.
    is_scraped
        Which of them were answered; null where all were.
    """

    labels: Labels
    times_ms: Integers
    is_scraped: NDArray[np.bool_] | None = None


@dataclass(frozen=True, eq=False)
class SeriesBlock:
    """Series of one metric: `values[series, scrape]` in units of the last of its decimals.

    Attributes
    ----------
    targets
        The place of each series' target in the list of targets.
    labels
        Each series' own labels, besides those of its target.
    is_always
        True for what the scraper itself writes (`up`), also where a target did not answer.
    first
        The scrape from which on there are samples.
    """

    metric: str
    targets: Sequence[int]
    labels: Sequence[Labels]
    values: Integers
    decimals: int = 0
    is_always: bool = False
    first: int = 0


class VmLines:
    """Writes blocks of series to a stream; each target's timestamps are made into text once."""

    def __init__(self, stream: BinaryIO, targets: Sequence[Target]) -> None:
        self._stream, self._targets = stream, targets
        self._texts: dict[bytes, bytes] = {}
        self.samples = 0

    def write(self, block: SeriesBlock) -> None:
        """Writes one line a series; a series without a sample has no line."""
        kept = [self._kept(block, self._targets[target]) for target in block.targets]
        whole = [place for place, is_kept in enumerate(kept) if is_kept is None]
        texts = dict(zip(whole, row_texts(block.values[whole], block.decimals), strict=True))
        for place, is_kept in enumerate(kept):
            if is_kept is not None:
                (texts[place],) = row_texts(block.values[place][is_kept][None], block.decimals)
            if texts[place]:
                self._line(block, place, texts[place], self._times(self._targets[block.targets[place]], is_kept))

    def _kept(self, block: SeriesBlock, target: Target) -> NDArray[np.bool_] | None:
        """Which scrapes gave a sample; null where all did."""
        is_kept = None if block.is_always else target.is_scraped
        if block.first == 0:
            return is_kept
        is_late = np.arange(target.times_ms.size) >= block.first
        return is_late if is_kept is None else is_late & is_kept

    def _line(self, block: SeriesBlock, place: int, values: bytes, times: bytes) -> None:
        target = self._targets[block.targets[place]]
        labels = {"__name__": block.metric, **target.labels, **block.labels[place]}
        envelope = json.dumps(labels, separators=(",", ":")).encode()
        self._stream.write(b'{"metric":%b,"values":[%b],"timestamps":[%b]}\n' % (envelope, values, times))
        self.samples += values.count(b",") + 1

    def _times(self, target: Target, is_kept: NDArray[np.bool_] | None) -> bytes:
        times_ms = target.times_ms if is_kept is None else target.times_ms[is_kept]
        key = times_ms.tobytes()
        if key not in self._texts:
            (self._texts[key],) = row_texts(times_ms[None])
        return self._texts[key]


def write_export(path: Path, targets: Sequence[Target], blocks: Iterator[SeriesBlock], level: int = ZSTD_LEVEL) -> int:
    """Writes one export, compressed, whole or not at all; gives the number of its samples."""
    part = path.with_name(path.name + ".part")
    with part.open("wb") as raw, zstandard.ZstdCompressor(level=level).stream_writer(raw) as stream:
        lines = VmLines(stream, targets)
        for block in blocks:
            lines.write(block)
    part.replace(path)
    return lines.samples
