"""What telemetry is measured against: chdb (ClickHouse in the process), where the extra `bench` has installed it.

Arrays of a step's values are taken to be ClickHouse's own way: joins of the medians take twice as long.
"""

import shutil
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

HAS_CHDB = find_spec("chdb") is not None
_TWO_THREADS = "settings max_threads = 2, max_insert_threads = 2"
_TABLE = """
create table bench.samples (metric LowCardinality(String), series UInt64, time_ms Int64, value Float64)
engine = MergeTree order by (metric, time_ms)
"""
_READ = """
insert into bench.samples
select metric['__name__'], cityHash64(toString(metric)), time_ms, value
from (
    select metric, time_ms, value
    from file('{path}', 'JSONEachRow',
        'metric Map(String, String), "values" Array(Float64), timestamps Array(Int64)')
    array join "values" as value, timestamps as time_ms
)
"""
_PEER_Z = """
with
steps as (
    select groupArray(series) as ids, groupArray(value) as numbers
    from bench.samples where metric = '{metric}' group by intDiv(time_ms, 30000)
),
middles as (
    select ids, arrayReduce('quantileExactInclusive(0.5)', numbers) as middle,
        arrayMap(number -> abs(number - middle), numbers) as distances,
        1.4826 * arrayReduce('quantileExactInclusive(0.5)', distances) as mad
    from steps
)
select sum(z) as total, max(z) as most
from middles array join ids as series, arrayMap(distance -> distance / mad, distances) as z
where mad > 0 group by series order by total
"""


def read_with_chdb(path: Path, folder: Path) -> int:
    """A long table of the samples, ordered by metric and time, by two threads; gives how many."""
    from chdb.session import Session

    shutil.rmtree(folder, ignore_errors=True)
    with Session(str(folder)) as session:
        session.query("create database bench")
        session.query(_TABLE)
        session.query(_READ.format(path=path) + _TWO_THREADS)
        return int(str(session.query("select count() from bench.samples")))


def peer_z_with_chdb(folder: Path) -> NDArray[np.float64]:
    """Sum and maximum of each series' absolute peer z, metric by metric, from the long table."""
    from chdb.session import Session

    with Session(str(folder)) as session:
        metrics = str(session.query("select distinct metric from bench.samples order by metric", "TSV")).split()
        rows = [str(session.query(_PEER_Z.format(metric=metric) + _TWO_THREADS, "TSV")) for metric in metrics]
    return np.array("".join(rows).split(), float).reshape(-1, 2)
