"""Parameters of a notebook: held to the types that its `parameters` cell says, by the runner and in the notebook."""

import ast
import difflib
from collections.abc import Iterable, Mapping
from typing import Any

import yaml
from pydantic import TypeAdapter, ValidationError

from gangline.charts.labels import legible
from gangline.windows import Window, WindowError

PAPERMILL_MARK = "# Parameters\n"
MOST_NEAR, MOST_LISTED, LONGEST_SAID = 3, 20, 60
TEXT_TYPES = {"str", "Optional[str]", "None"}


class ParameterError(ValueError):
    """A parameter that cannot be: one line that names it and says how to give it."""


def check_types(annotations: Mapping[str, Any], values: Mapping[str, Any]) -> None:
    """Hold every annotated value to its type; nothing is converted, so `flag = "false"` never passes for true.

    Raises
    ------
    ParameterError
        For the first value of another type.

    Examples
    --------
    >>> check_types({"start": str}, {"start": 2025})  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    gangline.report.parameters.ParameterError: parameter start is text, but arrived as the number 2025; use -r ...
    """
    for name, hint in annotations.items():
        if name in values:
            _check_type(name, hint, values[name])


def check_names(sources: Iterable[str], known: Iterable[str]) -> None:
    """Hold the names that papermill set to those that the notebook knows; by hand it only logs the others.

    Parameters
    ----------
    sources
        The cells that ran so far; papermill marks its own.

    Raises
    ------
    ParameterError
        For the first unknown name, with the nearest known one.

    Examples
    --------
    >>> check_names(["# Parameters\\nsicne = 3"], ["since"])
    Traceback (most recent call last):
    gangline.report.parameters.ParameterError: unknown parameter sicne; did you mean since? known: since
    """
    names = list(known)
    for source in sources:
        if source.startswith(PAPERMILL_MARK):
            for name in _assigned(source):
                _known_type(name, dict.fromkeys(names, ""))


def _assigned(source: str) -> list[str]:
    targets = [target for line in ast.parse(source).body if isinstance(line, ast.Assign) for target in line.targets]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _check_type(name: str, hint: Any, value: Any) -> None:
    try:
        TypeAdapter(hint).validate_python(value, strict=True)
    except ValidationError as error:
        if isinstance(value, int | float) and not isinstance(value, bool) and _takes_text(hint):
            why = "papermill's -p turns what looks like a number into one"
            mend = f"use -r {name} {value} ({why})"
            raise ParameterError(f"parameter {name} is text, but arrived as the number {value}; {mend}") from None
        kind = getattr(hint, "__name__", str(hint))
        reason = error.errors()[0]["msg"]
        raise ParameterError(f"parameter {name} is {value!r}, not of type {kind}: {reason}") from None


def _takes_text(hint: Any) -> bool:
    try:
        TypeAdapter(hint).validate_python("text", strict=True)
    except ValidationError:
        return False
    return True


def read(texts: Mapping[str, str], known: Mapping[str, str]) -> dict[str, Any]:
    """Turn the texts of a command line into values of the types that the notebooks say.

    Parameters
    ----------
    texts : mapping
        `key=value` as typed.
    known : mapping
        Name and type of every parameter, as papermill finds them.

    Raises
    ------
    ParameterError
        For an unknown name (with the nearest known one) or a text that is not of the type.

    Examples
    --------
    >>> read({"top": "3", "node": "007"}, {"top": "int", "node": "str"})
    {'top': 3, 'node': '007'}
    """
    return {name: _value(name, text, _known_type(name, known)) for name, text in texts.items()}


def nearest(name: str, known: Iterable[str]) -> str:
    """Say which known names there are, each once, and which hold the name or come near it.

    >>> nearest("node", ["08_node_exclusions", "09_node_cases", "02_runs"])
    'did you mean 08_node_exclusions or 09_node_cases? known: 02_runs, 08_node_exclusions, 09_node_cases'
    >>> nearest("x", [])
    'known: none'
    """
    names = sorted(set(known))
    holding = [full for full in names if name in full]
    close = holding[:MOST_NEAR] or difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    hint = f"did you mean {' or '.join(map(_said, close))}? " if close else ""
    rest = f" and {len(names) - MOST_LISTED:,} more" if len(names) > MOST_LISTED else ""
    return f"{hint}known: {', '.join(map(_said, names[:MOST_LISTED])) or 'none'}{rest}"


def _said(name: str) -> str:
    """A name of the warehouse on one line of a terminal, whatever it holds."""
    return legible(name, LONGEST_SAID)


def _known_type(name: str, known: Mapping[str, str]) -> str:
    if name not in known:
        raise ParameterError(f"unknown parameter {name}; {nearest(name, known)}")
    return known[name]


def _value(name: str, text: str, kind: str) -> Any:
    if kind in TEXT_TYPES:
        return text
    try:
        value = yaml.safe_load(text)
    except yaml.YAMLError:
        raise ParameterError(f"parameter {name}: {text!r} is no YAML value of type {kind}") from None
    plain = {"int": int, "float": float, "bool": bool}.get(kind)
    if plain:
        _check_type(name, plain, value)
    return value


def window(start: str, end: str, whole: Window) -> Window:
    """Give the window that two texts name within an export; an empty text is the export's own edge.

    Raises
    ------
    ParameterError
        If a text is no date, or the end is not after the start.
    """
    if not start and not end:
        return whole
    first, last = whole.folder.split("_") if whole.days else (start, end)
    try:
        return Window.between(start or first, end or last, whole.time_zone)
    except WindowError as error:
        raise ParameterError(f"parameters start and end: {error}") from None
