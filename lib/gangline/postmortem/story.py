"""Everything that a postmortem tells, measured once: for the page, and for the same as Markdown."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import duckdb
import polars as pl

from gangline import exposures, lost_times
from gangline.cadences import stages
from gangline.config import Config
from gangline.estimates import Estimate
from gangline.postmortem import course, sources
from gangline.postmortem.deviations import deviations, outliers
from gangline.postmortem.layers import layers, marks, phases
from gangline.postmortem.subjects import NEAR, Subject, SubjectError, find
from gangline.warehouse.querying import query
from gangline.windows import Window

SIGNS = ("xid", "bus_loss", "node_incident_started", "log_signature")
"""Kinds of event that tell of a fault."""


@dataclass(frozen=True)
class Story:
    """A subject and what was measured of it; each part is computed when it is first asked for."""

    con: duckdb.DuckDBPyConnection
    config: Config
    subject: Subject

    @cached_property
    def window(self) -> Window:
        """What the page covers."""
        return self.subject.window(self.config.cluster.time_zone)

    @cached_property
    def session(self) -> dict[str, Any]:
        """The session's row of `marts.sessions`; empty where the event fell into none."""
        rows = query(self.con, "from marts.sessions where session_id = $id", id=self.subject.session_id or "")
        return rows.row(0, named=True) if rows.height else {}

    @cached_property
    def split(self) -> pl.DataFrame:
        """Rows of `course.split`."""
        return course.split(self.con, self.subject)

    @cached_property
    def attempts(self) -> pl.DataFrame:
        """Rows of `course.attempts`."""
        return course.attempts(self.con, self.subject)

    @cached_property
    def cost(self) -> dict[str, Estimate]:
        """`course.cost` of the end."""
        return course.cost(self.con, self.subject, self._lost_h())

    @cached_property
    def deviations(self) -> pl.DataFrame:
        """Rows of `deviations.deviations`."""
        return deviations(self.con, self.config, self.subject)

    @cached_property
    def timeline(self) -> pl.DataFrame:
        """Rows of `sources.timeline`."""
        return sources.timeline(self.con, self.subject, self.window)

    @cached_property
    def audit(self) -> pl.DataFrame:
        """Rows of `sources.audit`."""
        return sources.audit(self.con, self.subject)

    @cached_property
    def similar(self) -> pl.DataFrame:
        """Rows of `sources.similar`."""
        return sources.similar(self.con, self.subject)

    @cached_property
    def looked_at(self) -> pl.DataFrame:
        """Rows of `sources.looked_at`."""
        return sources.looked_at(self.con, self.subject, self.window, self.deviations)

    @cached_property
    def node(self) -> str | None:
        """The node at fault; where none is known, the one that deviates most."""
        if self.subject.node:
            return self.subject.node
        far = outliers(self.deviations)
        return None if far.is_empty() else str(far["node"][0])

    @cached_property
    def layers(self) -> pl.DataFrame:
        """Rows of `layers.layers` of that node."""
        return layers(self.con, self.config, self.window, self.node)

    @cached_property
    def phases(self) -> pl.DataFrame:
        """Phases of the session and of the attempts after it."""
        ids = [self.subject.session_id or "", *self.attempts["session_id"]]
        return phases(self.con, self.window, ids)

    @cached_property
    def marks(self) -> pl.DataFrame:
        """What is marked on the layers."""
        return marks(self.timeline, self.node)

    @property
    def case(self) -> str:
        """Which sentence fits.

        `end` (a session ended), `running` (it had not ended), `inside` (a time while one ran), `alone` (none ran).
        """
        if not self.session:
            return "alone"
        if self.session["ended_at"] is None and dict(self.subject.named).keys() == {"session"}:
            return "running"
        has_ended = self.split_of("ended") is not None and not self._runs_on()
        return "end" if self.subject.is_end or has_ended else "inside"

    def aftermath(self) -> str:
        """How long training was down, what was tried, and what was lost, in a sentence; what is not known is said."""
        down, lost, attempts = (self.cost[name] for name in ("down", "lost", "attempts"))
        back = f"Training was back after {down.brief}, with {attempts.brief} in vain"
        unknown = f"How long training was down is not known ({down.reason})"
        work = "how much work was lost is not known" if lost.value is None else f"{lost.brief} of work was lost"
        return f"{unknown if down.value is None else back}; {work}."

    def cost_table(self) -> pl.DataFrame:
        """The costs as rows: cost, said, reason."""
        names = {name: name.replace("_", " ").replace("gpu h", "GPU-hours") for name in self.cost}
        rows = [(names[name], estimate.brief, estimate.reason) for name, estimate in self.cost.items()]
        return pl.DataFrame(rows, schema=dict.fromkeys(("cost", "said", "reason"), pl.String), orient="row")

    def told_timeline(self) -> pl.DataFrame:
        """The timeline with the cluster's clock beside UTC: at, local, node, kind, value, session_id, file, line."""
        zone = self.config.cluster.time_zone
        local = pl.col("at").dt.convert_time_zone(zone).dt.strftime("%Y-%m-%d %H:%M:%S").alias(f"in {zone}")
        named = pl.col("at").alias("happened_at")
        return self.timeline.select(named, local, "node", "kind", "value", "session_id", "file", "line")

    def split_of(self, mark: str) -> Any:
        """When a mark of the split was reached; null where not known."""
        return self.split.filter(pl.col("mark") == mark)["reached_at"][0]

    def first_sign(self) -> str:
        """The first sign of the half hour on either side, on the node or on one of the session's, in words."""
        nodes = query(self.con, "select node from marts.session_nodes where session_id = $id",
                      id=self.subject.session_id or "")["node"].to_list()  # fmt: skip
        is_own = pl.col("node").is_in([*nodes, self.subject.node or ""])
        is_own |= pl.col("session_id") == (self.subject.session_id or "")
        is_near = pl.col("at").is_between(self.subject.at - NEAR, self.subject.at + NEAR)
        signs = self.timeline.filter(pl.col("kind").is_in(SIGNS) & is_near & is_own)
        if signs.is_empty():
            return "no log told of a fault"
        row = signs.row(0, named=True)
        return f"{row['kind'].replace('_', ' ')} {row['value'] or ''} on {row['node'] or 'a node not named'}".strip()

    def _runs_on(self) -> bool:
        ended = self.session.get("ended_at")
        return ended is None or (ended - self.subject.at).total_seconds() > 3600

    def _lost_h(self) -> float | None:
        """What was lost at the end, as the page of checkpoints measures it."""
        ended = self.session.get("ended_at")
        if ended is None:
            return None
        window = Window.whole(self.session["started_at"], ended, self.config.cluster.time_zone)
        found = exposures.exposure(self.con, window)
        lost = lost_times.by_end(self.con, found, dict.fromkeys(stages(self.con), 0.0))
        own = lost.filter(pl.col("session_id") == self.subject.session_id)
        return own["lost_h"][0] if own.height else None


def story(
    con: duckdb.DuckDBPyConnection, config: Config, session: str = "", incident: str = "", node: str = "", at: str = ""
) -> Story:
    """The story of what is named; where nothing is, of the latest end that was neither completed nor planned.

    Raises
    ------
    SubjectError
        If nothing is found, or more than one thing is named.
    """
    if not (session or incident or node or at):
        session = _latest_end(con)
    return Story(con, config, find(con, config.cluster.time_zone, session, incident, node, at))


def _latest_end(con: duckdb.DuckDBPyConnection) -> str:
    rows = query(con, "select session_id from marts.sessions where is_gang and is_abnormal_end"
                 " order by ended_at desc, session_id limit 1")  # fmt: skip
    if rows.is_empty():
        raise SubjectError("every gang session completed or was planned to end: name a session, incident or node")
    return str(rows.item())
