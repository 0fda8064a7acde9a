"""What happens on the sample cluster: an invented story in which every figure of the reports has something to show.

Node numbers stand for gpu001 to gpu012. All times are local. One training job after the other takes ten of the twelve
nodes. gpu007 is nearly always left out because someone debugs on it, gpu011 because its links are not trusted, gpu004
now and then. Two failures are retried in vain, two with success. Nobody in it exists.
"""

from datetime import datetime, timedelta
from typing import NamedTuple

SEED = 20260302
CLUSTER = "sample"
GPUS_PER_NODE = 8
NODES = tuple(range(1, 13))
HELD = (4, 7)  # others hold these when a gang leaves them out; the rest it asks to be spared
START = datetime(2026, 3, 2)  # noqa: DTZ001 (local, as sacct prints it)
END = datetime(2026, 3, 23)  # noqa: DTZ001


class RunPlan(NamedTuple):
    """The run of a gang session: whether it trains and names its job, and what happens to it."""

    trains: bool = True
    is_linked: bool = True
    restart_after_h: float | None = None
    nan_row: int | None = None
    name: str = ""
    notes: str = ""


class Gang(NamedTuple):
    """A session on most of the nodes: how it follows the one before, how long it ran, how it ended."""

    link: str | float  # 'auto', 'requeue', 'queued', or the minutes until a person submitted it
    hours: float
    state: str
    name: str
    owner: str
    left_out: tuple[int, ...]


class Small(NamedTuple):
    """A job on a few nodes, beside a gang or in the pause after it."""

    gang: int
    is_after: bool
    offset_h: float
    hours: float
    nodes: tuple[int, ...]
    state: str
    name: str
    owner: str


class Habit(NamedTuple):
    """How single-node sessions fill a node's free time."""

    session_h: tuple[float, float]
    pause_h: tuple[float, float]
    first_pause_ratio: float


class Odd(NamedTuple):
    """A job with a trap in it."""

    name: str
    owner: str
    nodes: tuple[int, ...]
    submit: datetime
    start: datetime | None
    end: datetime | None
    state: str


class Ticket(NamedTuple):
    """An incident: tied to the end of a gang, or at an hour of the three weeks."""

    node: int
    kind: str
    group: str
    detail: str
    hours: float | None  # null while open
    gang: int | None = None
    before_min: float = 0.0
    at_h: float = 0.0


GANGS = (
    Gang(42, 30.2, "FAILED", "pretrain-32b", "ana", (7, 11)),
    Gang("auto", 0.3, "FAILED", "pretrain-32b-retry1", "ana", (7, 11)),
    Gang("auto", 26.5, "FAILED", "pretrain-32b-retry2", "ana", (4, 7)),
    Gang(310, 0.6, "FAILED", "pretrain-32b", "ana", (4, 7)),
    Gang(115, 41.0, "CANCELLED by 1001", "pretrain-32b", "ana", (4, 7)),
    Gang(47, 12.0, "COMPLETED", "sft-32b", "bo", (5, 7)),
    Gang(185, 22.4, "NODE_FAIL", "pretrain-32b_20260308", "ana", (7, 11)),
    Gang("requeue", 7.8, "FAILED", "pretrain-32b_20260308", "ana", (7, 9)),
    Gang("auto", 0.25, "FAILED", "pretrain-32b-retry1", "ana", (7, 9)),
    Gang("auto", 0.4, "FAILED", "pretrain-32b-retry2", "ana", (7, 9)),
    Gang("auto", 0.2, "FAILED", "pretrain-32b-retry3", "ana", (7, 9)),
    Gang("auto", 0.35, "OUT_OF_MEMORY", "pretrain-32b-retry4", "ana", (7, 9)),
    Gang(395, 36.0, "TIMEOUT", "pretrain-32b", "ana", (7, 10)),
    Gang("queued", 20.0, "PREEMPTED", "pretrain-32b", "ana", (4, 11)),
    Gang(240, 2.2, "COMPLETED", "eval-sweep", "dana", (2, 7, 11)),
    Gang(61, 28.0, "FAILED", "pretrain-32b", "ana", (7, 8)),
    Gang("auto", 0.5, "FAILED", "pretrain-32b-retry1", "ana", (2, 7)),
    Gang("auto", 0.8, "FAILED", "pretrain-32b-retry2", "ana", (2, 7)),
    Gang(720, 47.0, "REQUEUED", "pretrain-32b", "ana", (4, 11)),
    Gang("requeue", 18.0, "FAILED", "pretrain-32b", "ana", (7, 11)),
    Gang("auto", 31.0, "NODE_FAIL", "pretrain-32b-retry1", "ana", (7, 11)),
    Gang("auto", 0.2, "FAILED", "pretrain-32b-retry2", "ana", (7, 11)),
    Gang(156, 0.9, "CANCELLED by 1001", "pretrain-32b", "ana", (7, 12)),
    Gang(44, 25.0, "FAILED", "pretrain-32b", "ana", (1, 11)),
    Gang(222, 14.0, "COMPLETED", "sft-32b", "bo", (3, 7)),
    Gang(330, 38.0, "FAILED", "pretrain-32b", "ana", (4, 11)),
    Gang(490, 17.0, "OUT_OF_MEMORY", "pretrain-32b", "ana", (7, 11)),
    Gang(132, 30.0, "RUNNING", "pretrain-32b", "ana", (7, 11)),
)

ZONE = timedelta(hours=9)
LOADING = timedelta(minutes=24)
LOG_STEPS, SAVE_STEPS = 180, 720  # hourly, and every four hours
STEP_S, TOKENS_A_STEP = 20.0, 4_194_304
SLOWNESS = (1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.03, 1.18)
LOSSES = {"pretrain": (2.05, 1.9), "sft": (1.15, 0.6)}  # where it goes to, and how far above it begins
LOSS_STEPS = 14_000
WORKSTATION_AT = datetime(2026, 3, 10, 15, 20)  # noqa: DTZ001

RUNS = {
    0: RunPlan(),
    2: RunPlan(),
    3: RunPlan(trains=False, notes="stopped while loading"),
    4: RunPlan(nan_row=17),
    5: RunPlan(name="sft-32b 지도학습"),
    6: RunPlan(notes="gpu009 fell off the bus"),
    7: RunPlan(),
    8: RunPlan(trains=False),
    12: RunPlan(restart_after_h=20.0, notes="the launcher restarted it once"),
    13: RunPlan(is_linked=False),
    15: RunPlan(),
    18: RunPlan(),
    19: RunPlan(),
    20: RunPlan(),
    23: RunPlan(),
    24: RunPlan(),
    25: RunPlan(is_linked=False, notes="=SUM(A1:A9)"),
    26: RunPlan(nan_row=3),
    27: RunPlan(),
}

SMALL = (
    Small(3, True, 0.2, 1.1, (1, 2, 3, 5), "COMPLETED", "eval-math", "dana"),
    Small(11, True, 0.4, 4.8, (5, 6, 8, 9), "COMPLETED", "eval-code", "dana"),
    Small(13, False, 3.0, 6.0, (4, 11), "FAILED", "sft-7b", "bo"),
    Small(13, True, 0.3, 2.9, (1, 2, 3), "COMPLETED", "tokenise", "eli"),
    Small(17, True, 0.6, 9.0, (3, 5, 6), "CANCELLED by 1003", "sft-7b", "bo"),
    Small(18, False, 9.5, 11.0, (4, 11), "COMPLETED", "sft-7b", "bo"),
    Small(25, True, 0.5, 6.5, (1, 2), "OUT_OF_MEMORY", "eval-long", "dana"),
)

HABITS = {
    4: Habit((2.0, 6.0), (2.0, 6.0), 0.5),
    7: Habit((3.0, 11.0), (0.05, 0.4), 0.0),
    9: Habit((1.0, 4.0), (14.0, 30.0), 1.0),
    11: Habit((0.4, 1.5), (16.0, 40.0), 0.7),
}
OTHER_HABIT = Habit((1.0, 5.0), (4.0, 16.0), 0.6)
SINGLE_STATES = ("COMPLETED", "FAILED", "CANCELLED by 1003", "TIMEOUT", "OUT_OF_MEMORY", "NODE_FAIL")
SINGLE_WEIGHTS = (56, 15, 14, 7, 6, 2)
SINGLE_OWNERS = ("cy", "dana", "eli")
DEBUG_NAMES = ("debug-kernels", "debug-kernels", "jupyter", "profile-step")
SINGLE_NAMES = ("jupyter", "eval-small", "burn-in", "tokenise")


def _at(day: int, hour: int, minute: int = 0) -> datetime:
    return datetime(2026, 3, day, hour, minute)  # noqa: DTZ001


ODD = (
    Odd("probe|nccl-allreduce", "cy", (11,), _at(2, 5), _at(2, 5, 1), _at(2, 5, 22), "COMPLETED"),
    Odd("two\nlines", "eli", (11,), _at(2, 13), _at(2, 13, 2), _at(2, 13, 40), "FAILED"),
    Odd("<script>alert(1)</script>", "cy", (11,), _at(2, 20), _at(2, 20, 1), _at(2, 20, 31), "CANCELLED by 1004"),
    Odd("데이터-점검 🐕", "eli", (11,), _at(3, 2), _at(3, 2, 3), _at(3, 2, 44), "COMPLETED"),
    Odd("sft-70b", "bo", tuple(range(1, 13)), _at(5, 9, 12), None, _at(6, 18, 40), "CANCELLED by 1002"),
    Odd("eval-long", "dana", (1, 2), _at(22, 17, 5), None, None, "PENDING"),
    # The controller lost this job's start and says 0: a real export has such rows, and they are rejected.
    Odd("jupyter", "cy", (12,), _at(12, 11, 20), datetime(1970, 1, 1, 9), _at(12, 11, 50), "COMPLETED"),  # noqa: DTZ001
)

TICKETS = (
    Ticket(4, "ECC", "hardware", "Xid 94 on GPU 2, contained", 6.3, gang=0, before_min=4.5),
    Ticket(4, "ECC", "hardware", "Xid 63, row remap pending", 71.0, gang=2, before_min=2.1),
    Ticket(9, "GPU off the bus", "hardware", 'Xid 79, GPU 3; "fallen off the bus"', 33.5, gang=6, before_min=6.0),
    Ticket(2, "NVLink", "hardware", "Xid 145 on GPU 5", 11.2, gang=15, before_min=3.2),
    Ticket(6, "GPU off the bus", "hardware", "Xid 79, GPU 0", 8.4, gang=20, before_min=1.4),
    Ticket(1, "network", "hardware", "port flaps,\nleaf 2 port 14", 29.0, gang=23, before_min=0.8),
    Ticket(11, "NVLink", "hardware", "replay errors above limit, GPU 6", 19.5, at_h=3.0),
    Ticket(11, "NVLink", "hardware", "replay errors above limit, GPU 6", 44.0, at_h=31.0),
    Ticket(11, "thermal", "hardware", "GPU 1 at 91 °C", 1.2, at_h=96.0),
    Ticket(11, "NVLink", "hardware", "Xid 149 on GPU 6", 52.0, at_h=141.0),
    Ticket(11, "NVLink", "hardware", "Xid 145 on GPU 6", 27.0, at_h=234.0),
    Ticket(11, "network", "hardware", "link width x8 instead of x16", 3.1, at_h=300.0),
    Ticket(11, "NVLink", "hardware", "Xid 149 on GPU 6", 66.0, at_h=348.0),
    Ticket(11, "NVLink", "hardware", "board ordered", None, at_h=452.0),
    Ticket(4, "thermal", "hardware", "냉각수 온도 경보", 0.7, at_h=12.0),
    Ticket(4, "ECC", "hardware", "Xid 94 on GPU 2, contained", 2.6, at_h=171.0),
    Ticket(4, "ECC", "hardware", "Xid 95 on GPU 2", 14.8, at_h=262.0),
    Ticket(9, "host reboot", "software", "kernel update came too early", 0.4, at_h=66.0),
    Ticket(9, "GPU off the bus", "hardware", "Xid 79, GPU 3", 12.7, at_h=330.0),
    Ticket(9, "thermal", "hardware", "fan 4 replaced", None, at_h=488.0),
    Ticket(2, "NVLink", "hardware", "Xid 145 on GPU 5", 4.9, at_h=215.0),
    Ticket(2, "storage mount", "software", "stale file handle on /data", 0.9, at_h=395.0),
    Ticket(2, "storage mount", "software", "stale file handle on /data", 0.6, at_h=431.0),
    Ticket(8, "network", "hardware", "transceiver replaced", 5.5, at_h=205.0),
    Ticket(8, "network", "hardware", "port flaps, leaf 3 port 2", 1.8, at_h=241.0),
    Ticket(12, "thermal", "hardware", "GPU 4 at 89 °C", 2.2, at_h=376.0),
    Ticket(3, "host reboot", "unknown", "<b>no cause found</b>", 1.1, at_h=418.0),
    Ticket(5, "ECC", "hardware", "Xid 63 on GPU 7", 9.6, at_h=117.0),
    Ticket(10, "storage mount", "software", "mount hangs", 0.8, at_h=197.0),
    Ticket(7, "thermal", "hardware", "GPU 0 at 90 °C", 1.6, at_h=280.0),
    Ticket(10, "network", "unknown", "under observation", None, at_h=497.0),
    # Someone typed the wrong day: it ends before it starts, and is rejected.
    Ticket(5, "thermal", "hardware", "GPU 2 at 88 °C", -22.0, at_h=182.0),
)
