"""JSON read as a stream of records: arrays at known places, documents one after the other, lines of JSON.

A document (or an element of a top-level array) that fits the buffer is decoded at once; a larger one is walked, so
that memory holds one item of it at a time. What is damaged is one `JsonDamage`; reading goes on at the next document
that begins a line, so that a cut page or a bad line costs only itself.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import BinaryIO

from gangline.sources.json_buffer import DamagedJsonError, JsonBuffer

Path = tuple[str, ...]


@dataclass(frozen=True)
class JsonItem:
    """One element of an array at a wanted path, or (path `()`) a document less those arrays."""

    ordinal: int  # from 1, counted per path over the whole stream
    line: int  # where its document begins
    path: Path
    value: object


@dataclass(frozen=True)
class JsonDamage:
    """Text that is no JSON, up to the next document: one reject."""

    line: int
    reason: str
    text: str


class _Walker:
    """Cuts documents into items and counts them."""

    def __init__(self, buffer: JsonBuffer, paths: Collection[Path]) -> None:
        self.buffer = buffer
        self.paths = frozenset(paths)
        self.prefixes = frozenset(path[:length] for path in paths for length in range(len(path)))
        self.counts: dict[Path, int] = {}
        self.line = 1

    def item(self, path: Path, value: object) -> JsonItem:
        self.counts[path] = self.counts.get(path, 0) + 1
        return JsonItem(self.counts[path], self.line, path, value)

    def documents(self) -> Iterator[JsonItem]:
        """The items of the next document, or of each document of a top-level array."""
        if self.buffer.peek() != "[":
            yield from self.document()
            return
        for _ in self.elements():
            yield from self.document()

    def document(self) -> Iterator[JsonItem]:
        self.line = self.buffer.line()
        is_whole, value = self.buffer.try_value()
        if is_whole:
            yield from self.split(value, ())
            yield self.item((), value)
        elif self.buffer.peek() == "{":
            rest: dict[str, object] = {}
            yield from self.members((), rest)
            yield self.item((), rest)
        else:
            yield self.item((), self.buffer.value())

    def split(self, value: object, path: Path) -> Iterator[JsonItem]:
        """Takes the wanted arrays out of a decoded document."""
        if not isinstance(value, dict):
            return
        for key in [key for key in value if (*path, key) in self.paths and isinstance(value[key], list)]:
            for element in value.pop(key):
                yield self.item((*path, key), element)
        for key, child in value.items():
            if (*path, key) in self.prefixes:
                yield from self.split(child, (*path, key))

    def members(self, path: Path, rest: dict[str, object]) -> Iterator[JsonItem]:
        """Walks an object too large for the buffer, decoding what is not wanted into `rest`."""
        for _ in self.buffer.parts("{", "}"):
            key = self.buffer.key()
            child = (*path, key)
            if child in self.paths and self.buffer.peek() == "[":
                for _ in self.elements():
                    yield self.item(child, self.buffer.value())
            elif child in self.prefixes and self.buffer.peek() == "{":
                nested: dict[str, object] = {}
                rest[key] = nested
                yield from self.members(child, nested)
            else:
                rest[key] = self.buffer.value()

    def elements(self) -> Iterator[None]:
        return self.buffer.parts("[", "]")


def json_items(stream: BinaryIO, paths: Collection[Path] = ()) -> Iterator[JsonItem | JsonDamage]:
    r"""Yields the elements of the arrays at `paths` and, after them, each document less those arrays.

    Parameters
    ----------
    stream
        Bytes of JSON: one document, several in a row, one a line, or an array of documents. Invalid UTF-8 is replaced
        (`JsonBuffer.replaced_count` of a buffer of your own tells how often; see `buffered_items`).
    paths
        Key paths of the arrays wanted, as `("data", "compute_session_list", "items")`.

    Examples
    --------
    >>> import io
    >>> for item in json_items(io.BytesIO(b'{"jobs": [1, 2], "meta": {}}\n{"jobs": [3, oops'), [("jobs",)]):
    ...     print(item)
    JsonItem(ordinal=1, line=1, path=('jobs',), value=1)
    JsonItem(ordinal=2, line=1, path=('jobs',), value=2)
    JsonItem(ordinal=1, line=1, path=(), value={'meta': {}})
    JsonItem(ordinal=3, line=2, path=('jobs',), value=3)
    JsonDamage(line=2, reason='no JSON: Expecting value', text='oops')
    """
    return buffered_items(JsonBuffer(stream), paths)


def buffered_items(buffer: JsonBuffer, paths: Collection[Path] = ()) -> Iterator[JsonItem | JsonDamage]:
    """`json_items` over a buffer that the caller keeps, to ask it for `replaced_count` at the end."""
    walker = _Walker(buffer, paths)
    is_resumed = False
    while buffer.peek():
        try:
            yield from walker.documents()
        except DamagedJsonError as damage:
            yield JsonDamage(damage.line, damage.reason, damage.text)
            buffer.skip_to_document()
            is_resumed = True
        if is_resumed:
            buffer.skip_separators()
