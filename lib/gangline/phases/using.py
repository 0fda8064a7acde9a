"""How busy the GPUs of nodes were, day by day; series that share their timestamps are added up before they are cut."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

import numpy as np

from gangline.phases.stretches import Values
from gangline.roles.gpu_use import NodeSums, level_by_step
from gangline.roles.resolving import ResolvedRole
from gangline.sources.samples import DCGM_BLANK_MIN, DCGM_PREFIX
from gangline.store.matrix import Grid
from gangline.store.reading import SampleStore
from gangline.store.timelines import DayTimes


@dataclass(eq=False)
class _Alike:
    """Series of one node that share their timestamps: the sum of their samples, and how many they are."""

    times: DayTimes
    total: Values
    gpus: int = 1


class GpuDays:
    """The role of GPU use, read by day."""

    def __init__(self, store: SampleStore, role: ResolvedRole) -> None:
        self._role, self._rows_of = role, store.rows_by_day(role.source.metric)
        self._limit = DCGM_BLANK_MIN if role.source.metric.startswith(DCGM_PREFIX) else np.inf
        rows = role.series.select("series_id", "node", "gpu_index", "gpu_uuid").iter_rows()
        self._node_of = {series: node for series, node, index, uuid in rows if node and (index, uuid) != (None, None)}

    def take(self, day: date, grid: Grid, places: Mapping[str, int]) -> NodeSums:
        """Sums of use over the GPUs of each of these nodes in each step, and how many GPUs tell.

        Series of one node that share their timestamps and have all their samples are one to the grid: the sum of
        their latest samples in a step is the latest sample of their sum.
        """
        sums = NodeSums.none(len(places), grid.step_count)
        alike: dict[tuple[int, int], _Alike] = {}  # holding the timestamps keeps their id from being used again
        for row in self._rows_of(day):
            place = places.get(self._node_of.get(row.series_id, ""))
            if place is None:
                continue
            if not row.values.max(initial=0.0) < self._limit:  # nor is NaN
                values = np.where(row.values < self._limit, row.values, np.nan)
                sums.add(place, level_by_step(row.times.times_ms, values, grid))
                continue
            known = alike.get((place, id(row.times)))
            if known is None:
                alike[place, id(row.times)] = _Alike(row.times, row.values.copy())
            else:
                known.total += row.values
                known.gpus += 1
        for (place, _), group in alike.items():
            level = level_by_step(group.times.times_ms, group.total, grid)
            is_known = ~np.isnan(level)
            sums.total[place] += np.where(is_known, level, 0.0)
            sums.count[place] += group.gpus * is_known
        sums.total[:] *= self._role.source.scale
        return sums
