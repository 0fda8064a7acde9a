"""Cards for headline figures: value, change with the word that may be said of it, course, interval, definition."""

import re
from collections.abc import Sequence

from markupsafe import Markup

from gangline.estimates.wording import number, span, words
from gangline.report.figures import Figure, Judgement

CARD = Markup(
    '<article class="card" id="{anchor}" aria-label="{label}"><p class="card-label">{label}</p>'
    '<p class="card-value">{value}</p>{change}'
    '<div class="card-course">{course}</div><p class="card-note">{note}</p>'
    '<p class="card-definition">{definition}</p></article>'
)
CHANGE = Markup('<p class="card-change{}"><b><span aria-hidden="true">{}</span> {}</b> vs {}, {}</p>')
COURSE = Markup('<svg class="course" viewBox="0 0 {:.0f} {:.0f}" role="img" aria-label="{}">{}{}</svg>')
NO_CHANGE = Markup('<p class="card-change"></p>')
CLASSES = {Judgement.BETTER: " is-better", Judgement.WORSE: " is-worse", Judgement.OUTSIDE: " is-outside"}
NUMBER_AND_UNIT = re.compile(r"((?:< )?[-−]?\d[\d.,e+-]*)(?: (.+))?")
COURSE_WIDTH, COURSE_HEIGHT, COURSE_MARGIN = 112.0, 26.0, 3.0


def cards(figures: Sequence[Figure], before: str | None) -> Markup:
    """Write a row of cards; `before` names the window before, None where there is none to compare with."""
    return Markup('<div class="cards">{}</div>').format(Markup("").join(_card(figure, before) for figure in figures))


def plain(figures: Sequence[Figure]) -> str:
    """Write the same figures as lines of text."""
    return "\n".join(f"{figure.label or figure.id}: {figure.estimate}" for figure in figures)


def course(values: Sequence[float | None], label: str) -> Markup:
    """Draw the course of a figure, oldest value first, as a small line; a missing value is a gap."""
    known = [value for value in values if value is not None]
    if len(known) < 2:
        return Markup("")
    dots = [_dot(position, value, len(values), min(known), max(known)) for position, value in enumerate(values)]
    lines = Markup("").join(
        Markup('<polyline points="{}"/>').format(Markup.escape(" ".join(run))) for run in _runs(dots)
    )
    last = next(dot for dot in reversed(dots) if dot).split(",")
    end = Markup('<circle cx="{}" cy="{}" r="2.4"/>').format(*last)
    return COURSE.format(COURSE_WIDTH, COURSE_HEIGHT, label, lines, end)


def change(figure: Figure, before: str) -> Markup:
    """Write the change against the window before: arrow, difference, and the word that the evidence allows."""
    judged = figure.judgement()
    if judged is Judgement.UNKNOWN or figure.change is None:
        return Markup('<p class="card-change">no value for {}</p>').format(before)
    arrow = "■" if figure.change == 0 else "▲" if figure.change > 0 else "▼"
    return CHANGE.format(CLASSES.get(judged, ""), arrow, difference(figure), before, judged.value)


def difference(figure: Figure) -> str:
    """Write the signed difference, in percentage points for a ratio.

    >>> from gangline.estimates import Estimate
    >>> difference(Figure("x", Estimate(0.53, "ratio", 10), previous=0.51))
    '+2.0 points'
    """
    step, unit = figure.change or 0.0, figure.estimate.unit
    sign = "" if step == 0 else "+" if step > 0 else "−"
    if unit == "ratio":
        return f"{sign}{abs(step) * 100:.1f} points"
    return f"{sign}{words(abs(step), unit)}"


def both(figure: Figure, printed: float) -> tuple[str, str]:
    """Write the value that the page before printed, and today's for the same window."""
    today, unit = figure.previous, figure.estimate.unit
    return words(printed, unit), "not measured" if today is None else words(today, unit)


def _card(figure: Figure, before: str | None) -> Markup:
    estimate = figure.estimate
    value = "not measured" if estimate.value is None else words(estimate.value, estimate.unit)
    history = [*figure.history, estimate.value] if figure.history else []
    return CARD.format(
        anchor=f"figure-{figure.id}",
        label=figure.label,
        value=_large(value),
        change=NO_CHANGE if before is None else change(figure, before),
        course=course(history, f"{figure.label}: the windows before and this one"),
        note=_note(figure),
        definition=figure.definition,
    )


def _large(value: str) -> Markup:
    parts = NUMBER_AND_UNIT.fullmatch(value)
    if parts is None:
        return Markup('<span class="card-missing">{}</span>').format(value)
    unit = Markup('<span class="card-unit"> {}</span>').format(parts[2]) if parts[2] else ""
    return Markup("{}{}").format(parts[1], unit)


def _note(figure: Figure) -> str:
    estimate = figure.estimate
    if estimate.value is None:
        return str(estimate.reason)
    interval = span(estimate.low, estimate.high, estimate.unit)
    level = f"{number(estimate.level or 0.95, 'ratio').removesuffix('.0')} % interval {interval}" if interval else ""
    population = f"n = {estimate.n:,}" if estimate.n is not None and estimate.n != estimate.value else ""
    return "; ".join(part for part in (population, level) if part)


def _dot(position: int, value: float | None, count: int, low: float, high: float) -> str:
    if value is None:
        return ""
    x = COURSE_MARGIN + position * (COURSE_WIDTH - 2 * COURSE_MARGIN) / (count - 1)
    share = (value - low) / (high - low) if high > low else 0.5
    y = COURSE_HEIGHT - COURSE_MARGIN - share * (COURSE_HEIGHT - 2 * COURSE_MARGIN)
    return f"{x:.1f},{y:.1f}"


def _runs(dots: list[str]) -> list[list[str]]:
    runs: list[list[str]] = [[]]
    for dot in dots:
        if dot:
            runs[-1].append(dot)
        elif runs[-1]:
            runs.append([])
    return [run for run in runs if len(run) > 1]
