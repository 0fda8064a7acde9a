"""Changes of the XID gauge, read from the store day by day.

The gauge holds its last code until another comes, or the driver is reset to 0: a change to a code other than 0 is an
event, the same code again is not to be seen, and a code that a series begins with came at an unknown time before. So
what is found is a lower bound. Memory holds one row group of one day, and each series' latest sample.
"""

from collections.abc import Iterator
from datetime import datetime

import duckdb
import numpy as np
import polars as pl

from gangline.config.model import Config
from gangline.ingest.xid_counts import counted_edges
from gangline.ingest.xid_samples import Edge, numbers_of
from gangline.roles.resolving import ResolvedRole, resolve
from gangline.sources.samples import TimesMs, Values, instant_of_ms
from gangline.store.layout import DAY_MS
from gangline.store.reading import SampleStore, ms_of
from gangline.warehouse.opening import samples_of

_SCHEMA: dict[str, pl.DataType | type[pl.DataType]] = {
    "series_id": pl.Int64,
    "seen_at": pl.Datetime("us", "UTC"),
    "previous_at": pl.Datetime("us", "UTC"),
    "code": pl.Int64,
}


class Gauges:
    """The latest sample of each gauge, and what changed since.

    >>> gauges = Gauges()
    >>> times = np.array([0, 1000, 2000, 3000])
    >>> [(place.second, code) for _, place, _, code in gauges.take(7, times, np.array([0.0, 79.0, 79.0, 0.0]))]
    [(1, 79)]
    >>> [(place.second, code) for _, place, _, code in gauges.take(7, times + 4000, np.array([0.0, 0.0, 0.0, 79.0]))]
    [(7, 79)]
    """

    def __init__(self) -> None:
        self._latest: dict[int, tuple[int, float]] = {}

    def take(self, series_id: int, times_ms: TimesMs, values: Values) -> Iterator[Edge]:
        """Goes on with the samples that follow, which are numbers in order of time."""
        if values.size == 0:
            return
        earlier = self._latest.get(series_id)
        self._latest[series_id] = int(times_ms[-1]), float(values[-1])
        before = np.nan if earlier is None else earlier[1]
        is_change = (np.diff(values, prepend=before) != 0) & (values != 0)
        for place in np.flatnonzero(is_change).tolist():
            previous_ms = int(times_ms[place - 1]) if place else None if earlier is None else earlier[0]
            previous_at = None if previous_ms is None else instant_of_ms(previous_ms)
            yield series_id, instant_of_ms(int(times_ms[place])), previous_at, round(float(values[place]))


def fill_xid_edges(con: duckdb.DuckDBPyConnection, config: Config) -> None:
    """Fills `meta.xid_edges`: a row for each change of an XID gauge to a code, and each rise of an exporter's count.

    And `meta.xid_series` with the series that were looked through: those that play the roles, changes or none.
    """
    con.execute("delete from meta.xid_edges")
    con.execute("delete from meta.xid_series")
    found: list[Edge] = []
    for role, edges_of in (("xid", _edges), ("xid_count", counted_edges)):
        resolved = resolve(con, role, config.roles)
        if resolved is not None:
            con.execute(
                "insert into meta.xid_series select unnest($ids)", {"ids": resolved.series["series_id"].to_list()}
            )
            found += edges_of(samples_of(con, config), resolved)
    if found:
        con.register("xid_edges_found", pl.DataFrame(found, schema=_SCHEMA, orient="row"))
        con.execute("insert into meta.xid_edges by name select * from xid_edges_found")
        con.unregister("xid_edges_found")


def _edges(store: SampleStore, role: ResolvedRole) -> Iterator[Edge]:
    """Days are settled when a build begins, so each series has one row a day."""
    stored, wanted, gauges = store.of_metric(role.source.metric), frozenset(role.series["series_id"]), Gauges()
    first, last = role.series["first_at"].min(), role.series["last_at"].max()
    if not isinstance(first, datetime) or not isinstance(last, datetime):
        return
    for day in stored.between(ms_of(first), ms_of(last) + DAY_MS):
        for row in stored.rows(day):
            if row.series_id in wanted:
                yield from gauges.take(row.series_id, *numbers_of(row))
