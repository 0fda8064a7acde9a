"""Every headline figure by its stable id: what its card says, and which way is good where that is beyond dispute."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import duckdb

from gangline.estimates import Estimate
from gangline.report.entries import ENTRIES, Entry
from gangline.report.figures import Figure
from gangline.windows import Window

Analysis = Callable[[duckdb.DuckDBPyConnection, Window], dict[str, Estimate]]


class UnknownFigureError(KeyError):
    """A figure that the catalogue does not know: add it there and to docs/figures.md."""


CATALOGUE: dict[str, Entry] = ENTRIES


def headlines(
    estimates: Mapping[str, Estimate],
    previous: Mapping[str, Estimate] | None = None,
    tests: Mapping[str, float] | None = None,
) -> list[Figure]:
    """Figures from estimates by id, each with its value in the window before (None for the whole export).

    Parameters
    ----------
    tests : mapping, optional
        The p of an exact test against the window before, by figure id.

    Raises
    ------
    UnknownFigureError
        If an id is not in the catalogue.
    """
    return [_figure(name, estimate, previous or {}, tests or {}) for name, estimate in estimates.items()]


def with_courses(
    estimates: Mapping[str, Estimate],
    courses: Mapping[str, Sequence[float | None]],
    tests: Mapping[str, float] | None = None,
) -> list[Figure]:
    """Figures whose windows before were computed on today's data as well.

    Parameters
    ----------
    courses : mapping
        Values of the windows before by figure id, oldest first, the last of them that of the window just before.

    Raises
    ------
    UnknownFigureError
        If an id is not in the catalogue.
    """
    figures = headlines(estimates, None, tests)
    return [_along(figure, courses.get(figure.id, ())) for figure in figures]


def _along(figure: Figure, course: Sequence[float | None]) -> Figure:
    return replace(figure, previous=course[-1], history=tuple(course)) if course else figure


def _figure(name: str, estimate: Estimate, previous: Mapping[str, Estimate], tests: Mapping[str, float]) -> Figure:
    stem, part = _stem(name)
    entry = CATALOGUE[stem]
    label = f"{entry.label}, {part}" if part else entry.label
    before = previous[name].value if name in previous else None
    return Figure(name, estimate, before, label, entry.definition, entry.better, tests.get(name))


def _stem(name: str) -> tuple[str, str]:
    """The figure and the stage or kind that it is of, whose own name may hold dots."""
    if name in CATALOGUE:
        return name, ""
    field, figure, part = (*name.split(".", 2), "", "")[:3]
    if f"{field}.{figure}" not in CATALOGUE or not part:
        raise UnknownFigureError(f"{name} is not in the catalogue of figures")
    return f"{field}.{figure}", part
