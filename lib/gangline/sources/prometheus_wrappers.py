"""What stands around the series of an API answer: its status, warnings, and whether it is whole."""

import json
import re

from gangline.sources.read_log import ReadLog, SourceRefusedError

_ERROR = re.compile(r'"status"\s*:\s*"error"')
_FIELD = r'"{}"\s*:\s*("(?:[^"\\]|\\.)*")'
_EMPTY_RESULT = re.compile(r'"result"\s*:\s*\[\s*\]|^\s*\[\s*\]\s*$')
_SINGLE_VALUE = re.compile(r'"resultType"\s*:\s*"(scalar|string)"')
_PARTIAL = re.compile(r'"isPartial"\s*:\s*true')
_WARNED = re.compile(r'"(warnings|infos)"\s*:\s*\[\s*"')
_ODDITY_CHARS = 1 << 16


class Wrapper:
    """Judges the text outside the series, piece by piece."""

    def __init__(self, name: str, log: ReadLog) -> None:
        self._name = name
        self._log = log
        self._head = ""
        self._has_series = False
        self._last = b""

    def before(self, text: bytes) -> None:
        """Takes what stands before the first series."""
        self._head = text[:_ODDITY_CHARS].decode("utf-8", "replace")
        self._judge(self._head)

    def after(self, text: bytes) -> None:
        """Takes what stands after a series."""
        self._has_series = True
        self._last = text
        if len(text) > 2:
            self._judge(text[:_ODDITY_CHARS].decode("utf-8", "replace"))

    def end(self) -> None:
        """Judges the file's end."""
        if self._has_series:
            if b"]" not in self._last:
                self._log.split()
                self._log.reject(None, "the file breaks off after its last whole series; export it again")
        elif _SINGLE_VALUE.search(self._head):
            self._log.split()
            self._log.ignore("scalar or string result")
        elif not _EMPTY_RESULT.search(self._head):
            raise SourceRefusedError(
                f"{self._name}: no series with samples in this JSON; export samples with /api/v1/export"
                " (VictoriaMetrics) or /api/v1/query (Prometheus: a range selector such as metric[1d])"
            )

    def _judge(self, text: str) -> None:
        if _ERROR.search(text):
            said = ": ".join(filter(None, (_field(text, "errorType"), _field(text, "error"))))
            raise SourceRefusedError(f"{self._name}: the server answered with an error, {said}; export it again")
        if _PARTIAL.search(text):
            self._log.odd("partial_answer")
        if _WARNED.search(text):
            self._log.odd("answer_with_warnings")


def _field(text: str, name: str) -> str:
    match = re.search(_FIELD.format(name), text)
    return str(json.loads(match[1], strict=False)) if match else ""
