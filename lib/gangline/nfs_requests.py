"""NFS requests inside saves and loads: how long one takes, and where (analyses 7). Times are ratios of sums.

A save or load is *measured* where at least nine tenths of its nodes have samples of their requests throughout; only
these count, and of them only the nodes that have.
"""

import duckdb
import polars as pl

from gangline.warehouse.querying import query
from gangline.windows import Window

NODE_QUANTILE = 0.95
FEW_PER_S = 10.0  # node_exporter#2550: a mean of fewer is no measure of the storage
LEAST_TIME_SHARE, LEAST_REQUEST_SHARE = 0.01, 0.005  # what a picture has room for


def by_operation(con: duckdb.DuckDBPyConnection, window: Window) -> pl.DataFrame:
    """A row a phase and operation, over the measured saves and loads that begin in the window.

    Returns
    -------
    DataFrame
        phase, operation, operation_kind, requests, share_ratio (of the phase's requests), request_ms, queue_ms,
        response_ms, rest_ms, queue_share, kb (data of a READ or WRITE, else both ways), per_s (requests per second and
        node), in_flight (a node's mean requests on the wire: response time summed over seconds), nodes, is_few (under
        10 requests per second of all nodes: its times are those of few requests); most time first. Null where a
        counter is not exported.
    """
    return query(con, _BY_OPERATION, start=window.start, end=window.end, few=FEW_PER_S)


def weighty(operations: pl.DataFrame) -> pl.DataFrame:
    """Operations with at least 1 % of their phase's time or 0.5 % of its requests; takes `by_operation`."""
    time = pl.col("request_ms") * pl.col("requests")
    share = (time / time.sum().over("phase")).fill_null(0.0).fill_nan(0.0)
    return operations.filter((share >= LEAST_TIME_SHARE) | (pl.col("share_ratio") >= LEAST_REQUEST_SHARE))


def timed(operations: pl.DataFrame) -> pl.DataFrame:
    """Operations whose time is known; takes `by_operation`."""
    return operations.filter(pl.col("request_ms") > 0)


def waited(checkpoints: pl.DataFrame) -> pl.DataFrame:
    """Saves and loads of which waiting and answering are known; takes `by_checkpoint`."""
    return checkpoints.filter(pl.col("queue_ms").is_not_null() & (pl.col("response_ms") > 0))


def by_checkpoint(con: duckdb.DuckDBPyConnection, window: Window) -> pl.DataFrame:
    """A row a measured save or load: sums over its WRITE (a load: READ) requests, and over all.

    Returns
    -------
    DataFrame
        phase, checkpoint_id, session_id, started_at, node_count, covered_nodes, writer_nodes, requests, request_s,
        queue_s, response_s, bytes, node_s (seconds, summed over nodes), metadata_requests, all_requests, request_ms,
        queue_ms, response_ms, kb.
    """
    return query(con, _BY_CHECKPOINT, start=window.start, end=window.end)


def by_node(con: duckdb.DuckDBPyConnection, window: Window) -> pl.DataFrame:
    """A row a phase and node: mean time of its WRITE requests in saves, of its READ requests in loads.

    Returns
    -------
    DataFrame
        phase, node, requests, request_ms, queue_ms, response_ms, rest_ms, kb, checkpoints; slowest first.
    """
    return query(con, _BY_NODE, start=window.start, end=window.end)


def p95(nodes: pl.DataFrame) -> float | None:
    """The 95th percentile of the nodes' mean times (type 7); takes rows of `by_node`."""
    return nodes["request_ms"].quantile(NODE_QUANTILE, "linear")


def repeats(con: duckdb.DuckDBPyConnection, window: Window) -> pl.DataFrame:
    """A row a phase: requests, transmissions (null where not exported), sent_again, major_timeouts, backlog_mean.

    `backlog_mean` is the mean number of requests that waited in the transport when one was sent.
    """
    return query(con, _REPEATS, start=window.start, end=window.end)


def in_flight(requests_per_s: float, response_s: float) -> float:
    """Mean requests on the wire: their rate times how long each is (Little 1961, Operations Research 9:383).

    >>> round(in_flight(150.8e9 / 60 / 440e3, 0.024)), round(in_flight(40.1e9 / 60 / 1021e3, 0.136))
    (137, 89)
    """
    return requests_per_s * response_s


_CHOSEN = """
    chosen as (
        select 'save' as phase, save_id as checkpoint_id, session_id, started_at, writer_nodes, 'WRITE' as mover
        from marts.checkpoint_saves
        where started_at >= $start and started_at < $end
        union all
        select 'load', load_id, session_id, started_at, null, 'READ'
        from marts.checkpoint_loads
        where started_at >= $start and started_at < $end
    ),
    covered as (
        select requests.*, case operation when 'READ' then received_bytes when 'WRITE' then sent_bytes
            else sent_bytes + received_bytes end as bytes
        from marts.checkpoint_requests requests
        semi join chosen using (phase, checkpoint_id)
        where is_covered
    ),
    measured as (
        select phase, checkpoint_id, any_value(node_count) as node_count, count(distinct node) as covered_nodes
        from covered
        join intermediate.int_checkpoint_windows_measured using (phase, checkpoint_id)
        group by phase, checkpoint_id
        having count(distinct node) >= 0.9 * any_value(node_count) - 1e-9
    ),
    requests as (select * from covered semi join measured using (phase, checkpoint_id))"""

_BY_OPERATION = f"""
with {_CHOSEN},
seen as (
    select phase, sum(window_s) as node_s, sum(window_s / node_count) as phase_s
    from (
        select *, count(*) over (partition by phase, checkpoint_id) as node_count
        from (select distinct phase, checkpoint_id, node, window_s from requests)
    )
    group by phase
),
sums as (
    select phase, operation, any_value(operation_kind) as operation_kind, sum(requests) as requests,
        sum(request_s) as request_s, sum(queue_s) as queue_s, sum(response_s) as response_s, sum(bytes) as bytes,
        count(distinct node) as nodes
    from requests
    group by phase, operation
    having sum(requests) > 0
)
select phase, operation, operation_kind, requests, requests / sum(requests) over (partition by phase) as share_ratio,
    1000 * request_s / requests as request_ms, 1000 * queue_s / requests as queue_ms,
    1000 * response_s / requests as response_ms,
    1000 * (request_s - queue_s - response_s) / requests as rest_ms,
    queue_s / nullif(request_s, 0) as queue_share, bytes / requests / 1000 as kb, requests / node_s as per_s,
    response_s / node_s as in_flight, nodes, requests / phase_s < $few as is_few
from sums
join seen using (phase)
order by phase desc, request_s desc nulls last, requests desc, operation
"""  # noqa: S608 - the text is this module's own

_BY_CHECKPOINT = f"""
with {_CHOSEN},
sums as (
    select phase, checkpoint_id,
        sum(requests) filter (where operation = mover) as requests,
        sum(request_s) filter (where operation = mover) as request_s,
        sum(queue_s) filter (where operation = mover) as queue_s,
        sum(response_s) filter (where operation = mover) as response_s,
        sum(bytes) filter (where operation = mover) as bytes,
        sum(window_s) filter (where operation = mover) as node_s,
        coalesce(sum(requests) filter (where operation_kind = 'metadata'), 0) as metadata_requests,
        sum(requests) as all_requests
    from requests
    join chosen using (phase, checkpoint_id)
    group by phase, checkpoint_id
)
select phase, checkpoint_id, session_id, started_at, node_count, covered_nodes, writer_nodes, requests, request_s,
    queue_s, response_s, bytes, node_s, metadata_requests, all_requests,
    1000 * request_s / nullif(requests, 0) as request_ms, 1000 * queue_s / nullif(requests, 0) as queue_ms,
    1000 * response_s / nullif(requests, 0) as response_ms, bytes / nullif(requests, 0) / 1000 as kb
from chosen
join sums using (phase, checkpoint_id)
join measured using (phase, checkpoint_id)
order by started_at, checkpoint_id
"""  # noqa: S608

_BY_NODE = f"""
with {_CHOSEN}
select phase, node, sum(requests) as requests, 1000 * sum(request_s) / sum(requests) as request_ms,
    1000 * sum(queue_s) / sum(requests) as queue_ms, 1000 * sum(response_s) / sum(requests) as response_ms,
    1000 * sum(request_s - queue_s - response_s) / sum(requests) as rest_ms,
    sum(bytes) / sum(requests) / 1000 as kb, count(distinct checkpoint_id) as checkpoints
from requests
join chosen using (phase, checkpoint_id)
where operation = mover
group by phase, node
having sum(requests) > 0
order by phase desc, request_ms desc nulls last, node
"""  # noqa: S608

_REPEATS = f"""
with {_CHOSEN},
backlogs as (
    select phase, sum(inside) filter (where role = 'backlog') as backlog,
        sum(inside) filter (where role = 'nfs_sends') as sends
    from marts.checkpoint_nodes
    semi join chosen using (phase, checkpoint_id)
    where is_covered and role in ('backlog', 'nfs_sends')
    group by phase
),
sums as (
    select phase, sum(requests) as requests, sum(transmissions) as transmissions,
        sum(major_timeouts) as major_timeouts
    from requests
    group by phase
)
select phase, requests, transmissions, transmissions - requests as sent_again, major_timeouts,
    backlog / nullif(sends, 0) as backlog_mean
from sums
left join backlogs using (phase)
order by phase desc
"""  # noqa: S608
