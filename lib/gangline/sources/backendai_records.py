"""Backend.AI rows turned into records: what a row does not say is null, for another export may."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from gangline.sources.backendai_kinds import BackendRow, RowKind
from gangline.sources.backendai_life import Life, Times, Visit, life_of, visits_of
from gangline.sources.backendai_states import TERMINAL, log_unknown, reason_of, state_key_of, status_of
from gangline.sources.backendai_values import (
    Cells,
    array_of,
    cells_of,
    decoded,
    gpu_count_of,
    node_of,
    nodes_of,
    uuid_of,
)
from gangline.sources.batches import Records
from gangline.sources.instants import instant_of
from gangline.sources.records import (
    SESSION_NODE_RECORDS,
    SESSION_RECORDS,
    SESSION_STATUS_RECORDS,
    ReadLog,
)
from gangline.sources.table_rows import RowError

_PARTITION = ("scaling_group_name", "scaling_group", "resource_group_name", "resource_group")
_OCCUPIED = ("occupying_slots", "occupied_slots", "resources_used")
_REQUESTED = ("requested_slots", "resources_requested")
_SESSION_ID = ("session_id",)
_OWN_ID = ("row_id", "session_id", "id")
SECONDS_PER_MIN = 60
MAX_LIMIT_S = 1e10


@dataclass(frozen=True)
class State:
    """A row's status in its own words and as a key, with the life it tells of."""

    text: str | None
    key: str | None
    is_terminal: bool
    visits: tuple[Visit, ...]
    life: Life


class RecordMaker:
    """Turns rows into records, one row at a time; remembers the last session, whose columns kernel rows repeat."""

    def __init__(self, zone: ZoneInfo, log: ReadLog) -> None:
        self._zone = zone
        self._log = log
        self._last_session_id: str | None = None

    def records(self, row: BackendRow) -> Records:
        """The records of one row; raises `RowError` where it cannot be read."""
        makers = {
            RowKind.SESSION: self._of_session,
            RowKind.KERNEL: self._of_kernel,
            RowKind.SESSION_AND_KERNEL: self._of_both,
            RowKind.HISTORY: self._of_step,
        }
        return makers[row.kind](row)

    def _of_session(self, row: BackendRow) -> Records:
        session_id = uuid_of(row.cells.first(*_OWN_ID), "the session's id")
        state = self._state(row.cells, row.line)
        session = self._session(row, session_id, state)
        records: Records = [(SESSION_RECORDS, session)]
        records += self._visits(row.line, session_id, None, state.visits)
        for kernel in _kernels(row.cells, self._log, row.line):
            try:
                records += self._part(row.line, session_id, kernel)
            except RowError:
                self._log.odd("unreadable_kernel", row.line)
        return records

    def _session(self, row: BackendRow, session_id: str, state: State) -> dict[str, object]:
        cells, life = row.cells, state.life
        never_ran = state.is_terminal and life.has_started is False
        created_at = self._instant(cells, "created_at")
        self._log.saw(created_at, life.started_at, life.ended_at)
        gpu_count = gpu_count_of(cells.first(*_OCCUPIED), cells.first(*_REQUESTED), self._log, row.line)
        return {
            **_identity(row.line, session_id, cells, created_at),
            "nodes": [] if never_ran else _nodes(cells),
            "gpu_count": 0.0 if never_ran else gpu_count,
            "started_at": life.started_at,
            "ended_at": life.ended_at,
            "has_started": life.has_started,
            "time_limit_min": self._time_limit_min(cells, row.line),
            "source_state": state.text,
            "state_key": state.key,
            "end_source": "session" if life.ended_at else None,
        }

    def _of_kernel(self, row: BackendRow) -> Records:
        session_id = uuid_of(row.cells.first(*_SESSION_ID), "the kernel's session_id")
        records = self._part(row.line, session_id, row.cells)
        if session_id != self._last_session_id:
            self._last_session_id = session_id
            created_at = self._instant(row.cells, "created_at")
            records.append((SESSION_RECORDS, _identity(row.line, session_id, row.cells, created_at)))
        return records

    def _part(self, line: int, session_id: str, cells: Cells) -> Records:
        """One kernel: where it ran, from when to when, with how many GPUs."""
        part_id = uuid_of(cells.first("row_id", "id"), "the kernel's id") if cells.first("row_id", "id") else None
        state = self._state(cells, line)
        agent = cells.text("agent", "agent_id")
        self._log.saw(self._instant(cells, "created_at"), state.life.started_at, state.life.ended_at)
        part: dict[str, object] = {
            "line": line,
            "session_id": session_id,
            "part_id": part_id,
            "node": node_of(agent) if agent else None,
            "gpu_count": gpu_count_of(cells.first(*_OCCUPIED), cells.first(*_REQUESTED), self._log, line),
            "started_at": state.life.started_at,
            "ended_at": state.life.ended_at,
            "source_state": state.text,
            "state_key": state.key,
        }
        return [(SESSION_NODE_RECORDS, part), *self._visits(line, session_id, part_id or "?", state.visits)]

    def _of_both(self, row: BackendRow) -> Records:
        """A row of the admin export: the session where its id is new, and its kernel, if there is one."""
        session_id = uuid_of(row.cells.first(*_OWN_ID), "the session's id")
        records: Records = []
        if session_id != self._last_session_id:
            records += self._of_session(row)
            self._last_session_id = session_id
        if row.cells.first("kernel_id"):
            prefix = "kernel_"
            names = [name for name in row.cells.values if name.startswith(prefix)]
            kernel = Cells({name.removeprefix(prefix): row.cells.values[name] for name in names})
            records += self._part(row.line, session_id, kernel)
        return records

    def _of_step(self, row: BackendRow) -> Records:
        """A step of a scheduling history; one that changed no status is no visit."""
        status = status_of(row.cells.text("to_status"))
        at = self._instant(row.cells, "created_at")
        if not status or at is None:
            return []
        session_id = row.cells.first(*_SESSION_ID)
        kernel_id = row.cells.first("kernel_id")
        log_unknown(status, "", self._log, row.line)
        self._log.saw(at)
        return self._visits(
            row.line,
            uuid_of(session_id, "the step's session_id") if session_id else None,
            uuid_of(kernel_id, "the step's kernel_id") if kernel_id else None,
            (Visit(at, status),),
        )

    def _state(self, cells: Cells, line: int) -> State:
        status, reason = status_of(cells.text("status")), reason_of(cells.text("status_info"))
        visits = visits_of(cells.first("status_history"), self._zone, self._log, line)
        times = Times(*(self._instant(cells, name) for name in ("starts_at", "terminated_at", "status_changed")))
        life = life_of(status, visits, times, self._log, line)
        if not status:
            return State(None, None, False, visits, life)
        log_unknown(status, reason, self._log, line)
        text = " ".join(filter(None, (cells.text("status"), cells.text("status_info"))))
        return State(text, state_key_of(status, reason, life.ended_at is not None), status in TERMINAL, visits, life)

    def _visits(self, line: int, session_id: str | None, part_id: str | None, visits: tuple[Visit, ...]) -> Records:
        """A visit per status; those of a kernel without an id cannot be told from others and are left out."""
        if part_id == "?":
            return []
        ids: dict[str, object] = {"line": line, "session_id": session_id, "part_id": part_id}
        return [(SESSION_STATUS_RECORDS, {**ids, "status": visit.status, "at": visit.at}) for visit in visits]

    def _instant(self, cells: Cells, name: str) -> datetime | None:
        return instant_of(cells.first(name), name, self._zone)

    def _time_limit_min(self, cells: Cells, line: int) -> float | None:
        """The limit of a batch session, kept in seconds; 0 is none."""
        value = cells.first("batch_timeout")
        try:
            limit_s = float(value) if isinstance(value, str | int | float) else 0.0
        except (ValueError, OverflowError):
            limit_s = -1.0
        if not 0 <= limit_s <= MAX_LIMIT_S:
            self._log.odd("unreadable_batch_timeout", line)
        return limit_s / SECONDS_PER_MIN if 0 < limit_s <= MAX_LIMIT_S else None


def _identity(line: int, session_id: str, cells: Cells, created_at: datetime | None) -> dict[str, object]:
    return {
        "line": line,
        "session_id": session_id,
        "bare_id": session_id,
        "job_name": cells.text("name", "session_name"),
        "owner": cells.text("access_key"),
        "partition": cells.text(*_PARTITION),
        "created_at": created_at,
    }


def _nodes(cells: Cells) -> list[str] | None:
    """The hosts of a session's agents; null where its form has no agents or names none yet."""
    return nodes_of(array_of(cells.first("agent_ids", "agents"))) or None


def _kernels(cells: Cells, log: ReadLog, line: int) -> Iterator[Cells]:
    """The kernels that GraphQL nests in a session."""
    value = decoded(cells.first("kernel_nodes", "containers", "kernels"), log, line)
    items = value.get("edges") if isinstance(value, dict) else value
    for item in items if isinstance(items, list) else ():
        kernel = item.get("node", item) if isinstance(item, dict) else None
        if isinstance(kernel, dict):
            yield cells_of(kernel)
        else:
            log.odd("unreadable_kernel", line)
