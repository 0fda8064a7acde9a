"""What the sample's operators do and write down: nodes drained and down, and remarks on what no log says.

No session of the story runs on a node while it is out, but for one that is lost for seconds.
"""

import csv
from io import StringIO
from typing import NamedTuple

import story

EVENT_COLUMNS = ("Cluster", "NodeName", "TimeStart", "TimeEnd", "State", "Reason", "User")
NOTE_COLUMNS = ("target", "from", "to", "cause", "planned", "note")


class Event(NamedTuple):
    """A stretch of state of nodes, as `sacctmgr show event` keeps it; of the whole cluster where there are none."""

    nodes: tuple[int, ...]
    start: str
    end: str
    state: str
    reason: str
    user: str = ""


class Note(NamedTuple):
    """A remark on a session, a node or a ticket; without times where it holds for the whole of it."""

    target: str
    start: str
    end: str
    cause: str
    is_planned: bool
    note: str


EVENTS = (
    Event((), "2026-02-27T10:02:11", "Unknown", "", "Cluster Registered TRES"),
    Event(
        (9,), "2026-03-08T08:58:20", "2026-03-08T11:15:04", "DRAIN", "Xid 79 on GPU 3, riser | see ticket", "root(0)"
    ),
    Event((8,), "2026-03-10T14:02:00", "2026-03-10T14:02:09", "DOWN*", "Not responding", "slurm(64030)"),
    # Three of twelve nodes: no gang of the usual size could have started in these hours.
    Event((3, 8, 9), "2026-03-20T22:10:31", "2026-03-21T04:41:07", "DOWN", "leaf 3 dead", "root(0)"),
    Event((11,), "2026-03-22T18:30:00", "Unknown", "DRAIN", "NVLink board ordered", "root(0)"),
)

NOTES = (
    Note("4127", "", "", "loss diverged", False, "stopped by hand; went on from the save before, learning rate halved"),
    Note("gpu007", "2026-03-02T00:00:00", "", "set aside", False, "kept for debugging; nobody gave it back"),
    Note("OPS-1050", "", "", "riser", False, "보드 교체 후 정상; <b>same slot</b> as in January"),
    Note("gpu003", "2026-03-20T22:10:00", "2026-03-21T04:41:00", "leaf switch", False, "leaf 3 lost both supplies"),
)


def events_text() -> str:
    """Node states as `sacctmgr show event -P` prints them: nothing is escaped, a row a node."""
    rows = [
        (story.CLUSTER, name, event.start, event.end, event.state, event.reason, event.user)
        for event in EVENTS
        for name in [f"gpu{node:03d}" for node in event.nodes] or [""]
    ]
    return "\n".join("|".join(row) for row in [EVENT_COLUMNS, *rows]) + "\n"


def notes_text() -> str:
    """Remarks as a table."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(NOTE_COLUMNS)
    for note in NOTES:
        planned = "yes" if note.is_planned else "no"
        writer.writerow((note.target, note.start, note.end, note.cause, planned, note.note))
    return text.getvalue()
