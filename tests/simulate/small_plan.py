"""A plan written by hand: four nodes, six hours across a UTC midnight, one training with two saves that fails."""

from gangline.simulate.plan import (
    CasePlan,
    ClusterPlan,
    CoursePlan,
    FailurePlan,
    KernelLinePlan,
    Knot,
    LoadPlan,
    NodeBytes,
    NodeStatePlan,
    OutagePlan,
    Plan,
    RequestPlan,
    RunPlan,
    SavePlan,
    SessionPlan,
    Span,
)

NODES = ("gpu062", "gpu063", "gpu064", "gpu065")
GANG = NODES[:3]
STEP = 30_000
HOUR = 3_600_000
START = 1_757_016_000_000  # 2025-09-04T20:00Z
END = START + 6 * HOUR
ID = "00000000-0000-4000-8000-00000000000{}"
GB = 10**9


def at(steps: float) -> int:
    """The instant so many scrapes after the telemetry's start."""
    return START + round(steps * STEP)


WRITES = RequestPlan(1_000_000, 1890.0, 136.0, 2030.0, 0.0085, 3020.0, 166.0)
READS = RequestPlan(440_000, 54.2, 24.0, 78.2, 0.0085, 80.0, 30.0)
TRAINING = SessionPlan(
    session_id=ID.format(1),
    name="pretrain-4k",
    access_key="KEYMINJI",
    kind="gang",
    purpose="training",
    nodes=GANG,
    gpus_per_node=8,
    created_ms=at(9),
    started_ms=at(10),
    ended_ms=at(500),
    status="ERROR",
    status_info="task-failed",
    result="FAILURE",
    exit_code=1,
    training_from_ms=at(40),
    run_id="r1",
    failure_id="f1",
)
HOLD = SessionPlan(
    session_id=ID.format(2),
    name="hold-gpu065",
    access_key="KEYHANA",
    kind="single",
    purpose="hold",
    nodes=("gpu065",),
    gpus_per_node=8,
    created_ms=at(0),
    started_ms=at(1),
    ended_ms=None,
    status="RUNNING",
    status_info="",
    result="UNDEFINED",
    exit_code=None,
)
NEVER = SessionPlan(
    session_id=ID.format(3),
    name="typo",
    access_key="KEYHANA",
    kind="multi",
    purpose="test",
    nodes=NODES[:2],
    gpus_per_node=8,
    created_ms=at(2),
    started_ms=None,
    ended_ms=at(4),
    status="CANCELLED",
    status_info="user-requested",
    result="UNDEFINED",
    exit_code=None,
)
RUN = RunPlan(
    run_id="r1",
    session_id=TRAINING.session_id,
    name="pretrain-4k",
    stage="4K",
    context_length=4096,
    started_ms=at(11),
    ended_ms=at(499),
    state="crashed",
    resume_step=1000,
    first_step_ms=at(40),
    last_step=1910,
    log_every=10,
    knots=(Knot(at(39), 1000), Knot(at(200), 1320), Knot(at(201), 1320), Knot(at(499), 1910)),
)
SAVES = (
    SavePlan(
        "s1",
        ID.format(1),
        "r1",
        "4K",
        1320,
        at(200.2),
        18_000,
        ((at(200), 1.0),),
        (NodeBytes(GANG, 26 * GB, 48 * GB),),
        None,
        None,
    ),
    SavePlan(
        "s2",
        ID.format(1),
        "r1",
        "4K",
        1700,
        at(400.5),
        18_000,
        ((at(400), 0.75), (at(401), 0.25)),
        (NodeBytes(GANG[:2], 26 * GB, 48 * GB), NodeBytes(GANG[2:], 2 * GB, 9 * GB)),
        6_009_000,
        WRITES,
    ),
)
LOAD = LoadPlan(
    "l1", ID.format(1), at(12), at(15), (3 * 440 * 10**6, 6 * 440 * 10**6, 3 * 440 * 10**6), 200 * GB, READS
)
COURSES = (
    CoursePlan("interrupts_per_s", "gpu063", None, ((at(450), 300_000.0), (at(452), 100_000.0)), True),
    CoursePlan("nvlink_errors_per_s", "gpu063", 1, ((at(450), 0.0), (at(454), 4.0)), False),
    CoursePlan("correctable_remaps", "gpu063", 1, ((at(440), 0.0), (at(480), 40.0)), False),
)
PLAN = Plan(
    seed=5,
    cluster=ClusterPlan(
        "small", "Asia/Seoul", NODES, 8, 3, STEP, 100 * GB, 10 * GB, 2252_000 * GB, 450_000 * GB, 963_000 * GB
    ),
    sessions_span=Span(START - HOUR, END),
    telemetry=Span(START, END),
    node_states=(NodeStatePlan("gpu063", "down", at(520), at(560), "GPU replaced"),),
    sessions=(HOLD, NEVER, TRAINING),
    runs=(RUN,),
    saves=SAVES,
    loads=(LOAD,),
    failures=(FailurePlan("f1", "nvlink", "gpu063", 1, (145, 79), at(498), ID.format(1)),),
    kernel_lines=(
        KernelLinePlan("gpu063", at(498), 1, 145, "NVRM: Xid (PCI:0000:43:00): 145, pid=1, name=python3, RLW_RXPIPE"),
        KernelLinePlan("gpu063", at(498.5), 1, 79, "NVRM: Xid (PCI:0000:43:00): 79, GPU has fallen off the bus."),
    ),
    cases=(CasePlan("NVLink and bus", "gpu063", 1, at(498), Span(at(430), at(500)), COURSES),),
    startups=(),
    outages=(OutagePlan("gpu064", "node", Span(at(300), at(310))),),
)
