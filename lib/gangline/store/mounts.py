"""Counters that show one thing twice: mounts of one export on one node share their transport and count alike."""

from collections.abc import Hashable, Iterable, Mapping
from itertools import combinations

import numpy as np

from gangline.store.reading import SeriesSamples


class SeenTwice:
    """Told the samples of series a stretch of time after the other, it knows which series show the same.

    Two series of one key are equal where they share timestamps and agree at every one of them.

    Parameters
    ----------
    keys
        What each series that may be one thing seen twice is of; the others are never equal.
    """

    def __init__(self, keys: Mapping[int, Hashable]) -> None:
        by_key: dict[Hashable, list[int]] = {}
        for series_id in sorted(keys):
            by_key.setdefault(keys[series_id], []).append(series_id)
        pairs = (pair for rivals in by_key.values() for pair in combinations(rivals, 2))
        self._agree: dict[tuple[int, int], bool | None] = dict.fromkeys(pairs)
        self._sizes: dict[int, int] = {}

    @property
    def is_possible(self) -> bool:
        """True where two series have one key."""
        return bool(self._agree)

    def take(self, series: Mapping[int, SeriesSamples]) -> None:
        """Compares the next stretch."""
        for series_id, samples in series.items():
            self._sizes[series_id] = self._sizes.get(series_id, 0) + samples.times_ms.size
        for (one, other), agree in self._agree.items():
            if agree is not False and one in series and other in series:
                found = _agreement(series[one], series[other])
                self._agree[one, other] = agree if found is None else found

    def counted(self, series_ids: Iterable[int]) -> list[int]:
        """The series that count: all but those equal to another one that does.

        Of two, the one with more samples stays; of equally long ones the one with the smaller id.
        """
        kept: list[int] = []
        for series_id in sorted(series_ids, key=lambda each: (-self._sizes.get(each, 0), each)):
            if not any(self._agree.get((min(series_id, rival), max(series_id, rival))) for rival in kept):
                kept.append(series_id)
        return sorted(kept)


def counted_once(series: Mapping[int, SeriesSamples], keys: Mapping[int, Hashable]) -> list[int]:
    """The series that count, of those whose samples are all at hand."""
    seen = SeenTwice({series_id: keys[series_id] for series_id in series if series_id in keys})
    seen.take(series)
    return seen.counted(series)


def _agreement(one: SeriesSamples, other: SeriesSamples) -> bool | None:
    """Whether two series have the same values where they share timestamps; null where they share none."""
    _, of_one, of_other = np.intersect1d(one.times_ms, other.times_ms, assume_unique=True, return_indices=True)
    return bool((one.values[of_one] == other.values[of_other]).all()) if of_one.size else None
