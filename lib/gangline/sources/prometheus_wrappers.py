"""What stands around the series of an API answer: its status, warnings, and whether it is whole."""

import json
import re
from collections.abc import Iterator

from gangline.sources.read_log import ReadLog, SourceRefusedError

_ERROR = re.compile(r'"status"\s*:\s*"error"')
_FIELD = r'"{}"\s*:\s*("(?:[^"\\]|\\.)*")'
_NO_LABELS = re.compile(r'"metric"\s*:\s*(?![\s{])')
_EMPTY_RESULT = re.compile(r'"result"\s*:\s*\[\s*\]|^\s*\[\s*\]\s*$')
_SINGLE_VALUE = re.compile(r'"resultType"\s*:\s*"(scalar|string)"')
_PARTIAL = re.compile(r'"isPartial"\s*:\s*true')
_WARNED = re.compile(r'"(warnings|infos)"\s*:\s*\[\s*"')


class Wrapper:
    """Judges the text outside the series, piece by piece.

    A file may hold several answers. One that is an error, or a series without labels, costs itself where the file has
    series all the same.
    """

    def __init__(self, name: str, log: ReadLog) -> None:
        self._name = name
        self._log = log
        self._head = ""
        self._has_series = False
        self._last = b""
        self._failures: list[str] = []

    def before(self, text: bytes) -> None:
        """Takes what stands before the first series."""
        self._head = text.decode("utf-8", "replace")
        self._judge(self._head)

    def after(self, text: bytes) -> None:
        """Takes what stands after a series."""
        self._has_series = True
        self._last = text
        if len(text) > 2:
            self._judge(text.decode("utf-8", "replace"))

    def end(self) -> None:
        """Judges the file's end.

        Raises
        ------
        SourceRefusedError
            Where there was no series: the server's error, or that this is no answer with samples.
        """
        if self._has_series:
            self._reject_failures()
        elif self._failures:
            raise SourceRefusedError(f"{self._name}: {self._failures[0]}")
        elif _SINGLE_VALUE.search(self._head):
            self._log.split()
            self._log.ignore("scalar or string result")
        elif not _EMPTY_RESULT.search(self._head):
            raise SourceRefusedError(
                f"{self._name}: no series with samples in this JSON; export samples with /api/v1/export"
                " (VictoriaMetrics) or /api/v1/query (Prometheus: a range selector such as metric[1d])"
            )

    def _reject_failures(self) -> None:
        """Series that stand bare, one after the other, need no bracket behind the last."""
        if (b"]" if self._head.strip() else b"}") not in self._last:
            self._failures.append("the file breaks off after its last whole series; export it again")
        for failure in self._failures:
            self._log.split()
            self._log.reject(None, failure)

    def _judge(self, text: str) -> None:
        self._failures += _errors(text)
        self._failures += ["a series without labels; export it again"] * len(_NO_LABELS.findall(text))
        if _PARTIAL.search(text):
            self._log.odd("partial_answer")
        if _WARNED.search(text):
            self._log.odd("answer_with_warnings")


def _errors(text: str) -> Iterator[str]:
    """What the server said, of each answer that is an error."""
    found = list(_ERROR.finditer(text))
    for place, match in enumerate(found):
        start = found[place - 1].end() if place else 0
        end = found[place + 1].start() if place + 1 < len(found) else len(text)
        window = text[start:end] if _field(text[match.end() : end], "error") is None else text[match.end() : end]
        said = ": ".join(filter(None, (_field(window, "errorType"), _field(window, "error"))))
        yield f"the server answered with an error, {said}; export it again"


def _field(text: str, name: str) -> str | None:
    """One line of it, whatever it holds."""
    match = re.search(_FIELD.format(name), text)
    if match is None:
        return None
    try:
        said = str(json.loads(match[1], strict=False))
    except ValueError:
        said = match[1]
    return " ".join(said.encode("utf-8", "replace").decode().split())
