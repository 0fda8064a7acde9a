"""Kernel messages without their envelope, and one that syslog parts into several records."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime

from gangline.sources.records import ReadLog
from gangline.vocabulary import TimeQuality

NO_EVENT = "no_event"
CONTINUATION = "continuation_line"
_LOSS_BEGINS = "NVRM: The NVIDIA GPU "
_LOSS_GOES_ON = ("NVRM: (PCI ID", "NVRM: installed in this system", "NVRM: fallen off the bus")
_LOSS_ENDS = "fallen off the bus"
_LOSS_LINES = 4


@dataclass(frozen=True)
class Message:
    """One record of a log; `at` is null where the line has no clock."""

    line: int
    text: str
    at: datetime | None = None
    quality: TimeQuality = TimeQuality.NONE
    uptime_s: float | None = None


class LossJoiner:
    """Holds the first line of a lost GPU's message back until its end, or something else of the driver, has come."""

    def __init__(self, log: ReadLog) -> None:
        self._log = log
        self._held: Message | None = None

    def add(self, message: Message) -> Iterator[Message]:
        """Takes a node's next message, and gives those that are whole."""
        text = message.text
        if self._held is not None and text.startswith(_LOSS_GOES_ON) and self._held.text.count("\n") < _LOSS_LINES:
            self._log.ignore(CONTINUATION)
            yield from self._join(self._held, text)
        elif text.startswith(_LOSS_BEGINS) and _LOSS_ENDS not in text:
            self.drop()
            self._held = message
        else:
            if text.startswith("NVRM:"):
                self.drop()
            yield message

    def drop(self) -> None:
        """Gives up what is held: it is about something else."""
        if self._held is not None:
            self._log.ignore(NO_EVENT)
        self._held = None

    def _join(self, held: Message, text: str) -> Iterator[Message]:
        joined = replace(held, text=f"{held.text}\n{text}")
        self._held = None if _LOSS_ENDS in text else joined
        if _LOSS_ENDS in text:
            yield joined
