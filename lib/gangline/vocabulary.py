"""The closed lists of words that marts, figures and pages share (GLOSSARY.md says what each means)."""

from enum import StrEnum


class EndReason(StrEnum):
    """How a session ended, as its scheduler says it, mapped by `sql/seeds/end_reasons.csv`."""

    COMPLETED = "completed"
    FAILED = "failed"
    KILLED = "killed"
    TIMEOUT = "timeout"
    NODE_FAIL = "node_fail"
    PREEMPTED = "preempted"
    OUT_OF_MEMORY = "out_of_memory"
    NEVER_STARTED = "never_started"
    RUNNING = "running"
    UNKNOWN = "unknown"


class EndClass(StrEnum):
    """What an end means for reliability: judged from the reason, the limits and what happened around it."""

    COMPLETED = "completed"
    FAILURE = "failure"
    PLANNED = "planned"
    PREEMPTED = "preempted"
    USER = "user"
    UNKNOWN = "unknown"


class StartKind(StrEnum):
    """The link from a session to the one before it under the same owner and run name."""

    AUTOMATIC = "automatic"
    MANUAL = "manual"
    PREQUEUED = "prequeued"
    REQUEUE_UNKNOWN = "requeue_unknown"


class Verdict(StrEnum):
    """What single-node sessions did on a node while gang sessions left it out."""

    OCCUPIED = "occupied"
    MIXED = "mixed"
    UNOCCUPIED = "unoccupied"


class SourceKind(StrEnum):
    """The kinds of export that a `[[sources]]` entry may name."""

    BACKENDAI = "backendai"
    SLURM = "slurm"
    SLURM_EVENTS = "slurm_events"
    KUBERNETES = "kubernetes"
    SESSIONS_CSV = "sessions_csv"
    INCIDENTS = "incidents"
    ANNOTATIONS_CSV = "annotations_csv"
    PROMETHEUS = "prometheus"
    WANDB = "wandb"
    KERNEL_LOG = "kernel_log"
    CONSOLE_LOG = "console_log"


class KernelEventKind(StrEnum):
    """What a kernel message tells of; a line with an Xid code is `xid` whatever the code."""

    XID = "xid"
    SXID = "sxid"
    BUS_LOSS = "bus_loss"
    ROW_REMAP = "row_remap"
    RECOVERY_ACTION = "recovery_action"


class TimeQuality(StrEnum):
    """How far a kernel message's time can be trusted, best first."""

    STAMPED = "stamped"  # the node's clock, with its offset
    LOCAL = "local"  # the node's clock without an offset: the config's zone
    YEAR_INFERRED = "year_inferred"  # the node's clock without a year
    UPTIME = "uptime"  # counted from the boot, which stands still while a node sleeps
    NONE = "none"  # no time at all
