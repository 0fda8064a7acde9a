"""Host lists as schedulers print them (`gpu[001-003,007]`), to node names and back.

Parsing and folding are ClusterShell's, with its node groups and set operators shut off: a host list is data, and a
text that is not plainly one is an error, never a guess.
"""

import math
import re
import sys
from collections.abc import Iterable
from functools import lru_cache

from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet, NodeSetException

MAX_NODES = 200_000  # Slurm's own limit is 65,536; a damaged range must not fill the memory
NO_NODES = frozenset({"", "None assigned", "(null)", "None", "N/A", "Unknown"})

_NAME = r"[\w.:-]"
_SPANS = r"\[\d+(?:-\d+)?(?:,\d+(?:-\d+)?)*\]"
_ENTRY = re.compile(rf"(?:{_NAME}|{_SPANS})+")
_PLAIN = re.compile(rf"{_NAME}+")


class HostListError(ValueError):
    """A text that is no host list: what is wrong with which part of it."""


def expand(text: str) -> tuple[str, ...]:
    """The distinct nodes of a host list, in natural order, with their zero padding as written.

    Parameters
    ----------
    text
        Names and bracketed ranges joined by commas, in one or several dimensions. The words that schedulers print
        for "no nodes" (`None assigned`, `(null)`, nothing) give an empty tuple.

    Raises
    ------
    HostListError
        If the text is not plainly a host list, or names more than `MAX_NODES` nodes.

    Examples
    --------
    >>> expand("b04-[09-10]")
    ('b04-09', 'b04-10')
    >>> expand("r[1-2]n[01-02],login1")
    ('login1', 'r1n01', 'r1n02', 'r2n01', 'r2n02')
    >>> expand("None assigned")
    ()
    """
    text = text.strip()
    if _is_name(text) and text not in NO_NODES:
        return (sys.intern(text),)
    return _expanded(text)


def fold(nodes: Iterable[str]) -> str:
    """Node names as the shortest host list that `expand` reads back; names that are no host names stand as they are.

    Examples
    --------
    >>> fold(["gpu007", "gpu001", "gpu002", "gpu003"])
    'gpu[001-003,007]'
    """
    names = sorted(set(nodes))
    plain = [name for name in names if _is_name(name)]
    strange = [name for name in names if not _is_name(name)]
    folded = [str(NodeSet.fromlist(plain, resolver=RESOLVER_NOGROUP))] if plain else []
    return ",".join(folded + strange)


def _is_name(text: str) -> bool:
    return bool(_PLAIN.fullmatch(text)) and _has_plain_digits(text)


def _has_plain_digits(text: str) -> bool:
    return text.isascii() or all(letter.isascii() or letter.isalpha() for letter in text)


@lru_cache(maxsize=1024)
def _expanded(text: str) -> tuple[str, ...]:
    if text in NO_NODES:
        return ()
    _check(text)
    try:
        nodes = NodeSet(text, resolver=RESOLVER_NOGROUP)
    except NodeSetException as error:
        raise HostListError(f"not a host list: {_shown(text)} ({error})") from error
    return tuple(sys.intern(node) for node in nodes)


def _check(text: str) -> None:
    entries = re.split(r",(?![^\[]*\])", text)
    for entry in entries:
        if not (_ENTRY.fullmatch(entry) and _has_plain_digits(entry)):
            raise HostListError(f"not a host list: {_shown(text)} (cannot read {_shown(entry)})")
    if sum(map(_size, entries)) > MAX_NODES:
        raise HostListError(f"not a host list: {_shown(text)} names more than {MAX_NODES:,} nodes")


def _size(entry: str) -> int:
    return math.prod(sum(map(_width, spans.split(","))) for spans in re.findall(r"\[([^\]]*)\]", entry))


def _width(span: str) -> int:
    first, _, last = span.partition("-")
    return max(int(last) - int(first) + 1, 0) if last and len(last) < 20 else 1 if not last else MAX_NODES + 1


def _shown(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")
