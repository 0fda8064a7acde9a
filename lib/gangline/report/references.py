"""What a notebook's parameters name in the warehouse: a save, a metric, a node, an end; asked before a page is made."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import duckdb

from gangline.config import Config
from gangline.hostlists import HostListError, expand
from gangline.report.parameters import ParameterError, nearest
from gangline.roles import resolve
from gangline.warehouse.querying import query
from gangline.windows import Window

Values = Mapping[str, Any]
Check = Callable[[duckdb.DuckDBPyConnection, Config, Window, Values], None]


def refuse_unknown(
    con: duckdb.DuckDBPyConnection, config: Config, window: Window, given: Mapping[Path, Mapping[str, object]]
) -> None:
    """Hold the parameters of each notebook to what the warehouse has, for a window.

    Parameters
    ----------
    given : mapping
        Notebooks with their parameters, as of `notebooks.parameters_for`.

    Raises
    ------
    ParameterError, SubjectError, RoleError
        For the first value that names nothing; one line with the nearest name, or with what there is.
    """
    for notebook, values in given.items():
        if values and (check := CHECKS.get(notebook.stem)):
            check(con, config, window, values)


def _runs(con: duckdb.DuckDBPyConnection, config: Config, window: Window, said: Values) -> None:
    """A metric may be missing in one window of several: it is wrong only where no run ever logged it."""
    from gangline.run_curves import every_metric

    known = every_metric(con)
    for name, metric in said.items():
        if metric:
            _held(name, metric, known, "no run logs")


def _telemetry(con: duckdb.DuckDBPyConnection, config: Config, window: Window, said: Values) -> None:
    role = said.get("role", "gpu_util")
    known, told = _nodes_of(con, config, window, role), f"no samples of {role} in {window.label} are of"
    for name in ("nodes", "layers_of"):
        for node in _expanded(name, said.get(name, "")):
            _held(name, node, known, told)


def _nodes_of(con: duckdb.DuckDBPyConnection, config: Config, window: Window, role: str) -> list[str]:
    """Nodes with samples of the role in the window; where it has none of any, all that have samples at all."""
    resolved = resolve(con, role, config.roles)
    if resolved is not None:
        series = resolved.series
        within = series.filter((series["first_at"] < window.end) & (series["last_at"] >= window.start))
        if within.height:
            return within["node"].drop_nulls().unique().to_list()
    return query(con, "select distinct node from marts.series where node is not null")["node"].to_list()


def _expanded(name: str, text: str) -> tuple[str, ...]:
    try:
        return expand(text)
    except HostListError as error:
        raise ParameterError(f"parameter {name}: {error}") from error


def _checkpoints(con: duckdb.DuckDBPyConnection, config: Config, window: Window, said: Values) -> None:
    from gangline.cadences import saves
    from gangline.save_lens import SaveError, chosen

    try:
        chosen(saves(con, window), said["save"])
    except SaveError as error:
        raise ParameterError(f"parameter save: {error}") from error


def _node_case(con: duckdb.DuckDBPyConnection, config: Config, window: Window, said: Values) -> None:
    from gangline.node_cases import node_case

    node_case(con, config, **said)


def _postmortem(con: duckdb.DuckDBPyConnection, config: Config, window: Window, said: Values) -> None:
    from gangline.postmortem import find

    if any(said.values()):
        find(con, config.cluster.time_zone, **said)


CHECKS: dict[str, Check] = {
    "02_runs": _runs,
    "03_telemetry": _telemetry,
    "06_checkpoints": _checkpoints,
    "09_node_cases": _node_case,
    "11_postmortem": _postmortem,
}
"""By notebook; the others have no parameter that names something."""


def _held(name: str, value: str, known: Iterable[str], told: str) -> None:
    names = set(known)
    if value not in names:
        raise ParameterError(f"parameter {name}: {told} {value!r}; {nearest(value, names)}")
