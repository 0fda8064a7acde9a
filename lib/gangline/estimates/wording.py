"""How numbers of each unit read on a page: decimals, signs and words."""

UNIT_WORDS = {
    "ratio": "%",
    "ratio_difference": "percentage points",
    "times": "times",
    "index": "",
    "p": "",
    "shape": "",
    "count": "",
    "per_1000_node_days": "per 1,000 node-days",
    "per_h": "per h",
    "gpu_h": "GPU-h",
    "node_h": "node-h",
    "gb": "GB",
    "tb_per_day": "TB per day",
    "kb": "KB",
    "gb_per_s": "GB/s",
    "mb_per_s": "MB/s",
}
"""What stands behind a number of the unit; a unit that is not here is its own word, with spaces for underscores."""

PERCENTAGES = {"ratio", "ratio_difference"}
"""Units whose value is a fraction of 1 and is shown times 100."""

FIXED_DECIMALS = {
    "ratio": 1,
    "ratio_difference": 1,
    "times": 2,
    "index": 3,
    "p": 3,
    "per_1000_node_days": 2,
    "shape": 2,
}
"""Units that always carry so many decimals; the others lose them as the number grows."""


def number(value: float, unit: str) -> str:
    """Write a value without its unit word; a `ratio` becomes a percentage.

    >>> number(0.333, "ratio"), number(0.98, "h"), number(56.26, "h"), number(1294, "h"), number(23, "count")
    ('33.3', '0.98', '56.3', '1,294', '23')
    """
    shown = value * 100 if unit in PERCENTAGES else value
    if shown == 0:
        return "0"
    if float(shown).is_integer() and unit not in FIXED_DECIMALS and (abs(shown) >= 1000 or not _is_measure(unit)):
        return f"{shown:,.0f}"
    return _rounded(shown, FIXED_DECIMALS.get(unit))


def words(value: float, unit: str) -> str:
    """Write a value with its unit word.

    >>> words(0.333, "ratio"), words(7.108, "per_1000_node_days"), words(1, "sessions"), words(0.0004, "p")
    ('33.3 %', '7.11 per 1,000 node-days', '1 session', '< 0.001')
    """
    if unit == "p" and value < 0.001:
        return "< 0.001"
    return f"{number(value, unit)} {word(unit, is_one=value == 1)}".rstrip()


def word(unit: str, *, is_one: bool = False) -> str:
    """Name a unit as it stands behind its number.

    >>> word("per_1000_node_days"), word("sessions", is_one=True), word("index")
    ('per 1,000 node-days', 'session', '')
    """
    if unit in UNIT_WORDS:
        return UNIT_WORDS[unit]
    return _singular(unit.replace("_", " ")) if is_one else unit.replace("_", " ")


def span(low: float | None, high: float | None, unit: str) -> str:
    """Write an interval; a side that is None has no bound.

    >>> span(0.138, 0.609, "ratio"), span(0.5, None, "times"), span(None, 2, "h")
    ('13.8 to 60.9', 'at least 0.50', 'at most 2.0')
    """
    if low is None and high is None:
        return ""
    if low is None or high is None:
        return f"at least {number(low, unit)}" if low is not None else f"at most {number(high or 0.0, unit)}"
    return f"{number(low, unit)} to {number(high, unit)}"


def counted(count: float, nouns: str) -> str:
    """Write a count before what is counted: the one place that knows one from many.

    >>> counted(1, "sessions"), counted(1_234, "history rows"), counted(0, "GPUs"), counted(1, "times")
    ('1 session', '1,234 history rows', '0 GPUs', '1 time')
    """
    return f"{count:,.0f} {_singular(nouns) if count == 1 else nouns}"


def _is_measure(unit: str) -> bool:
    return unit.split("_")[-1] in {"h", "min", "s", "ms", "gb", "kb", "d"}


def _rounded(shown: float, decimals: int | None) -> str:
    size = abs(shown)
    if decimals is not None:
        return f"{shown:.2g}" if size < 0.5 * 10**-decimals else f"{shown:,.{decimals}f}"
    if size < 1:
        return f"{shown:.2g}"
    return f"{shown:,.1f}" if size < 1000 else f"{shown:,.0f}"


def _singular(noun: str) -> str:
    """The one of many; the nouns are ours, so its few rules are enough.

    >>> _singular("gang sessions"), _singular("histories"), _singular("processes"), _singular("series")
    ('gang session', 'history', 'process', 'series')
    """
    if len(noun) < 4 or not noun.endswith("s") or noun.endswith("series"):
        return noun
    if noun.endswith("ies"):
        return f"{noun[:-3]}y"
    return noun[:-2] if noun.endswith(("sses", "xes", "shes", "tches")) else noun[:-1]
