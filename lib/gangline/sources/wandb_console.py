"""Console text of a log, which comes in pieces, as lines."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from gangline.sources.records import CONSOLE_RECORDS, Batch, frame_of
from gangline.sources.wandb_run import Run
from gangline.sources.wandb_values import instant, safe

BATCH_ROWS = 20_000
LINE_CHARS = 4_000  # a longer line is cut into several: memory must not grow with what a program prints


@dataclass
class Piece:
    """The beginning of a line whose end has not come yet."""

    line: int
    at_us: int | None
    text: str


@dataclass
class ConsoleBuffer:
    """Joins pieces per stream; of a line that was overwritten in place (a progress bar) the last text counts."""

    rows: list[dict[str, object]] = field(default_factory=list)
    open_lines: dict[str, Piece] = field(default_factory=dict)
    count: int = 0

    def add(self, stream: str, line: int, at_us: int | None, text: str) -> None:
        """Adds a piece of a stream's text."""
        *ended, rest = text.split("\n")
        for part in ended:
            self._extend(stream, line, at_us, part)
            self._end(stream)
        if rest:
            self._extend(stream, line, at_us, rest)

    def batches(self, run: Run, is_over: bool = False) -> Iterator[Batch]:
        """The lines so far, once they are a batch or the file is over."""
        if is_over:
            for stream in sorted(self.open_lines):
                self._end(stream)
        if len(self.rows) >= BATCH_ROWS or (is_over and self.rows):
            yield Batch(
                CONSOLE_RECORDS, frame_of(CONSOLE_RECORDS, [{**row, "run_id": run.run_id} for row in self.rows])
            )
            self.rows = []

    def _extend(self, stream: str, line: int, at_us: int | None, text: str) -> None:
        piece = self.open_lines.setdefault(stream, Piece(line, at_us, ""))
        piece.text = overwritten(piece.text + text)
        while len(piece.text) > LINE_CHARS:
            rest = piece.text[LINE_CHARS:]
            piece.text = piece.text[:LINE_CHARS]
            self._end(stream)
            piece = self.open_lines[stream] = Piece(line, at_us, rest)

    def _end(self, stream: str) -> None:
        piece = self.open_lines.pop(stream)
        text = safe(piece.text.rstrip("\r"))
        if text:
            self.count += 1
            at = instant(piece.at_us)
            self.rows.append({"line": piece.line, "at": at, "stream": stream, "text": text, "ordinal": self.count})


def overwritten(text: str) -> str:
    """What a terminal would show of a line with carriage returns; one at the end has not overwritten anything yet.

    Examples
    --------
    >>> overwritten("10%\\r50%\\r100%\\r")
    '100%\\r'
    """
    body = text.rstrip("\r")
    return body.rpartition("\r")[2] + ("\r" if body != text else "")
