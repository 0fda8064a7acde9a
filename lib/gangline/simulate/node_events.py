"""Stretches in which nodes could not be used, in the form of `sacctmgr show event -P` (formats 8), local times."""

from pathlib import Path
from zoneinfo import ZoneInfo

from gangline.simulate.plan import Plan
from gangline.sources.samples import instant_of_ms

HEADER = "Cluster|NodeName|TimeStart|TimeEnd|State|Reason|User"
WORDS = {"down": "DOWN", "drained": "DRAIN"}


def write_events(path: Path, plan: Plan) -> Path:
    """Writes the plan's node states, in order of their start."""
    zone = ZoneInfo(plan.cluster.time_zone)

    def local(at_ms: int | None) -> str:
        return "Unknown" if at_ms is None else instant_of_ms(at_ms).astimezone(zone).strftime("%Y-%m-%dT%H:%M:%S")

    lines = [
        "|".join(
            (
                plan.cluster.name,
                state.node,
                local(state.from_ms),
                local(state.to_ms),
                WORDS[state.state],
                state.reason,
                "",
            )
        )
        for state in sorted(plan.node_states, key=lambda state: (state.from_ms, state.node))
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([HEADER, *lines]) + "\n")
    return path
