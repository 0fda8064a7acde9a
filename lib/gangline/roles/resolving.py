"""Which of a role's metrics the warehouse holds, and its series."""

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, replace

import duckdb
import polars as pl

from gangline.config.lines import key_lines, line_of
from gangline.config.model import Config, Role
from gangline.roles.definitions import ROLES, RoleDefinition, RoleKind, RoleSource
from gangline.warehouse.querying import query

_SERIES = """
select series_id, node, gpu_index, gpu_uuid, labels::varchar as labels, first_at, last_at, step_s, is_gridded
from marts.series
where metric = $metric
order by node, gpu_index, series_id
"""


class RoleError(ValueError):
    """A role that does not exist: its name, and the nearest one."""


@dataclass(frozen=True)
class ResolvedRole:
    """A role and what plays it.

    Attributes
    ----------
    kind, unit
        Of the role in this warehouse: a storage role may be played by a level in bytes/s.
    series
        One row a series: series_id, node, gpu_index, gpu_uuid, labels (JSON), first_at, last_at, step_s. Samples where
        there are any, else the points of a query's grid.
    """

    role: str
    kind: RoleKind
    unit: str
    source: RoleSource
    is_gridded: bool
    series: pl.DataFrame

    def __str__(self) -> str:
        """Which metric it is, as a page says it."""
        labels = ", ".join(f'{name}="{value}"' for name, value in self.source.labels)
        return f"{self.source.metric}{{{labels}}}" if labels else self.source.metric


def check_names(config: Config) -> None:
    """Whether the config's `[roles]` are roles.

    Raises
    ------
    RoleError
        At the first that is none: file, line, and the nearest role.
    """
    for role in config.roles:
        try:
            _definition(role)
        except RoleError as error:
            line = line_of(("roles", role, "metric"), key_lines(config.path.read_text("utf-8")))
            raise RoleError(f"{config.path}:{line or 1}: [roles] {error}") from None


def resolve(
    con: duckdb.DuckDBPyConnection, role: str, configured: Mapping[str, Role] | None = None
) -> ResolvedRole | None:
    """The first of a role's sources that has series; null where none has.

    Parameters
    ----------
    con
        A connection to a warehouse.
    role
        Its name, see docs/roles.md.
    configured
        The config's `[roles]`, which go before the sources known here.

    Raises
    ------
    RoleError
        Where there is no such role.
    """
    definition = _definition(role)
    for source in sources_of(role, configured or {}):
        series = _series(con, source)
        if not series.is_empty():
            is_gridded = bool(series["is_gridded"].all())
            chosen = series.filter(pl.col("is_gridded") == is_gridded).drop("is_gridded")
            kind = source.kind or definition.kind
            unit = f"{definition.unit}/s" if kind != definition.kind else definition.unit
            return ResolvedRole(role, kind, unit, source, is_gridded, chosen)
    return None


def present_roles(
    con: duckdb.DuckDBPyConnection, configured: Mapping[str, Role] | None = None
) -> dict[str, ResolvedRole]:
    """Every role that something plays."""
    found = {role: resolve(con, role, configured) for role in ROLES}
    return {role: resolved for role, resolved in found.items() if resolved is not None}


def sources_of(role: str, configured: Mapping[str, Role]) -> tuple[RoleSource, ...]:
    """A role's sources: the config's alone where it names one, in the unit that is known of its metric."""
    definition = _definition(role)
    chosen = configured.get(role)
    if chosen is None:
        return definition.sources
    labels = tuple(sorted(chosen.labels.items()))
    same = [source for source in definition.sources if source.metric == chosen.metric]
    return (replace(same[0], labels=labels) if same else RoleSource("config", chosen.metric, labels),)


def _definition(role: str) -> RoleDefinition:
    if role not in ROLES:
        near = difflib.get_close_matches(role, ROLES, 1)
        raise RoleError(f"{role} is no role{f'; did you mean {near[0]}?' if near else ''} (docs/roles.md lists them)")
    return ROLES[role]


def _series(con: duckdb.DuckDBPyConnection, source: RoleSource) -> pl.DataFrame:
    series = query(con, _SERIES, metric=source.metric)
    for name, value in source.labels:
        series = series.filter(_label(series, name) == value)
    for name, value in source.without:
        series = series.filter(_label(series, name) != value)
    return series


def _label(series: pl.DataFrame, name: str) -> pl.Series:
    """A label of every series; empty where it is missing, as Prometheus has it."""
    decoded = series["labels"].str.json_decode(pl.Struct({name: pl.String}))
    return decoded.struct.field(name).fill_null("")
