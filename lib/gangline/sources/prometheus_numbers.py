"""Lists of numbers in text: the one place that knows which parser is installed.

simdjson where there is one, else polars; both round as IEEE 754 asks. What strict JSON has no word for (bare +Inf, NaN,
null, quoted infinities, -0) takes the slower way, so that no file fails for it.
"""

import re
from collections.abc import Callable
from importlib.util import find_spec
from typing import cast

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]

_FEW_BYTES = 1_024  # below it, calling a parser costs more than Python's own loop
_QUOTES_AND_BLANKS = (b'"', b" ", b"\t", b"\r", b"\n")
_GLUED = re.compile(rb'[^,\s"]{1,20}[\s"]+[^,\s"]{1,20}')
_RARE_LETTERS = (b"n", b"N", b"I", b'"', b"[")  # of null, NaN, Infinity, "..."; a list in the list is none
_NEGATIVE_ZERO = re.compile(rb"-0(?=[,\s]|$)")
_NUMBER = re.compile(rb"[+-]?(?:\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?|[iI]nf(?:inity)?|[nN]a[nN])")


class NumberError(ValueError):
    """Text that is no list of numbers; the message quotes the first token that is none."""


def _no_number(token: bytes) -> NumberError:
    return NumberError(f"{token[:40].decode('utf-8', 'replace')!r} is no number; export it again")


def parse_numbers(text: bytes) -> Numbers:
    """The doubles of a comma-separated list; null is NaN.

    Raises
    ------
    NumberError
        At the first token that is no number.

    Examples
    --------
    >>> parse_numbers(b'1, null, +Inf, "-Infinity", -0, 9007199254740993').tolist()
    [1.0, nan, inf, -inf, -0.0, 9007199254740992.0]
    """
    if not text.strip():
        return np.empty(0)
    if len(text) < _FEW_BYTES:
        return _by_token(_plain(text))
    if any(letter in text for letter in _RARE_LETTERS) or _has_negative_zero(text):
        return _by_polars(_plain(text))
    return _fast(text)


def is_number(token: bytes) -> bool:
    """True for one number, whatever it is.

    >>> is_number(b"-1.5e-3"), is_number(b"NaN"), is_number(b"0x10"), is_number(b"")
    (True, True, False, False)
    """
    return _NUMBER.fullmatch(token) is not None


def _has_negative_zero(text: bytes) -> bool:
    # One byte is sought at memory speed, two are not; and few lists hold a minus.
    return b"-" in text and b"-0" in text and _NEGATIVE_ZERO.search(text) is not None


def _plain(text: bytes) -> bytes:
    """The list without quotes and blanks, after a look that none of them stands between two numbers."""
    text = text.replace(b", ", b",")
    if any(mark in text for mark in _QUOTES_AND_BLANKS):
        if glued := _GLUED.search(text):
            raise _no_number(glued[0])
        text = text.translate(None, b"".join(_QUOTES_AND_BLANKS))
    return text.replace(b"null", b"nan")


def _by_token(text: bytes) -> Numbers:
    tokens = text.split(b",")
    for token in tokens:
        if not _NUMBER.fullmatch(token):
            raise _no_number(token)
    return np.array([float(token) for token in tokens])


def _by_polars(text: bytes) -> Numbers:
    """One number a line, as a table of one column; an empty field would pass for null, so those are sought first."""
    import polars as pl  # late: few exports need it, and the second reader would start with it

    if b",," in text or text.startswith(b",") or text.endswith(b","):
        raise _no_number(b"")
    try:
        table = pl.read_csv(
            text.replace(b",", b"\n"),
            has_header=False,
            schema={"value": pl.Float64},
            separator="\x01",
            quote_char=None,
        )
    except pl.exceptions.PolarsError:
        return _by_token(text)
    column = table.to_series()
    if column.null_count() or column.len() != text.count(b",") + 1:
        return _by_token(text)
    return column.to_numpy()


def _with_simdjson() -> Callable[[bytes], Numbers]:
    import simdjson

    parser = simdjson.Parser()

    def by_simdjson(text: bytes) -> Numbers:
        try:
            document = cast("simdjson.Array", parser.parse(b"[" + text + b"]"))
            return np.frombuffer(document.as_buffer(of_type="d"), dtype=np.float64)
        except (ValueError, TypeError, RuntimeError):
            return _by_polars(_plain(text))  # more digits than an integer holds, or a token to be named

    return by_simdjson


def _without_simdjson(text: bytes) -> Numbers:
    return _by_polars(_plain(text))


HAS_SIMDJSON = find_spec("simdjson") is not None
_fast = _with_simdjson() if HAS_SIMDJSON else _without_simdjson
