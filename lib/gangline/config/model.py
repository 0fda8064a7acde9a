"""Every key of the config, with its type, default and meaning; a unit is the key's own suffix."""

import hashlib
from datetime import date, datetime, time
from pathlib import Path
from typing import Annotated, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PrivateAttr, field_validator, model_validator

from gangline import hostlists
from gangline.vocabulary import SourceKind

RUN_NAME_STRIP = [r"-retry\d+$", r"_\d{8}$"]
FOLDER_NAME_BYTES = 255
RATIO = Field(ge=0, le=1)


def _zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ValueError(f"{name!r} is no IANA time zone (such as Asia/Seoul or UTC)") from error
    return name


def _instant(value: object) -> object:
    """A bare TOML date is midnight; pydantic reads the rest."""
    return datetime.combine(value, time()) if isinstance(value, date) and not isinstance(value, datetime) else value


Zone = Annotated[str, AfterValidator(_zone)]
Share = Annotated[float, RATIO]
Positive = Annotated[float, Field(gt=0)]
NotNegative = Annotated[float, Field(ge=0)]

SIMULATED_MARK = "SIMULATED"
"""The file that a simulation leaves beside its config."""


class Section(BaseModel):
    """A table of the config: unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, populate_by_name=True)


class Cluster(Section):
    """The cluster itself."""

    name: str = Field(min_length=1, max_length=100, description="name of the cluster, and of its folder of reports")
    time_zone: Zone = Field(description="IANA zone of logs without an offset, and of the reports' days and weeks")
    nodes: list[str] = Field(default=[], description='inventory as host lists, such as "gpu[062-124]"')
    node_count: int | None = Field(default=None, ge=1, description="nodes in all, where no file names every one")
    gpus_per_node: int = Field(default=8, ge=1, description="GPUs of a node whose sessions do not say")
    gang_min_nodes: int | None = Field(
        default=None, ge=1, description="fewest nodes of a gang session (default: 0.8 x the usual large size)"
    )
    retry_min_nodes: int | None = Field(
        default=None, ge=1, description="fewest nodes of a session in retry chains (default: gang_min_nodes)"
    )
    held_min_gpu_share: Share = Field(
        default=0.0, description="share of a node's GPUs that a single-node session must hold to count as holding it"
    )
    run_name_strip: list[str] = Field(
        default=RUN_NAME_STRIP, description="patterns cut from a job name, one after the other, to give the run name"
    )

    @field_validator("name")
    @classmethod
    def _is_folder_name(cls, name: str) -> str:
        if name.startswith(".") or any(character in '/\\:*?"<>|' or not character.isprintable() for character in name):
            raise ValueError("is also a folder's name: no / \\ : * ? \" < > |, no control character, no leading dot")
        if len(name.encode()) > FOLDER_NAME_BYTES:
            raise ValueError(f"is also a folder's name: at most {FOLDER_NAME_BYTES} bytes as UTF-8")
        return name

    @field_validator("nodes")
    @classmethod
    def _are_host_lists(cls, nodes: list[str]) -> list[str]:
        for text in nodes:
            hostlists.expand(text)
        return nodes

    def inventory(self) -> list[str]:
        """The configured nodes, each once, in the order of the file."""
        return list(dict.fromkeys(node for text in self.nodes for node in hostlists.expand(text)))


class Storage(Section):
    """What the shared storage can do; thresholds of saves and loads are shares of it."""

    max_read_gb_per_s: Positive | None = Field(default=None, description="the storage's greatest read rate")
    max_write_gb_per_s: Positive | None = Field(default=None, description="the storage's greatest write rate")


class Training(Section):
    """When a session counts as having reached training."""

    gpu_util_min_ratio: Share = Field(default=0.8, description="mean GPU utilisation that counts as training")
    gpu_util_min_min: Positive = Field(default=20.0, description="how long it must hold without a break")
    power_min_ratio: Share = Field(default=0.5, description="mean power over the GPU model's median while training")
    duration_min_min: Positive = Field(default=60.0, description="without other evidence: how long it must have lasted")


class Retries(Section):
    """Which launches are automatic retries."""

    delay_min: NotNegative = Field(default=10.0, description="the scheduler's delay before an automatic retry")
    window_before_min: NotNegative = Field(default=1.0, description="a retry may come this much before the delay")
    window_after_min: NotNegative = Field(default=5.0, description="a retry may come this much after the delay")
    manual_gap_max_h: Positive = Field(default=24.0, description="longest gap between launches of one manual sequence")


class Overlap(Section):
    """Verdicts on excluded nodes."""

    occupied_min_ratio: Share = Field(default=0.8, description="overlap from which an excluded node is 'occupied'")
    unoccupied_max_ratio: Share = Field(default=0.2, description="overlap up to which it is 'unoccupied'")


class Checkpoints(Section):
    """How saves and loads are told from the storage's rates."""

    save_start_gb_per_s: Positive | None = Field(default=None, description="a save starts above it (8 % of max write)")
    save_end_gb_per_s: Positive | None = Field(default=None, description="a save ends below it (4 % of max write)")
    load_read_gb_per_s: Positive | None = Field(default=None, description="a load reads above it (0.286 % of max read)")
    save_merge_s: NotNegative = Field(default=60.0, description="saves at most this far apart are one")
    writer_min_mb_per_s: Positive = Field(default=10.0, description="a node writing above it is a writer")
    load_min_session_min: NotNegative = Field(default=60.0, description="shortest session whose load is measured")
    around_min: NotNegative = Field(default=5.0, description="looked at before and after a save or load, too")


class Failures(Section):
    """How events become incidents and incidents explain ends."""

    incident_gap_min: Positive = Field(default=10.0, description="events on one node this close are one incident")
    before_min: NotNegative = Field(default=10.0, description="an incident this much before an end explains it")
    after_min: NotNegative = Field(default=5.0, description="an incident this much after an end explains it")
    coalesce_s: NotNegative = Field(default=60.0, description="equal events this close are one")
    signature_before_min: NotNegative = Field(
        default=60.0, description="a program's words this much before an end, no earlier, tell of it"
    )
    clock_drift_max_s: NotNegative = Field(
        default=60.0, description="a kernel log further off telemetry's clock tells of no 'before'"
    )


class Exclusions(Section):
    """The permutation null of node exclusions."""

    draws: int = Field(default=2000, ge=1, description="random draws of the null")
    seed: int = Field(default=20260509, ge=0, description="seed of the draws")
    max_blocks: int = Field(default=5000, ge=1, description="above this many blocks, a sample of them is drawn")


class EndClasses(Section):
    """How ends are classed."""

    limit_min_ratio: Share = Field(default=0.98, description="share of the time limit from which a timeout is planned")
    silent_min: Positive = Field(default=10.0, description="a kill after a run was silent this long is a failure")


class Runs(Section):
    """How runs are linked to sessions and read."""

    link_patterns: list[str] = Field(default=[], description="patterns whose first group is a session id in a run")
    save_time_key: str | None = Field(default=None, description="run metric that logs how long a save took")
    stage_key: str | None = Field(default=None, description="key of a run's config that names its training stage")


class Telemetry(Section):
    """How series are given to nodes."""

    node_labels: list[str] = Field(
        default=["hostname", "Hostname", "node", "exported_instance", "instance"],
        description="labels that name the node, the first present wins",
    )
    node_strip: list[str] = Field(
        default=[r":\d+$", r"^i-"], description="patterns cut from a node label to give the node's name"
    )


class SourceEntry(Section):
    """One kind of export and where its files lie."""

    kind: SourceKind = Field(strict=False, description="what the files are")
    path: str = Field(min_length=1, description="path or glob, relative to the config's folder")
    time_zone: Zone | None = Field(default=None, description="zone of its times without an offset")
    exported_at: datetime | None = Field(default=None, description="when it was exported (default: its latest instant)")
    epoch: datetime | None = Field(default=None, description="the instant that its day counts start from")
    source_cluster: str | None = Field(default=None, description="read only this Slurm cluster's rows")
    delimiter: str | None = Field(default=None, min_length=1, description="field delimiter, one or more characters")
    format: str | None = Field(default=None, description="the format= that a VictoriaMetrics CSV was exported with")
    api_points: Literal["raw", "grid"] | None = Field(default=None, description="what a Prometheus matrix holds")
    node: str | None = Field(default=None, description="node of a kernel log, or of mountstats, that does not name it")
    boot_at: datetime | None = Field(default=None, description="boot instant of a kernel log with relative times")

    _bare_dates = field_validator("exported_at", "epoch", "boot_at", mode="before")(_instant)


class Period(Section):
    """A stretch of time, half-open; a side left out is unbounded."""

    from_at: datetime | None = Field(default=None, alias="from", description="start of the stretch")
    to_at: datetime | None = Field(default=None, alias="to", description="end of the stretch, exclusive")

    _bare_dates = field_validator("from_at", "to_at", mode="before")(_instant)


class Stage(Period):
    """A training stage."""

    name: str = Field(description="name of the stage")


class Maintenance(Period):
    """A planned outage: ends inside it are planned."""

    note: str = Field(default="", description="what was done")


class NodePeriod(Period):
    """When a node was in service, where that is not the whole export."""

    name: str = Field(description="the node, or a host list")

    @field_validator("name")
    @classmethod
    def _is_host_list(cls, name: str) -> str:
        hostlists.expand(name)
        return name


class Role(Section):
    """The metric that plays a role."""

    metric: str = Field(description="metric name")
    labels: dict[str, str] = Field(default={}, description="labels that its series must carry")


class Config(Section):
    """The whole file."""

    cluster: Cluster
    storage: Storage = Storage()
    training: Training = Training()
    retries: Retries = Retries()
    overlap: Overlap = Overlap()
    checkpoints: Checkpoints = Checkpoints()
    failures: Failures = Failures()
    exclusions: Exclusions = Exclusions()
    end_class: EndClasses = EndClasses()
    runs: Runs = Runs()
    telemetry: Telemetry = Telemetry()
    sources: list[SourceEntry] = Field(default=[], description="the exports")
    stages: list[Stage] = Field(default=[], description="training stages")
    maintenance: list[Maintenance] = Field(default=[], description="planned outages")
    nodes: list[NodePeriod] = Field(default=[], description="nodes that were not in service all the time")
    roles: dict[str, Role] = Field(default={}, description="metrics by role (docs/roles.md)")

    _path: Path = PrivateAttr(default=Path())

    @property
    def path(self) -> Path:
        """The TOML file, absolute."""
        return self._path

    @property
    def folder(self) -> Path:
        """The folder that paths of the file are relative to, and that holds the warehouse."""
        return self._path.parent

    @property
    def is_simulated(self) -> bool:
        """Whether `gangline simulate` wrote the exports beside the config."""
        return (self.folder / SIMULATED_MARK).is_file()

    @property
    def zone(self) -> ZoneInfo:
        """The cluster's zone."""
        return ZoneInfo(self.cluster.time_zone)

    def digest(self) -> str:
        """SHA-256 of what the file says, however it is laid out."""
        return hashlib.sha256(self.model_dump_json(by_alias=True).encode()).hexdigest()

    @model_validator(mode="after")
    def _starts_above_ends(self) -> "Config":
        checkpoints = self.checkpoints
        start, end = checkpoints.save_start_gb_per_s, checkpoints.save_end_gb_per_s
        if start is not None and end is not None and end > start:
            raise ValueError("checkpoints.save_end_gb_per_s must not be above checkpoints.save_start_gb_per_s")
        return self
