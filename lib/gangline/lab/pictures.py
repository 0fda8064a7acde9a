"""The reports' own pictures for what a lab looks at: window and nodes are the lab's."""

from typing import TYPE_CHECKING

from gangline import annotations, capacity, exclusions, sessions, telemetry
from gangline.courses import Course, course
from gangline.hostlists import fold
from gangline.lab.opening import Lab

if TYPE_CHECKING:
    import altair as alt


class NothingToDrawError(ValueError):
    """There are no rows in the lab's window; the message says of what."""


def session_timeline(here: Lab) -> "alt.TopLevelMixin":
    """Sessions of the largest runs, a bar each, coloured by how they ended.

    Raises
    ------
    NothingToDrawError
        Where no session ran in the window.
    """
    from gangline.charts import fleet

    notes = annotations.within(here.con, here.window)
    runs = annotations.marked(sessions.runs(here.con, here.window), notes)
    if runs.is_empty():
        raise NothingToDrawError(f"no session ran in {here.window.span()}")
    return fleet.timeline(runs, here.window)


def nodes_in_use(here: Lab) -> "alt.TopLevelMixin":
    """Nodes in gangs, in other sessions, and usable ones over time, with what a gang needs."""
    from gangline.charts import fleet

    steps, short = capacity.steps(here.con, here.window), capacity.short(here.con, here.window)
    return fleet.capacity(steps, short, sessions.gang_rule(here.con).usual_nodes, here.window)


def excluded_nodes(here: Lab) -> "alt.TopLevelMixin":
    """Hours in which gangs ran without each node, held by a single-node session or not."""
    from gangline.charts import exclusions as charts

    nodes = exclusions.by_node(here.con, here.window)
    if nodes.is_empty():
        raise NothingToDrawError(f"no gang session starts in {here.window.span()}")
    return charts.by_node(charts.foremost(nodes))


def fleet_band(here: Lab, role: str = "gpu_util") -> "alt.TopLevelMixin":
    """A role's band over all nodes (5th to 95th percentile, median) with the lab's nodes over it.

    Raises
    ------
    NothingToDrawError
        Where the role has no samples in the window, or a node of the lab has none.
    """
    from gangline.charts import telemetry as charts

    shown = _course(here, role)
    drawn = telemetry.chosen(shown, _host_list(here))
    return charts.band(shown, telemetry.band(shown), telemetry.lines(shown, drawn))


def node_heat(here: Lab, role: str = "gpu_util") -> "alt.TopLevelMixin":
    """A role by node and time, a cell a step."""
    from gangline.charts import telemetry as charts

    shown = _course(here, role)
    return charts.heat(shown, telemetry.cells(shown))


def node_layers(here: Lab, role: str = "gpu_util") -> "alt.TopLevelMixin":
    """The first of the lab's nodes (else the one furthest from the fleet) across its layers."""
    from gangline.charts import telemetry as charts

    shown = _course(here, role)
    node = telemetry.shown_node(shown, telemetry.chosen(shown, _host_list(here)))
    return charts.layers(shown, telemetry.layers(here.con, here.config, here.window, node))


def _course(here: Lab, role: str) -> Course:
    found = course(here.con, here.config, here.window, role)
    if found is None or not found.nodes:
        raise NothingToDrawError(f"no samples of {role} in {here.window.span()}")
    return found


def _host_list(here: Lab) -> str:
    return fold(here.nodes) if here.nodes else ""
