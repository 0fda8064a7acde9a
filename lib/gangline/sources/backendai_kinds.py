"""What a row of a Backend.AI export is about, told by its columns."""

from collections.abc import Set
from dataclasses import dataclass
from enum import StrEnum

from gangline.sources.backendai_values import Cells

_SESSION_IDS = {"id", "row_id", "session_id"}
_KERNEL_MARKS = {"agent", "agent_id", "agent_addr", "cluster_role", "cluster_hostname", "container_id"}


class RowKind(StrEnum):
    """What one row is about."""

    SESSION = "session"
    KERNEL = "kernel"
    SESSION_AND_KERNEL = "session_and_kernel"  # admin export: session columns repeated beside each kernel
    HISTORY = "history"  # a step of session_scheduling_history or kernel_scheduling_history


@dataclass(frozen=True)
class BackendRow:
    """One record: its kind, cells, where it begins, and its text for a reject."""

    line: int
    kind: RowKind
    cells: Cells
    raw: object


def kind_of(names: Set[str]) -> RowKind | None:
    """The kind of a row with these folded column names, null where it is none.

    Examples
    --------
    >>> kind_of({"id", "name", "status"}), kind_of({"id", "session_id", "agent"})
    (<RowKind.SESSION: 'session'>, <RowKind.KERNEL: 'kernel'>)
    """
    if {"from_status", "to_status"} <= names and names & {"session_id", "kernel_id"}:
        return RowKind.HISTORY
    if "session_id" in names and names & _KERNEL_MARKS and "containers" not in names:
        return RowKind.KERNEL
    if names & _SESSION_IDS and "status" in names:
        return RowKind.SESSION_AND_KERNEL if "kernel_id" in names else RowKind.SESSION
    return None
