"""A record of `sacct` text as a job: which columns say what."""

from dataclasses import dataclass
from functools import cached_property
from zoneinfo import ZoneInfo

from gangline.hostlists import HostListError, expand
from gangline.sources.records import ReadLog, SourceOptions
from gangline.sources.slurm_columns import READ, WANTED, Layout
from gangline.sources.slurm_fields import Gpus, RecordError, TimeReader, gpus_of, limit_min, state_key
from gangline.sources.slurm_rows import SlurmJob
from gangline.sources.slurm_submissions import excluded_nodes


@dataclass
class JobReader:
    """Makes jobs of the fields of records in one layout."""

    layout: Layout
    options: SourceOptions
    log: ReadLog

    @cached_property
    def columns(self) -> dict[str, int]:
        """Where each column that is read stands (the first of several of one name); -1 where there is none."""
        found = {name: column for column, name in reversed(list(enumerate(self.layout.names)))}
        return {name: found.get(name, -1) for name in READ}

    @cached_property
    def times(self) -> TimeReader:
        """The clock of the machine on which sacct ran."""
        return TimeReader(ZoneInfo(self.options.time_zone))

    @cached_property
    def id_column(self) -> int:
        """`JobIDRaw` where there is one: arrays and heterogeneous jobs share what `JobID` begins with."""
        columns = self.columns
        return columns["jobid"] if columns["jobidraw"] < 0 else columns["jobidraw"]

    def note_columns(self, line: int) -> None:
        """Logs the columns without which some answers are lost."""
        for name in WANTED:
            if name.lower() not in self.layout.names:
                self.log.odd(f"no_{name.lower()}_column", line)

    def is_step(self, fields: list[str]) -> bool:
        """Whether a record is a step (`123.batch`) of a job, not the job itself."""
        return "." in fields[self.id_column]

    def is_elsewhere(self, fields: list[str]) -> bool:
        """Whether a record is of another cluster than the one asked for."""
        cluster = self._value(fields, "cluster")
        return bool(self.options.source_cluster and cluster and cluster != self.options.source_cluster)

    def job(self, line: int, fields: list[str]) -> SlurmJob:
        """The job that a record tells of.

        Raises
        ------
        RecordError
            If its times or its node list cannot be read.
        """
        columns = self.columns
        state = fields[columns["state"]]
        return SlurmJob(
            line=line,
            cluster=self._value(fields, "cluster") or self.options.source_cluster,
            raw_id=fields[self.id_column],
            bare_id=self._value(fields, "jobid") or fields[self.id_column],
            name=fields[columns["jobname"]],
            owner=self._value(fields, "user") or None,
            partition=self._value(fields, "partition") or None,
            nodes=self._nodes(fields),
            excluded_nodes=self._excluded(line, fields),
            gpus=self._gpus(fields),
            times=self.times.read(
                fields[columns["submit"]],
                fields[columns["start"]],
                fields[columns["end"]],
                self._value(fields, "elapsed") or self._value(fields, "elapsedraw"),
                self._value(fields, "suspended"),
            ),
            limit_min=limit_min(self._value(fields, "timelimit"), self._value(fields, "timelimitraw")),
            state_text=state,
            state_key=state_key(state),
            attempt=self._attempt(fields),
        )

    def _value(self, fields: list[str], name: str) -> str:
        column = self.columns[name]
        return "" if column < 0 else fields[column]

    def _nodes(self, fields: list[str]) -> tuple[str, ...]:
        try:
            return expand(fields[self.columns["nodelist"]])
        except HostListError as error:
            raise RecordError(str(error)) from error

    def _excluded(self, line: int, fields: list[str]) -> tuple[str, ...] | None:
        try:
            return excluded_nodes(self._value(fields, "submitline"))
        except HostListError:
            self.log.odd("exclude_unreadable", line)
            return None

    def _gpus(self, fields: list[str]) -> Gpus | None:
        tres = self._value(fields, "alloctres")
        if tres:
            return gpus_of(tres)
        gres, nodes = self._value(fields, "allocgres"), self._value(fields, "allocnodes")
        if not gres:
            return None
        gpus = gpus_of(gres.removeprefix("PER_NODE:"))  # Slurm before 21.08
        per_node = int(nodes) if gres.startswith("PER_NODE:") and nodes.isdecimal() else 1
        return Gpus(gpus.total * per_node, gpus.model)

    def _attempt(self, fields: list[str]) -> int | None:
        restarts = self._value(fields, "restarts")
        return int(restarts) if restarts.isdecimal() else None
