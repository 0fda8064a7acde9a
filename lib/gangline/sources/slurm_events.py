"""Node states from `sacctmgr show event -P`: when a node was down or drained, and why.

Nothing is escaped there, so a delimiter or a newline in the reason looks like another column or record: a record
begins where the time columns hold times, and what is too much belongs to the reason.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from gangline.hostlists import HostListError, expand
from gangline.sources.batches import Batches, Records
from gangline.sources.clocks import ImpossibleTimeError
from gangline.sources.files import InputFile
from gangline.sources.records import NODE_STATE_RECORDS, Batch, ReadLog, SourceOptions, SourceRefusedError
from gangline.sources.slurm_columns import ColumnKind
from gangline.sources.slurm_fields import RecordError, TimeReader
from gangline.sources.tables_csv import decoded_lines
from gangline.vocabulary import SourceKind

KIND = SourceKind.SLURM_EVENTS
VERSION = 1
NEEDED = ("nodename", "timestart", "timeend", "state")
FORMAT = "sacctmgr show event -P format=Cluster,NodeName,Start,End,State,Reason,User"
MAX_RECORD_LINES = 200
_HEADER = re.compile(r"\w+([^\w\s]+|\t)\w+")
_ALIASES = {"start": "timestart", "end": "timeend"}


@dataclass(frozen=True)
class Layout:
    """The columns of an export by number; the reason is the one that may hold anything."""

    names: tuple[str, ...]
    delimiter: str

    def fields(self, text: str) -> dict[str, str] | None:
        """A record's cells by name, what is too much given to the reason; null where there are too few."""
        tokens = text.split(self.delimiter)
        surplus = len(tokens) - len(self.names)
        if surplus < 0 or (surplus and "reason" not in self.names):
            return None
        if surplus:
            at = self.names.index("reason")
            tokens[at : at + surplus + 1] = [self.delimiter.join(tokens[at : at + surplus + 1])]
        return dict(zip(self.names, tokens, strict=True))

    def begins(self, text: str) -> bool:
        """Whether a line is the start of a record: times stand where times must."""
        tokens = text.split(self.delimiter)
        times = [self.names.index(name) for name in ("timestart", "timeend")]
        return len(tokens) > max(times) and all(ColumnKind.TIME.pattern.fullmatch(tokens[at]) for at in times)

    def is_whole(self, text: str) -> bool:
        """Whether a line has a record's columns, be they damaged: then it is none's second line."""
        return text.count(self.delimiter) >= len(self.names) - 1


def read(file: InputFile, options: SourceOptions, log: ReadLog) -> Iterator[Batch]:
    """Yields the stretches of state that the export tells of; events of a whole cluster have no node and are none.

    Raises
    ------
    SourceRefusedError
        If the file is no output of `sacctmgr show event -P`, or lacks a column.
    """
    lines = ((number, text.rstrip("\r\n")) for number, text in decoded_lines(file, log))
    header_line, header = next(((number, text) for number, text in lines if text.strip()), (1, ""))
    layout = _layout(header, options, f"{file.path}:{header_line}")
    reader = _EventReader(layout, options, log)
    batches = Batches()
    for line, text in _records(lines, layout, header):
        log.split()
        try:
            batches.add(reader.records(line, text))
        except (RecordError, ImpossibleTimeError, HostListError) as error:
            log.reject(line, str(error), text)
        yield from batches.full()
    yield from batches.rest()


def _layout(header: str, options: SourceOptions, where: str) -> Layout:
    found = _HEADER.match(header)
    if not options.delimiter and (found is None or header.startswith(" ")):
        raise SourceRefusedError(f"{where}: no header of sacctmgr show event -P; export with: {FORMAT}")
    delimiter = options.delimiter or (found[1] if found else "|")
    names = [name.strip().lower() for name in header.split(delimiter)]
    layout = Layout(tuple(_ALIASES.get(name, name) for name in names), delimiter)
    missing = [name for name in NEEDED if name not in layout.names]
    if missing:
        raise SourceRefusedError(f"{where}: columns {', '.join(missing)} are missing; export with: {FORMAT}")
    return layout


def _records(lines: Iterator[tuple[int, str]], layout: Layout, header: str) -> Iterator[tuple[int, str]]:
    """Records with the line they begin on: lines that begin none belong to the one before them."""
    held: list[str] = []
    first = 0
    for number, text in lines:
        is_part = bool(held) and not layout.begins(text) and not layout.is_whole(text) and len(held) < MAX_RECORD_LINES
        if text == header or not (is_part or text.strip()):
            continue
        if is_part:
            held.append(text)
            continue
        if held:
            yield first, "\n".join(held).rstrip("\n")
        first, held = number, [text]
    if held:
        yield first, "\n".join(held).rstrip("\n")


class _EventReader:
    """Makes rows of records."""

    def __init__(self, layout: Layout, options: SourceOptions, log: ReadLog) -> None:
        self._layout = layout
        self._cluster = options.source_cluster
        self._times = TimeReader(ZoneInfo(options.time_zone))
        self._log = log

    def records(self, line: int, text: str) -> Records:
        """A row per node of one record; none where it is of a whole cluster, or of another one."""
        fields = self._layout.fields(text) if self._layout.begins(text) else None
        if fields is None:
            raise RecordError(f"no event: the columns do not fit the header; export with: {FORMAT}")
        cluster = fields.get("cluster") or None
        if self._cluster and cluster and cluster != self._cluster:
            self._log.ignore("other_cluster")
            return []
        if not fields["nodename"].strip():
            self._log.ignore("cluster_event")
            return []
        started_at, ended_at = self._span(line, fields)
        nodes = expand(fields["nodename"])
        self._log.load()
        self._log.saw(started_at, ended_at)
        row: dict[str, object] = {
            "line": line,
            "cluster_source": cluster,
            "state": fields["state"].strip() or None,
            "started_at": started_at,
            "ended_at": ended_at,
            "reason": fields.get("reason") or None,
        }
        return [(NODE_STATE_RECORDS, {**row, "node": node}) for node in nodes]

    def _span(self, line: int, fields: dict[str, str]) -> tuple[datetime, datetime | None]:
        """Start and end, the end null where it is Unknown: the state lasts."""
        times = self._times.read("", fields["timestart"].strip(), fields["timeend"].strip())
        if times.started is None:
            raise RecordError("an event without a start: export again")
        if times.is_ambiguous:
            self._log.odd("ambiguous_time", line)
        if times.ended is not None and times.ended < times.started:
            raise RecordError("the event ends before it starts: check the time_zone of this source")
        ended_at = None if times.ended is None else datetime.fromtimestamp(times.ended, UTC)
        return datetime.fromtimestamp(times.started, UTC), ended_at
