"""Fault traces in the JSON of InfiniteHBD-Trace: starts and ends of faults on nodes, in days since an epoch.

Format: https://github.com/stepfun-ai/InfiniteHBD-Trace (README). A fault's start and end name the same node and fault
type; where several are open, the first start takes the first end. The events of a trace are held in memory, because
its pairs must not depend on the order they are written in.
"""

import hashlib
import json
import math
from collections import Counter, defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from gangline.sources.files import InputFile
from gangline.sources.json_buffer import JsonBuffer
from gangline.sources.json_items import JsonDamage, JsonItem, buffered_items
from gangline.sources.records import ReadLog, SourceOptions, SourceRefusedError
from gangline.sources.table_rows import RowError, shown

STARTS = {"fault_start": True, "fault_end": False}
FAULT_KEYS = ("Level", "Class", "Desc")
UNPAIRED_END = "fault_end without a fault_start of its node and fault type before it: add the start, or drop the end"
ID_HASH_CHARS = 8


@dataclass(frozen=True)
class FaultEvent:
    """A fault's start or end; `fault` is its level, class and description."""

    ordinal: int
    node: str
    fault: tuple[str, ...]
    at: datetime
    is_start: bool


@dataclass(frozen=True)
class Fault:
    """A fault, open where it has no end."""

    start: FaultEvent
    end: FaultEvent | None
    occurrence: int  # from 0, among equal starts


def trace_rows(file: InputFile, options: SourceOptions, log: ReadLog) -> Iterator[dict[str, object]]:
    """The incidents of a trace, by start.

    Raises
    ------
    SourceRefusedError
        If the options do not say when the trace's day 0 was.
    """
    if options.epoch is None or options.epoch.tzinfo is None:
        mend = "set epoch = 2024-03-30T00:00:00Z (its day 0, with the offset) in this source's entry"
        raise SourceRefusedError(f"{file.path}: a fault trace counts days since an epoch: {mend}")
    epoch = options.epoch.astimezone(UTC)
    events = trace_events(file, epoch, log)
    if events:
        log.saw(epoch)  # a trace watches from its day 0 on, whenever the first fault was
    for fault in paired(events, log):
        log.load(1 if fault.end is None else 2)
        yield incident(fault, log)


def trace_events(file: InputFile, epoch: datetime, log: ReadLog) -> list[FaultEvent]:
    """The events that can be read, in time order, starts before ends at equal times."""
    events = []
    with file.open() as stream:
        buffer = JsonBuffer(stream)
        for item in buffered_items(buffer):
            log.split()
            if isinstance(item, JsonDamage):
                log.reject(item.line, f"{item.reason}: export the trace again", item.text)
                continue
            try:
                events.append(event_of(item, epoch))
            except RowError as error:
                log.reject(item.ordinal, str(error), json.dumps(item.value, ensure_ascii=False))
        if buffer.replaced_count:
            log.odd("not_utf8", None, buffer.replaced_count)
    return sorted(events, key=lambda event: (event.at, not event.is_start, event.ordinal))


def event_of(item: JsonItem, epoch: datetime) -> FaultEvent:
    """One JSON object as an event."""
    value = item.value if isinstance(item.value, dict) else {}
    node, kind = value.get("node_id"), value.get("event_type")
    if not (isinstance(node, str) and node.strip()):
        raise RowError("no node_id: a fault event is an object with node_id, event_time, event_type, fault_type")
    if not isinstance(kind, str) or kind not in STARTS:
        raise RowError(f"event_type is {shown(str(kind))}: it must be fault_start or fault_end")
    fault, at = fault_words(value.get("fault_type")), event_time(value.get("event_time"), epoch)
    return FaultEvent(item.ordinal, node.strip(), fault, at, STARTS[kind])


def fault_words(fault: object) -> tuple[str, ...]:
    """A fault type's level, class and description."""
    values = [fault.get(key) for key in FAULT_KEYS] if isinstance(fault, dict) else []
    words = tuple(value for value in values if isinstance(value, str))
    if len(words) != len(FAULT_KEYS):
        raise RowError("fault_type must be an object with the texts Level, Class and Desc")
    return words


def event_time(days: object, epoch: datetime) -> datetime:
    """The instant that many days after the epoch."""
    if isinstance(days, bool) or not isinstance(days, int | float) or not math.isfinite(days):
        raise RowError(f"event_time is {shown(str(days))}: it must be a number of days since the epoch")
    try:
        return epoch + timedelta(days=days)
    except OverflowError as error:
        raise RowError(f"event_time is {shown(str(days))}: no calendar reaches that far") from error


def paired(events: list[FaultEvent], log: ReadLog) -> Iterator[Fault]:
    """Faults by start; an end without a start before it is rejected."""
    waiting: dict[tuple[str, tuple[str, ...]], deque[FaultEvent]] = defaultdict(deque)
    ends: dict[int, FaultEvent] = {}
    for event in events:
        starts = waiting[event.node, event.fault]
        if event.is_start:
            if starts:
                log.odd("fault_while_open", event.ordinal)
            starts.append(event)
        elif starts:
            ends[starts.popleft().ordinal] = event
        else:
            log.reject(event.ordinal, UNPAIRED_END, f"{event.node} {' / '.join(event.fault)} {event.at.isoformat()}")
    yield from numbered([event for event in events if event.is_start], ends)


def numbered(starts: list[FaultEvent], ends: dict[int, FaultEvent]) -> Iterator[Fault]:
    """Each start with its end (kept by the start's ordinal), and a number that tells equal starts apart."""
    seen: Counter[tuple[object, ...]] = Counter()
    for start in starts:
        key = (start.node, start.fault, start.at)
        yield Fault(start, ends.get(start.ordinal), seen[key])
        seen[key] += 1


def incident(fault: Fault, log: ReadLog) -> dict[str, object]:
    """A fault as an incident record: its level is the class, its class the kind, its description the detail."""
    start, end_at = fault.start, fault.end.at if fault.end else None
    if end_at == start.at:
        log.odd("zero_length", start.ordinal)
    log.saw(start.at, end_at)
    level, kind, description = start.fault
    return {
        "line": start.ordinal,
        "incident_id": incident_id(fault),
        "node": start.node,
        "started_at": start.at,
        "ended_at": end_at,
        "kind": kind,
        "class": level,
        "detail": description,
    }


def incident_id(fault: Fault) -> str:
    """An id made of what the fault is, so that it is the same whatever the order of the trace."""
    start = fault.start
    identity = json.dumps([start.node, start.fault, start.at.isoformat(), fault.occurrence])
    digest = hashlib.sha256(identity.encode()).hexdigest()[:ID_HASH_CHARS]
    return f"{start.node}@{start.at:%Y-%m-%dT%H:%MZ}-{digest}"
