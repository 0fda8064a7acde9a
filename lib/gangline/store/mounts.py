"""Counters that show one thing twice: mounts of one export on one node share their transport and count alike."""

from collections.abc import Hashable, Mapping

import numpy as np

from gangline.store.reading import SeriesSamples


def counted_once(series: Mapping[int, SeriesSamples], keys: Mapping[int, Hashable]) -> list[int]:
    """The series that count: all but those equal to another one of the same key.

    Two are equal where they share timestamps and agree at every one of them; the one with more samples stays, of
    equally long ones the one with the smaller id. Series without a key always count.
    """
    by_size = sorted(series, key=lambda series_id: (-series[series_id].times_ms.size, series_id))
    kept: list[int] = []
    by_key: dict[Hashable, list[int]] = {}
    for series_id in by_size:
        rivals = by_key.setdefault(keys[series_id], []) if series_id in keys else []
        if not any(_is_equal(series[series_id], series[rival]) for rival in rivals):
            rivals.append(series_id)
            kept.append(series_id)
    return sorted(kept)


def _is_equal(one: SeriesSamples, other: SeriesSamples) -> bool:
    _, of_one, of_other = np.intersect1d(one.times_ms, other.times_ms, assume_unique=True, return_indices=True)
    return bool(of_one.size) and bool((one.values[of_one] == other.values[of_other]).all())
