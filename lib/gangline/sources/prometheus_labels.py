"""A series as text, `name{label="value",...}`, in the exposition's escapes or Go's."""

import re

from gangline.sources.prometheus_judging import SampleError, labels_of
from gangline.sources.samples import NAME_LABEL

_PAIR = re.compile(rb'\s*([^\s=,{}"]+|"(?:[^"\\]|\\.)*")\s*(?:=\s*"((?:[^"\\]|\\.)*)"\s*)?(?:,|$)', re.DOTALL)
_EXPOSITION_ESCAPE = re.compile(rb'\\([\\"n])')
_GO_ESCAPE = re.compile(rb"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-7]{3}|.)", re.DOTALL)
_GO_LETTERS = {
    b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v",
    b"\\": b"\\", b'"': b'"', b"'": b"'",
}  # fmt: skip


def series_of_text(text: bytes, is_go_quoted: bool) -> dict[str, str]:
    r"""Labels of a series, its name under `__name__` wherever it stood.

    Raises
    ------
    SampleError
        Where it is no series.

    Examples
    --------
    >>> series_of_text(b'up{job="a,b=c{d}", gone="", node="\\u00fc"}', is_go_quoted=True)
    {'__name__': 'up', 'job': 'a,b=c{d}', 'node': 'ü'}
    >>> series_of_text(b'{__name__="up",job="back\\\\slash"}', is_go_quoted=False)
    {'__name__': 'up', 'job': 'back\\slash'}
    """
    name, brace, body = text.strip().partition(b"{")
    labels: dict[str, str] = {NAME_LABEL: _decoded(name.strip())} if name.strip() else {}
    if brace:
        if not body.endswith(b"}"):
            raise SampleError("its labels have no closing brace; export it again")
        labels |= _pairs(body[:-1], is_go_quoted)
    return labels_of(labels)


def unquoted(field: bytes) -> str:
    r"""A field that Go may have quoted.

    >>> unquoted(b'"say \\"hi\\""'), unquoted(b"plain")
    ('say "hi"', 'plain')
    """
    if len(field) > 1 and field.startswith(b'"') and field.endswith(b'"'):
        field = _unescaped(field[1:-1], is_go_quoted=True)
    return _decoded(field)


def _pairs(body: bytes, is_go_quoted: bool) -> dict[str, str]:
    labels: dict[str, str] = {}
    position = 0
    while body[position:].strip():
        match = _PAIR.match(body, position)
        if match is None:
            raise SampleError('its labels cannot be read (a quote inside a value is written \\"); export it again')
        key, value = match[1], match[2]
        if value is None:  # Prometheus 3 writes a name that needs quotes first inside the braces
            key, value = NAME_LABEL.encode(), key.strip(b'"')
        name = _decoded(_unescaped(key.strip(b'"'), is_go_quoted))
        if name in labels:
            raise SampleError(f"it has {name!r} twice; export the series again, under one label set")
        labels[name] = _decoded(_unescaped(value, is_go_quoted))
        position = match.end()
    return labels


def _unescaped(value: bytes, is_go_quoted: bool) -> bytes:
    if b"\\" not in value:
        return value
    if is_go_quoted:
        return _GO_ESCAPE.sub(lambda match: _go_character(match[1]), value)
    return _EXPOSITION_ESCAPE.sub(lambda match: b"\n" if match[1] == b"n" else match[1], value)


def _go_character(code: bytes) -> bytes:
    if code in _GO_LETTERS:
        return _GO_LETTERS[code]
    if len(code) == 1:
        return b"\\" + code
    if code[:1] == b"x":
        return bytes([int(code[1:], 16)])
    if code[:1] in b"uU":
        point = int(code[1:], 16)
        return chr(point).encode("utf-8", "replace") if point < 0x110000 else b"\xef\xbf\xbd"
    return bytes([int(code, 8) & 0xFF])


def _decoded(value: bytes) -> str:
    return value.decode("utf-8", "replace")
