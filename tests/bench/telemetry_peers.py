"""What telemetry is measured against: a parser that only parses, DuckDB's JSON reader, DuckDB's own peer z."""

from multiprocessing import get_context
from pathlib import Path

import duckdb
import numpy as np
from numpy.typing import NDArray

_READ = """
create or replace table samples as
select metric ->> '__name__' as metric, hash(metric) as series, unnest(timestamps) as time_ms, unnest("values") as value
from read_json({path}, format = 'newline_delimited', maximum_object_size = 33554432,
    columns = {{metric: 'JSON', "values": 'DOUBLE[]', timestamps: 'BIGINT[]'}})
{order}
"""
_PEER_Z = """
with stepped as (select series, time_ms // 30000 as step, value from samples where metric = ?),
middles as (select step, median(value) as middle from stepped group by step),
distances as (select series, step, value - middle as distance from stepped join middles using (step)),
mads as (select step, median(abs(distance)) as mad from distances group by step),
scored as (select series, distance / (1.4826 * mad) as z from distances join mads using (step) where mad > 0)
select sum(abs(z)), max(abs(z)) from scored group by series order by 1
"""


def parse_in_two_processes(path: Path) -> None:
    """simdjson over every line, odd and even lines in a process each; nothing is kept."""
    context = get_context("fork")
    workers = [context.Process(target=_parse, args=(path, part)) for part in (0, 1)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


def _parse(path: Path, part: int) -> None:
    import simdjson

    parser = simdjson.Parser()
    with path.open("rb") as lines:
        for number, line in enumerate(lines):
            if number % 2 == part:
                parser.parse(line)


def read_with_duckdb(path: Path, database: Path, order: str = "") -> int:
    """A long table of the samples, by two threads; gives how many."""
    with duckdb.connect(database, config={"threads": 2}) as con:
        con.execute("set enable_progress_bar = false")
        con.execute(_READ.format(path=f"'{path}'", order=order))
        return int(con.execute("select count(*) from samples").fetchall()[0][0])


def peer_z_with_duckdb(database: Path) -> NDArray[np.float64]:
    """Sum and maximum of each series' absolute peer z, metric by metric, from the long table."""
    with duckdb.connect(database, read_only=True, config={"threads": 2}) as con:
        con.execute("set enable_progress_bar = false")
        metrics = [name for (name,) in con.execute("select distinct metric from samples order by 1").fetchall()]
        return np.concatenate([np.array(con.execute(_PEER_Z, [name]).fetchall(), float) for name in metrics])
