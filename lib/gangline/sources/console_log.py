"""What the programs of a session printed: the files that a scheduler keeps of standard output and error.

The session is told by the file's name (`slurm-1234.out`, `train-1234_7.err`, a folder named for it), as Slurm and
Backend.AI write them. A time is what a line itself says, else that of the latest line before it that says one.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from zoneinfo import ZoneInfo

import polars as pl

from gangline.sources.console_times import LineTimes
from gangline.sources.files import InputFile
from gangline.sources.kernel_stamps import since_epoch
from gangline.sources.records import CONSOLE_RECORDS, SCHEMAS, Batch, ReadLog, SourceOptions
from gangline.sources.wandb_console import LINE_CHARS, overwritten
from gangline.vocabulary import SourceKind

KIND = SourceKind.CONSOLE_LOG
VERSION = 1

BATCH_ROWS = 20_000
LINE_BYTES = 16_384
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
# Most telling first: a UUID, a number that is called a job's, a number of its own.
_SESSION_IDS = (
    re.compile(rf"({_UUID})", re.IGNORECASE),
    re.compile(r"(?:slurm|job|session|jobid)[-_.=]?(\d{1,12}(?:_\d{1,7})?)(?!\d)", re.IGNORECASE),
    re.compile(r"(?:^|[-_.])(\d{2,12}(?:_\d{1,7})?)(?=[.]|$)"),
    re.compile(r"^(\d{2,12}(?:_\d{1,7})?)(?=[-_.])"),
)
_DAY = re.compile(
    r"(?<!\d)20\d\d[-_]?[01]\d[-_]?[0-3]\d(?:T\d{4,6}|[-_](?:[01]\d|2[0-3])[-_:]?[0-5]\d[-_:]?[0-5]\d)?(?!\d)"
)


_TOLD_BY_LINES = ("line", "at", "text", "ordinal")
_TOLD_BY_FILE = ("run_id", "stream", "session_id", "node")


@dataclass
class _Lines:
    """Columns of the lines so far."""

    line: list[int] = field(default_factory=list)
    at: list[int | None] = field(default_factory=list)
    text: list[str] = field(default_factory=list)

    def batch(self, facts: dict[str, str | None], log: ReadLog) -> Batch:
        """The lines as rows; in a file of lines the ordinal of one is its number."""
        types = SCHEMAS[CONSOLE_RECORDS]
        at_us = pl.Series(self.at, dtype=pl.Int64)
        columns = {"line": self.line, "at": at_us.cast(types["at"]), "text": self.text, "ordinal": self.line}
        frame = pl.DataFrame(columns, schema={name: types[name] for name in _TOLD_BY_LINES})
        log.saw(*(since_epoch(int(us)) for us in (at_us.min(), at_us.max()) if isinstance(us, int)))
        literals = [pl.lit(facts.get(name), types[name]).alias(name) for name in _TOLD_BY_FILE]
        return Batch(CONSOLE_RECORDS, frame.with_columns(literals).select(types.names()))


def read(file: InputFile, options: SourceOptions, log: ReadLog) -> Iterator[Batch]:
    """Yields batches of `console_records`.

    Parameters
    ----------
    options
        `time_zone` for times without an offset; `node` where the file is of one node.
    """
    session_id = session_in_path(file.path)
    if session_id is None:
        log.odd("session_unknown")
    facts = {"stream": _stream(file.path), "session_id": session_id, "node": options.node}
    times, lines = LineTimes(ZoneInfo(options.time_zone), log), _Lines()
    for number, raw in file.lines(LINE_BYTES):
        log.split()
        at, text = times.of(raw, number), _text(raw)
        if not text:
            log.ignore("blank_line")
            continue
        log.load()
        lines.line.append(number)
        lines.at.append(at)
        lines.text.append(text)
        if len(lines.line) >= BATCH_ROWS:
            yield lines.batch(facts, log)
            lines = _Lines()
    if lines.line:
        yield lines.batch(facts, log)


def told_by_name(path: Path) -> str | None:
    """What a file's name tells of its lines: the session, and which stream they are of."""
    return f"{session_in_path(path)} {_stream(path)}"


def session_in_path(path: Path) -> str | None:
    """The session that a file's name, or else its folder's, names; days are no sessions.

    Examples
    --------
    >>> [session_in_path(Path(name)) for name in ("slurm-1234.out", "llama_70b-1234_7.err", "1234/gpu071.log")]
    ['1234', '1234_7', '1234']
    >>> session_in_path(Path("logs/train_20260302.log")) is None
    True
    """
    for name in (path.name, path.parent.name):
        told = _DAY.sub("", name)
        for pattern in _SESSION_IDS:
            found = pattern.findall(told)
            if found:
                return str(found[-1])
    return None


def _stream(path: Path) -> str:
    return "stderr" if re.search(r"(?:^|[._-])(?:std)?err(?:[._-]|$)", path.name, re.IGNORECASE) else "stdout"


def _text(raw: bytes) -> str:
    """A line as a terminal shows it: without colours, a progress bar as it stood last."""
    text = raw.decode("utf-8", "replace")
    if not text.isprintable():
        text = _ESCAPES.sub("", overwritten(text).rstrip("\r"))
    return text[:LINE_CHARS].rstrip()
