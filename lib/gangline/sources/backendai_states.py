"""The statuses and reasons of all Backend.AI versions, and the key under which the seed table maps them."""

from gangline.sources.records import ReadLog

# In the order of a session's life (manager 20.03 to 26.8), which decides between statuses of one instant.
WAITING = (
    "PENDING",
    "DEPRIORITIZING",
    "RESERVED",
    "SCHEDULED",
    "PREPARING",
    "BUILDING",
    "PULLING",
    "PREPARED",
    "CREATING",
)
HOLDING = ("RUNNING", "RESTARTING", "RESIZING", "SUSPENDED", "RUNNING_DEGRADED")
BACK_TO_QUEUE = ("PREEMPTED", "RESCHEDULING")
ENDING = ("TERMINATING",)
TERMINAL = ("TERMINATED", "ERROR", "CANCELLED")
STATUSES = WAITING + HOLDING + BACK_TO_QUEUE + ENDING + TERMINAL
RANKS = {status: rank for rank, status in enumerate(STATUSES)}

# Reasons that say how it ended whatever the terminal status; `sql/seeds/end_reasons.csv` gives each its end reason.
DECISIVE_REASONS = frozenset(
    {
        *("task-finished", "task-done", "task-failed", "task-timeout", "failed-to-start"),
        *("user-requested", "force-terminated"),
        *("agent-termination", "agent-lost"),
        *("preempted-by-scheduler", "preempted-by-reservation"),
    }
)
# Ends by the manager's or an agent's own book-keeping, not by the hardware or the job (lablup/backend.ai#8404).
CONTROL_PLANE_REASONS = frozenset(
    {
        *("stale-kernel", "not-found-in-manager", "kernel-handler-failure"),
        *("agent-restart", "agent-restarted", "resuming-agent-operation", "agent-resource-group-changed"),
    }
)
CONTROL_PLANE_PREFIX = "control-plane/"
OTHER_REASONS = frozenset(
    {
        *("self-terminated", "task-cancelled", "user-purged", "already-terminated", "killed-by-event"),
        *("idle-timeout", "idle-utilization", "idle-session-lifetime", "exec-timeout", "hang-timeout"),
        *("pending-timeout", "restart-timeout", "bootstrap-timeout", "restarting", "rescheduled"),
        *("failed-to-create", "anomaly-detected", "abnormal-termination", "exceeded-max-retries"),
        *("container-not-found", "terminated-unknown-container", "new-container-started"),
        *("service-scaled-down", "route-termination", "dry-run-complete", "unknown"),
        *("triggered-by-scheduler", "passed-preconditions", "deprioritized-for-rescheduling", "preemption-reservation"),
    }
)
UNKNOWN_KEY = "unknown-open"
UNKNOWN_ENDED_KEY = "unknown-ended"


def status_of(text: str | None) -> str:
    """A status in one spelling: upper case, `_` between words, without the name of its enum."""
    return (text or "").rpartition(".")[2].strip().upper().replace("-", "_").replace(" ", "_")


def reason_of(text: str | None) -> str:
    """A status_info in one spelling: lower case, `-` between words."""
    return (text or "").strip().lower().replace("_", "-").replace(" ", "-")


def state_key_of(status: str, reason: str, has_ended: bool) -> str:
    """The key of `sql/seeds/end_reasons.csv` for a status and its reason.

    Examples
    --------
    >>> state_key_of("TERMINATED", "task-failed", True), state_key_of("ERROR", "failed-to-create", True)
    ('task-failed', 'ERROR')
    >>> state_key_of("TERMINATED", "stale-kernel", True), state_key_of("RUNNING", "", False)
    ('control-plane/stale-kernel', 'RUNNING')
    """
    if status not in RANKS:
        return UNKNOWN_ENDED_KEY if has_ended else UNKNOWN_KEY
    if status not in TERMINAL:
        return status
    if reason in CONTROL_PLANE_REASONS:
        return CONTROL_PLANE_PREFIX + reason
    if reason in DECISIVE_REASONS or (reason in OTHER_REASONS and status != "ERROR"):
        return reason
    return status


def log_unknown(status: str, reason: str, log: ReadLog, line: int) -> None:
    """Counts words that no version is known to use."""
    if status not in RANKS:
        log.odd("unknown_status", line)
    elif status in TERMINAL and reason and reason not in DECISIVE_REASONS | CONTROL_PLANE_REASONS | OTHER_REASONS:
        log.odd("unknown_status_info", line)
