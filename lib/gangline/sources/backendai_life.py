"""What a status history, and the instants beside it, say of when a session or kernel ran."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from gangline.sources.backendai_states import BACK_TO_QUEUE, ENDING, HOLDING, RANKS, TERMINAL, WAITING, status_of
from gangline.sources.backendai_values import decoded
from gangline.sources.instants import instant_of
from gangline.sources.records import ReadLog
from gangline.sources.table_rows import RowError


@dataclass(frozen=True)
class Visit:
    """A status and the instant it was entered."""

    at: datetime
    status: str


@dataclass(frozen=True)
class Life:
    """When a session or kernel ran; `has_started` is null where its form cannot tell."""

    started_at: datetime | None
    ended_at: datetime | None
    has_started: bool | None


@dataclass(frozen=True)
class Times:
    """The instants that a row names besides its history."""

    starts_at: datetime | None
    terminated_at: datetime | None
    status_changed: datetime | None


def visits_of(value: object, zone: ZoneInfo, log: ReadLog, line: int) -> tuple[Visit, ...]:
    """A status history by time: the object has no order, and keeps one time a status (a later visit overwrites)."""
    history = decoded(value, log, line)
    visits = []
    for status, text in history.items() if isinstance(history, dict) else ():
        try:
            at = instant_of(text, "status_history", zone)
        except RowError:
            log.odd("unreadable_status_history", line)
            continue
        if at is not None:
            visits.append(Visit(at, status_of(status)))
    return sorted_visits(visits)


def sorted_visits(visits: Iterable[Visit]) -> tuple[Visit, ...]:
    """Visits by time; those of one instant in the order of a session's life."""
    return tuple(sorted(visits, key=lambda visit: (visit.at, RANKS.get(visit.status, len(RANKS)))))


def life_of(status: str, visits: Sequence[Visit], times: Times, log: ReadLog, line: int) -> Life:
    """When it ran, from its history where there is one, else from what its row says."""
    ended_at = _ended_at(status, visits, times)
    if visits:
        started_at, has_started = _start_by_history(status, visits, times, ended_at)
    else:
        started_at, has_started = _start_by_row(status, times, ended_at)
    if started_at and visits and not _entered(visits, HOLDING):
        log.odd("start_without_running_in_history", line)
    if started_at and ended_at and ended_at < started_at:
        log.odd("end_before_start", line)
    return Life(started_at, ended_at, has_started)


def _ended_at(status: str, visits: Sequence[Visit], times: Times) -> datetime | None:
    """The end: a session that waits or runs has none, whatever an earlier life of it left in terminated_at."""
    if status in WAITING + HOLDING + BACK_TO_QUEUE:
        return None
    if times.terminated_at or status not in TERMINAL:
        return times.terminated_at
    ends = [visit.at for visit in visits if visit.status == status]
    return ends[-1] if ends else times.status_changed


def _start_by_history(
    status: str, visits: Sequence[Visit], times: Times, ended_at: datetime | None
) -> tuple[datetime | None, bool | None]:
    held = _entered(visits, HOLDING)
    if held:
        is_queued_again = status in WAITING + BACK_TO_QUEUE
        return (None if is_queued_again else _last_start(visits, times.starts_at)), True
    # Older managers keep the wanted time of a reservation in starts_at: it is a start only where something ran.
    starts_at = times.starts_at if status in (*HOLDING, *ENDING, "TERMINATED") else None
    is_start = starts_at is not None and visits[0].at <= starts_at and (ended_at is None or starts_at <= ended_at)
    return (starts_at, True) if is_start else (None, False)


def _last_start(visits: Sequence[Visit], starts_at: datetime | None) -> datetime:
    """The start of the last allocation: starts_at where RUNNING was entered anew (a restart, a lost and found node)."""
    queued = _entered(visits, WAITING + BACK_TO_QUEUE)
    after = [visit for visit in visits if visit.status in HOLDING and not (queued and visit.at < queued[-1])]
    if not after:  # clocks that disagree: CREATING is stamped by the agent, RUNNING by the manager
        return (_entered(visits, ("RUNNING",)) or _entered(visits, HOLDING))[-1]
    first = after[0]
    is_entered_anew = first.status != "RUNNING" and starts_at and queued and queued[-1] <= starts_at < first.at
    return starts_at if is_entered_anew and starts_at else first.at


def _entered(visits: Sequence[Visit], statuses: tuple[str, ...]) -> list[datetime]:
    return [visit.at for visit in visits if visit.status in statuses]


def _start_by_row(status: str, times: Times, ended_at: datetime | None) -> tuple[datetime | None, bool | None]:
    if status in (*WAITING, *BACK_TO_QUEUE, "CANCELLED"):
        return None, False
    if times.starts_at and (ended_at is None or times.starts_at <= ended_at):
        return times.starts_at, True
    if status == "RUNNING" and times.status_changed:
        return times.status_changed, True
    return None, True if status in HOLDING else None
