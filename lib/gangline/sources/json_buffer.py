"""A text buffer over a byte stream from which JSON values are decoded one at a time."""

import codecs
import json
import re
from collections.abc import Iterator
from typing import BinaryIO

CHUNK_BYTES = 1 << 18
_TEXT_CHARS = 500
_TAIL_CHARS = 16  # an error this near the buffer's end may be a value that the next chunk completes
_LOOK_BEHIND_CHARS = 64
_BLANK = re.compile(r"[ \t\n\r\ufeff\x1e]*")  # byte-order marks and json-seq separators between documents too
_NEXT_DOCUMENT = re.compile(r"\n[\ufeff\x1e]?[ \t]?(?=[{\[]\s*[\"{\[\]}])")
_ESCAPED_BYTE = re.compile("[\udc80-\udcff]")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")

_DECODER = json.JSONDecoder(strict=False)
# An integer of more than 4,300 digits is refused by int(); it is data all the same.
_LENIENT_DECODER = json.JSONDecoder(strict=False, parse_int=float)


class DamagedJsonError(ValueError):
    """What stands in the buffer is no JSON."""

    def __init__(self, line: int, reason: str, text: str) -> None:
        super().__init__(f"line {line}: {reason}")
        self.line, self.reason, self.text = line, reason, text


class JsonBuffer:
    """Holds the text not yet consumed; `replaced_count` says how many invalid bytes became U+FFFD."""

    def __init__(self, stream: BinaryIO) -> None:
        self.replaced_count = 0
        self._stream = stream
        self._bytes = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        self._text = ""
        self._position = 0
        self._is_over = False
        self._line = 1
        self._counted = 0
        self._chunk = CHUNK_BYTES

    def line(self) -> int:
        """The line that the next character stands on."""
        self._line += self._text.count("\n", self._counted, self._position)
        self._counted = self._position
        return self._line

    def peek(self) -> str:
        """The next character that is not blank, empty at the end of the stream."""
        while True:
            match = _BLANK.match(self._text, self._position)
            self._position = match.end() if match else self._position
            if self._position < len(self._text):
                return self._text[self._position]
            if not self._more():
                return ""

    def take(self, wanted: str) -> None:
        """Consumes the one character `wanted`."""
        if self.peek() != wanted:
            raise self._damaged(self._position, f"expecting {wanted}")
        self._position += 1

    def parts(self, opening: str, closing: str) -> Iterator[None]:
        """Stands before each member of an object or element of an array, and consumes what is around them."""
        self.take(opening)
        if self.peek() == closing:
            self.take(closing)
            return
        while True:
            self._chunk = CHUNK_BYTES
            yield
            if self.peek() == closing:
                self.take(closing)
                return
            self.take(",")

    def key(self) -> str:
        """Consumes an object's key and its colon."""
        if self.peek() != '"':
            raise self._damaged(self._position, "expecting a key")
        key = self.value()
        self.take(":")
        return str(key)

    def value(self) -> object:
        """Consumes the next value, reading on until it is whole."""
        self.peek()
        while True:
            try:
                is_whole, value = self._decode()
            except json.JSONDecodeError as error:
                if not self._may_be_cut(error) or not self._more():
                    raise self._damaged(error.pos, error.msg) from error
            else:
                if is_whole:
                    return value
                self._more()

    def try_value(self) -> tuple[bool, object]:
        """Consumes the next value if it is whole within what one chunk holds; else consumes nothing."""
        self.peek()
        if len(self._text) - self._position < CHUNK_BYTES:
            self._more()
        start = self._position
        try:
            is_whole, value = self._decode()
        except (json.JSONDecodeError, DamagedJsonError):
            is_whole, value = False, None
        if not is_whole and not self._is_over:
            self._position = start
            return False, None
        return self._position > start, value

    def skip_to_document(self) -> None:
        """Goes to the next line that begins a document (or an array's element of its own), or to the end."""
        while not (match := _NEXT_DOCUMENT.search(self._text, self._position)):
            self._position = max(self._position, len(self._text) - _LOOK_BEHIND_CHARS)
            if not self._more():
                self._position = len(self._text)
                return
        self._position = match.end()

    def skip_separators(self) -> None:
        """Passes what is left of an array around an element that `skip_to_document` came to."""
        while self.peek() in (",", "]"):
            self._position += 1

    def _decode(self) -> tuple[bool, object]:
        """A value and whether it surely ends here: a number at the buffer's end may go on."""
        start = self._position
        try:
            value, end = self._raw_decode(start)
            may_go_on = isinstance(value, int | float) and end > len(self._text) - _TAIL_CHARS
            is_whole = self._is_over or not may_go_on
            if is_whole and _SURROGATE_ESCAPE.search(self._text, start, end):
                value = _without_surrogates(value)
        except RecursionError as error:
            raise self._damaged(start, "nested too deep") from error
        self._position = end if is_whole else start
        return is_whole, value

    def _raw_decode(self, start: int) -> tuple[object, int]:
        try:
            return _DECODER.raw_decode(self._text, start)
        except json.JSONDecodeError:
            raise
        except ValueError:
            return _LENIENT_DECODER.raw_decode(self._text, start)

    def _may_be_cut(self, error: json.JSONDecodeError) -> bool:
        return _is_unterminated(error.msg) or error.pos >= len(self._text) - _TAIL_CHARS

    def _more(self) -> bool:
        """Drops what is consumed and reads on, twice as much each time one value asks again."""
        if self._is_over:
            return False
        self.line()
        chunk = self._stream.read(self._chunk)
        self._is_over = not chunk
        text = self._bytes.decode(chunk, final=self._is_over)
        text, replaced = _ESCAPED_BYTE.subn("\ufffd", text)
        self.replaced_count += replaced
        self._chunk = self._chunk * 2 if self._position == 0 else CHUNK_BYTES
        self._text, self._position, self._counted = self._text[self._position :] + text, 0, 0
        return bool(chunk) or bool(text)

    def _damaged(self, position: int, reason: str) -> DamagedJsonError:
        """The error at a position, quoting from where the value began."""
        self.line()
        line = self._line + self._text.count("\n", self._position, position)
        text = self._text[self._position : self._position + _TEXT_CHARS]
        over = self._is_over and (position >= len(self._text) or _is_unterminated(reason))
        return DamagedJsonError(line, "the file ends inside a value" if over else f"no JSON: {reason}", text)


def _is_unterminated(reason: str) -> bool:
    return reason.startswith("Unterminated string")


def _without_surrogates(value: object) -> object:
    """The value with lone surrogates (which no UTF-8 text can hold) replaced."""
    if isinstance(value, str):
        return _LONE_SURROGATE.sub("\ufffd", value)
    if isinstance(value, list):
        return [_without_surrogates(element) for element in value]
    if isinstance(value, dict):
        return {str(_without_surrogates(key)): _without_surrogates(child) for key, child in value.items()}
    return value
