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
