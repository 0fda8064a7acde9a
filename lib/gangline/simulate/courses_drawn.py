"""The cases' own courses: values that leave the usual on one node or GPU over a stretch."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from gangline.simulate.meters import Meter
from gangline.simulate.plan import CoursePlan, Plan
from gangline.simulate.scrape_grid import DaySlice, ScrapeGrid

Gauges = NDArray[np.int64]


class Courses:
    """All courses of a plan's cases, by what they measure."""

    def __init__(self, plan: Plan, grid: ScrapeGrid) -> None:
        self._grid, self._gpus = grid, plan.cluster.gpus_per_node
        self._places = {node: place for place, node in enumerate(plan.cluster.nodes)}
        self._courses = [course for case in plan.cases for course in case.courses]

    def over_nodes(self, measure: str, day: DaySlice, values: Gauges) -> Gauges:
        """The values, `[node, scrape]`, with those of the courses in their place."""
        for course in self._of(measure):
            self._lay(course, day, values[self._places[course.node]])
        return values

    def over_gpus(self, measure: str, day: DaySlice, values: Gauges) -> Gauges:
        """The values, `[node and gpu, scrape]`, likewise; a course without a GPU holds for all of its node."""
        for course in self._of(measure):
            first = self._places[course.node] * self._gpus
            gpus = range(self._gpus) if course.gpu is None else (course.gpu,)
            for gpu in gpus:
                self._lay(course, day, values[first + gpu])
        return values

    def into_meter(self, measure: str, meter: Meter, scale: float, per_node: int = 1) -> None:
        """Lets a counter count at the course's rate while it lasts, `scale` amounts a step for each unit of it.

        Parameters
        ----------
        per_node
            How many counters of the meter a node has: 1, or one a GPU.
        """
        for course in self._of(measure):
            row, (first, stop) = self._places[course.node] * per_node + (course.gpu or 0), self._span(course)
            wanted = np.round(self._values(course, np.arange(first, stop)) * scale).astype(np.int64)
            if first < stop:
                steps = np.arange(first, stop)
                meter.add(row, steps, steps + 1, wanted - meter.rates(row, first, stop))

    def gpu_totals(self, measure: str, day: DaySlice, rows: int) -> Gauges:
        """A count that a GPU keeps, `[node and gpu, scrape]`: its first and last value hold before and after."""
        values = np.zeros((rows, day.count), np.int64)
        for course in self._of(measure):
            told = self._values(course, np.arange(day.first, day.stop))
            values[self._places[course.node] * self._gpus + (course.gpu or 0)] = np.floor(told).astype(np.int64)
        return values

    def _of(self, measure: str) -> Iterable[CoursePlan]:
        return (course for course in self._courses if course.measure == measure)

    def _span(self, course: CoursePlan) -> tuple[int, int]:
        first = self._grid.scrape_from(course.points[0][0])
        return first, max(first, self._grid.scrape_from(course.points[-1][0]))

    def _lay(self, course: CoursePlan, day: DaySlice, row: Gauges) -> None:
        first, stop = self._span(course)
        first, stop = max(first, day.first), min(stop, day.stop)
        if first < stop:
            told = self._values(course, np.arange(first, stop))
            row[first - day.first : stop - day.first] = np.round(told).astype(np.int64)

    def _values(self, course: CoursePlan, scrapes: NDArray[np.int64]) -> NDArray[np.float64]:
        """The course at these scrapes; by steps, a point's value holds until the next one."""
        at_ms = self._grid.from_ms + scrapes * self._grid.step_ms
        knots = np.array([at for at, _ in course.points], np.int64)
        values = np.array([value for _, value in course.points], np.float64)
        if course.by_steps:
            return np.asarray(values[np.clip(np.searchsorted(knots, at_ms, "right") - 1, 0, None)])
        return np.asarray(np.interp(at_ms - knots[0], knots - knots[0], values))
