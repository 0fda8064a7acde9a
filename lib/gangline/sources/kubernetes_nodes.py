"""Node states from Node objects and from events about nodes."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from gangline.sources.batches import Records
from gangline.sources.kubernetes_objects import Json, children, instant, text
from gangline.sources.records import NODE_STATE_RECORDS

NOT_READY, CORDONED = "NOT_READY", "CORDONED"
_CORDON_TAINT = "node.kubernetes.io/unschedulable"
_TURNS = {
    "NodeNotReady": (NOT_READY, True),
    "NodeReady": (NOT_READY, False),
    "NodeNotSchedulable": (CORDONED, True),
    "NodeSchedulable": (CORDONED, False),
}


@dataclass(frozen=True)
class Turn:
    """A node entered or left a state."""

    at: datetime
    node: str
    state: str
    is_entered: bool
    line: int
    reason: str | None


def node_records(node: Json, line: int) -> Records:
    """The states that a Node is in, since when."""
    name = text(node, "metadata", "name")
    records: Records = []
    for condition in children(node, "status", "conditions"):
        if condition.get("type") == "Ready" and condition.get("status") != "True":
            at = instant(condition, "lastTransitionTime")
            records.append(_stretch(line, name, NOT_READY, at, None, text(condition, "message")))
    for taint in children(node, "spec", "taints"):
        if taint.get("key") == _CORDON_TAINT:
            records.append(_stretch(line, name, CORDONED, instant(taint, "timeAdded"), None, None))
    return [record for record in records if record[1]["started_at"]]


def turn_of(event: Json, line: int) -> Turn | None:
    """The change of a node's state that an event tells of, if it does."""
    about = event.get("involvedObject") or event.get("regarding")
    turn = _TURNS.get(text(event, "reason") or "")
    if not isinstance(about, dict) or about.get("kind") != "Node" or turn is None:
        return None
    at = next(filter(None, (instant(event, name) for name in ("firstTimestamp", "eventTime", "lastTimestamp"))), None)
    name = text(about, "name")
    return Turn(at, name, *turn, line, text(event, "message")) if at and name else None


def stretches(turns: list[Turn]) -> Iterator[tuple[str, dict[str, object]]]:
    """States from their turns: one that is not left lasts; one that was never entered began before the export."""
    entered: dict[tuple[str, str], Turn] = {}
    for turn in sorted(turns, key=lambda turn: (turn.at, turn.is_entered)):
        key = (turn.node, turn.state)
        if turn.is_entered:
            entered.setdefault(key, turn)
        elif begun := entered.pop(key, None):
            yield _stretch(begun.line, turn.node, turn.state, begun.at, turn.at, begun.reason)
    for begun in entered.values():
        yield _stretch(begun.line, begun.node, begun.state, begun.at, None, begun.reason)


def _stretch(
    line: int, node: str | None, state: str, started_at: datetime | None, ended_at: datetime | None, reason: str | None
) -> tuple[str, dict[str, object]]:
    row: dict[str, object] = {"line": line, "node": node, "state": state, "reason": reason}
    row |= {"started_at": started_at, "ended_at": ended_at}
    return NODE_STATE_RECORDS, row
