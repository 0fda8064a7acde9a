"""How loads go: what is read against what memory keeps, how small requests are, and how long the last bytes take."""

import duckdb
import polars as pl

from gangline.estimates import Estimate
from gangline.estimates.quantiles import median
from gangline.warehouse.querying import query
from gangline.windows import Window

SMALL_READ_KB = 128.0  # an eighth of the usual largest request of 1 MiB: read in pieces, not in a row


def loads(con: duckdb.DuckDBPyConnection, window: Window) -> pl.DataFrame:
    """A row a load that begins in the window, slowest tail first.

    Returns
    -------
    DataFrame
        load_id, session_id, started_at, load_min, node_count, peak_gb_per_s, read_kb (per READ), received_gb (per node,
        from before the session's start), cache_gb (growth of the page cache per node), reread_times (received over
        growth), half_min, tail_share (share of the time in which the last tenth of the bytes came), median_node_min and
        last_node_min (until a node had nineteen twentieths of its bytes). Null where not exported.
    """
    return query(con, _LOADS, start=window.start, end=window.end)


def curves(con: duckdb.DuckDBPyConnection, window: Window) -> pl.DataFrame:
    """How the bytes of each load came in: load_id, minute (since it began), share_ratio (of its bytes)."""
    return query(con, _CURVES, start=window.start, end=window.end)


def figures(loads: pl.DataFrame, reason: str | None) -> dict[str, Estimate]:
    """`nfs.load_tail_share`: median over loads; takes `loads`. Even reading gives 10 %."""
    tails = loads["tail_share"].drop_nulls().to_list()
    if not tails:
        return {"nfs.load_tail_share": Estimate.missing("ratio", reason or "no load is read over NFS", n=0)}
    return {"nfs.load_tail_share": median(tails, "ratio")}


def smallest_reads(loads: pl.DataFrame) -> pl.DataFrame:
    """Loads that read in small pieces (under 128 KB a request in the mean), smallest first."""
    return loads.filter(pl.col("read_kb") < SMALL_READ_KB).sort("read_kb", "load_id")


_CHOSEN = """
    chosen as (
        select * from marts.checkpoint_loads where started_at >= $start and started_at < $end
    ),
    courses as (
        select checkpoint_id as load_id, lag_s, total, is_known,
            lead(lag_s) over (partition by checkpoint_id order by lag_s) - lag_s as gap_s
        from marts.checkpoint_courses
        where phase = 'load' and role = 'nfs_read_bytes'
    ),
    shares as (
        select load_id, lag_s, (epoch_us(chosen.ended_at) - epoch_us(chosen.started_at)) / 1e6 as load_s,
            least(lag_s + min(gap_s) over (partition by load_id), load_s) as end_s,
            sum(total) over (partition by load_id order by lag_s) / nullif(sum(total) over (partition by load_id), 0)
                as share_ratio
        from courses
        join chosen using (load_id)
        where is_known and lag_s >= 0 and lag_s < load_s and total >= 0
    ),
    steps as (
        select *, coalesce(lag(share_ratio) over (partition by load_id order by lag_s), 0) as before_ratio from shares
    )"""

_CURVES = f"""
with {_CHOSEN}
select load_id, 0.0 as minute, 0.0 as share_ratio from chosen semi join steps using (load_id)
union all
select load_id, end_s / 60, share_ratio from steps
where share_ratio is not null
order by load_id, minute
"""  # noqa: S608 - the text is this module's own

_LOADS = f"""
with {_CHOSEN},
reached as (
    -- within the step that passes it, bytes come evenly
    select load_id,
        min(lag_s + (end_s - lag_s) * (0.5 - before_ratio) / (share_ratio - before_ratio))
            filter (where share_ratio >= 0.5 and before_ratio < 0.5) as half_s,
        min(lag_s + (end_s - lag_s) * (0.9 - before_ratio) / (share_ratio - before_ratio))
            filter (where share_ratio >= 0.9 and before_ratio < 0.9) as most_s
    from steps
    group by load_id
),
reads as (
    select checkpoint_id as load_id, sum(received_bytes) / nullif(sum(requests), 0) / 1000 as read_kb
    from marts.checkpoint_requests
    where phase = 'load' and operation = 'READ' and coverage_ratio >= 0.9
    group by checkpoint_id
),
nodes as (
    select checkpoint_id as load_id, avg(around) filter (where role = 'nfs_read_bytes') / 1e9 as received_gb,
        avg(last_level - first_level) filter (where role = 'page_cache') / 1e9 as cache_gb,
        median(mostly_s) filter (where role = 'nfs_read_bytes') / 60 as median_node_min,
        max(mostly_s) filter (where role = 'nfs_read_bytes') / 60 as last_node_min
    from marts.checkpoint_nodes
    where phase = 'load'
    group by checkpoint_id
)
select load_id, session_id, started_at, (epoch_us(ended_at) - epoch_us(started_at)) / 6e7 as load_min, node_count,
    peak_bytes_per_s / 1e9 as peak_gb_per_s, read_kb, received_gb, cache_gb,
    if(cache_gb > 0, received_gb / cache_gb, null) as reread_times, half_s / 60 as half_min,
    1 - most_s / ((epoch_us(ended_at) - epoch_us(started_at)) / 1e6) as tail_share, median_node_min, last_node_min
from chosen
left join reached using (load_id)
left join reads using (load_id)
left join nodes using (load_id)
order by tail_share desc nulls last, started_at, load_id
"""  # noqa: S608
