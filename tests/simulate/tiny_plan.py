"""A plan of two nodes and six minutes across a UTC midnight: one trains, the other is down for three scrapes."""

from dataclasses import replace

from gangline.simulate.plan import NodeStatePlan, Span
from tests.simulate.small_plan import HOUR, ID, PLAN, RUN, START, STEP, TRAINING

NODES = ("gpu062", "gpu063")
SCRAPES = 12
FROM = START + 4 * HOUR - 4 * STEP  # 23:58Z: four scrapes before midnight
UNSCRAPED = (5, 6, 7)
BUSY_FROM = 2


def at(scrape: int) -> int:
    """The instant of a scrape."""
    return FROM + scrape * STEP


TINY = replace(
    PLAN,
    cluster=replace(PLAN.cluster, nodes=NODES, gang_nodes=1),
    sessions_span=Span(at(0), at(SCRAPES)),
    telemetry=Span(at(0), at(SCRAPES)),
    node_states=(NodeStatePlan("gpu063", "down", at(5), at(8), "GPU replaced"),),
    sessions=(replace(TRAINING, nodes=NODES[:1], created_ms=at(0), started_ms=at(1), ended_ms=None, failure_id=None),),
    runs=(
        replace(RUN, session_id=ID.format(1), started_ms=at(1), ended_ms=at(12), first_step_ms=at(BUSY_FROM), knots=()),
    ),
    saves=(),
    loads=(),
    failures=(),
    kernel_lines=(),
    cases=(),
    outages=(),
)
