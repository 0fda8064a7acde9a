"""Nodes to act on: which to drain, to watch, to return, each with its evidence."""

from datetime import timedelta

import duckdb
import polars as pl

from gangline.warehouse.querying import query
from gangline.windows import Window

DRAIN, WATCH, RETURN = "drain", "watch", "return"
LOOK_BACK = timedelta(days=28)
QUIET = timedelta(days=14)
ENDS_TO_DRAIN = 2
OFTEN_LEFT_OUT = 0.2
RULES = {
    RETURN: f"left out by the latest gang that ran in the window, or down or drained at its end, with no sign of a"
    f" fault for {QUIET.days} days",
    DRAIN: f"an incident of the last {LOOK_BACK.days} days calls for the node to leave and it was kept, or it is open,"
    f" or at least {ENDS_TO_DRAIN} abnormal ends of that time are put down to the node",
    WATCH: f"an incident or XID in those days, or at least {OFTEN_LEFT_OUT:.0%} of the window's gangs left it out",
}
"""What puts a node on the list; the first that fits."""
RULED = " ".join(f"**{advice.capitalize()}**: {rule}." for advice, rule in RULES.items())
"""The rules as a sentence for a page."""


def watch_list(con: duckdb.DuckDBPyConnection, window: Window) -> pl.DataFrame:
    """Nodes to act on at a window's end, most urgent first: node, advice, reason, incidents, ends, excluded_ratio.

    Evidence is of the 28 days up to the window's end, however short the window; nothing later is used.
    """
    signs = query(
        con, _SIGNS, start=window.start, end=window.end, since=window.end - LOOK_BACK, quiet=window.end - QUIET
    )
    judged = signs.with_columns(_advice().alias("advice"), _reason().alias("reason"))
    order = pl.col("advice").replace_strict({DRAIN: 0, WATCH: 1, RETURN: 2}, default=3)
    listed = judged.drop_nulls("advice").sort(order, "ends", "incidents", "node", descending=[False, True, True, False])
    return listed.select("node", "advice", "reason", "incidents", "ends", "excluded_ratio")


def sentence(listed: pl.DataFrame) -> str:
    """The list in a sentence."""
    counts = dict(listed.group_by("advice").len().iter_rows())
    said = [f"{counts[advice]} to {advice}" for advice in (DRAIN, WATCH, RETURN) if advice in counts]
    return f"Nodes: {', '.join(said)}." if said else "No node needs a decision."


def _advice() -> pl.Expr:
    drain = (pl.col("not_taken") > 0) | (pl.col("open_incidents") > 0) | (pl.col("ends") >= ENDS_TO_DRAIN)
    watch = (pl.col("incidents") > 0) | (pl.col("excluded_ratio") >= OFTEN_LEFT_OUT)
    back = pl.col("is_out") & pl.col("last_sign_at").is_null()
    return pl.when(back).then(pl.lit(RETURN)).when(drain).then(pl.lit(DRAIN)).when(watch).then(pl.lit(WATCH))


def _reason() -> pl.Expr:
    said = [
        _counted("not_taken", "incident whose action was not taken", "incidents whose action was not taken"),
        _counted("open_incidents", "incident still open", "incidents still open"),
        _counted("ends", "abnormal end put down to it", "abnormal ends put down to it"),
        pl.when(pl.col("kinds").is_not_null()).then(pl.col("kinds")),
        pl.when(pl.col("excluded_ratio") > 0).then(
            pl.format("left out by {} % of gangs", (pl.col("excluded_ratio") * 100).round(0).cast(pl.Int64))
        ),
        pl.when(pl.col("is_out")).then(pl.concat_str(pl.lit("out now: "), pl.col("out_reason"))),
        pl.when(pl.col("last_sign_at").is_null()).then(pl.lit(f"no sign of a fault for {QUIET.days} days")),
    ]
    return pl.concat_str(said, separator="; ", ignore_nulls=True)


def _counted(column: str, one: str, many: str) -> pl.Expr:
    words = pl.when(pl.col(column) == 1).then(pl.lit(one)).otherwise(pl.lit(many))
    return pl.when(pl.col(column) > 0).then(pl.format("{} {}", pl.col(column), words))


_SIGNS = """
with found as (
    select incidents.*, coalesce(attempts.started_at < $end, true) as is_answered
    from marts.incidents as incidents
    left join marts.sessions as attempts on attempts.session_id = incidents.next_session_id
    where incidents.started_at >= $since and incidents.started_at < $end
),
filed as (
    select node, kind, ended_at is null or ended_at >= $end as is_open,
        least(coalesce(ended_at, $end), $end) as last_at
    from marts.node_incidents where started_at < $end and (ended_at is null or ended_at >= $since)
),
by_found as (
    select node, count(*) as incidents,
        count(*) filter (where action_taken = 'not taken' and keep_node is false and is_answered) as not_taken,
        count(distinct session_id) as ends, max(ended_at) as last_at,
        string_agg(distinct kind, ', ' order by kind) as kinds
    from found group by node
),
by_filed as (
    select node, count(*) as incidents, count(*) filter (where is_open) as open_incidents, max(last_at) as last_at,
        string_agg(distinct kind, ', ' order by kind) as kinds
    from filed group by node
),
left_out as (select node, excluded_ratio, excluded_sessions from marts.node_exclusions($start, $end)),
latest as (
    select session_id, started_at from marts.sessions
    where is_gang and started_at < $end and until_at > $start
    order by started_at desc, session_id limit 1
),
out_of_gang as (
    select nodes.node from marts.gang_exclusions('-infinity', $end) as nodes semi join latest using (session_id)
    where nodes.state <> 'other_gang'
),
out_by_state as (
    select node, string_agg(distinct said, ', ' order by said) as reason
    from (select *, concat_ws(': ', state_kind, reason) as said from marts.node_states)
    where state_kind in ('down', 'drained') and started_at < $end and (ended_at is null or ended_at >= $end)
    group by node
)
select
    nodes.node,
    coalesce(by_found.incidents, 0) + coalesce(by_filed.incidents, 0) as incidents,
    coalesce(by_found.not_taken, 0) as not_taken,
    coalesce(by_found.ends, 0) as ends,
    coalesce(by_filed.open_incidents, 0) as open_incidents,
    nullif(concat_ws(', ', by_found.kinds, by_filed.kinds), '') as kinds,
    coalesce(left_out.excluded_ratio, 0) as excluded_ratio,
    out_of_gang.node is not null or out_by_state.node is not null as is_out,
    coalesce(out_by_state.reason, 'left out by the latest gang') as out_reason,
    case when greatest(by_found.last_at, by_filed.last_at) >= $quiet or coalesce(by_filed.open_incidents, 0) > 0
        then greatest(by_found.last_at, by_filed.last_at) end as last_sign_at
from marts.nodes as nodes
left join by_found using (node)
left join by_filed using (node)
left join left_out using (node)
left join out_of_gang using (node)
left join out_by_state using (node)
where nodes.is_named
order by nodes.node
"""
