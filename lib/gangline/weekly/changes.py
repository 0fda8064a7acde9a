"""What is otherwise than in the window before: nodes newly held or released, new kinds of fault, long, slow things."""

import duckdb
import polars as pl

from gangline.warehouse.querying import query
from gangline.windows import Window

LEFT_OUT_RATIO = 0.5
SLOW_FACTOR = 1.5
SAVES_TO_COMPARE = 5


def changes(con: duckdb.DuckDBPyConnection, window: Window) -> pl.DataFrame:
    """A row a change: change, subject, reason; in the order of importance within the window.

    - nodes that at least half of this window's gangs left out, and fewer than half of those before (and the reverse);
    - kinds of incident that the export never had before the window;
    - the longest downtime that began in the window;
    - saves longer than 1.5 times the median of their stage over the eight windows before (at least five saves).
    """
    before = window.previous()
    if before is None:
        return pl.DataFrame(schema=_SCHEMA)
    values = {"start": window.start, "end": window.end, "before": before.start, "long_before": _long_before(window)}
    thresholds = {"often": LEFT_OUT_RATIO, "slow": SLOW_FACTOR, "least": SAVES_TO_COMPARE}
    parts = [query(con, sql, **values, **thresholds) for sql in (_HELD, _KINDS, _DOWNTIME, _SAVES)]
    return pl.concat([part.cast(_SCHEMA) for part in parts])  # type: ignore[arg-type]


_SCHEMA = {"change": pl.String, "subject": pl.String, "reason": pl.String}


def _long_before(window: Window) -> object:
    return window.before(8)[-1].start


_HELD = """
    with now as (select * from marts.node_exclusions($start, $end) where gang_sessions > 0),
    earlier as (select * from marts.node_exclusions($before, $start) where gang_sessions > 0),
    both_windows as (
        select node, now.excluded_ratio as ratio, earlier.excluded_ratio as ratio_before, now.held_h, now.excluded_h,
            now.excluded_ratio >= $often as is_out
        from now join earlier using (node)
        where (now.excluded_ratio >= $often) <> (earlier.excluded_ratio >= $often)
    )
    select if(is_out, 'newly left out', 'taken again') as change, node as subject,
        format('left out by {:.0f} % of gangs, before by {:.0f} %; {:.1f} of {:.1f} h held', 100 * ratio,
            100 * ratio_before, held_h, excluded_h) as reason
    from both_windows order by is_out desc, ratio desc, node
"""
_KINDS = """
    with kinds as (
        select kind, started_at, node from marts.incidents
        union all select kind, started_at, node from marts.node_incidents
    )
    select 'new kind of fault' as change, kind as subject,
        format('{} in the window, first on {}', count(*), arg_min(node, started_at)) as reason
    from kinds where started_at < $end and kind is not null
    group by kind having min(started_at) >= $start
    order by min(started_at), kind
"""
_DOWNTIME = """
    with lengths as (
        select *, coalesce(downtime_h, to_session_h, observed_h) as hours from marts.downtimes_within($start, $end)
    )
    select 'longest downtime' as change, failed_session_id as subject,
        format('{:.1f} h from {} UTC, {}', hours, strftime(started_at, '%Y-%m-%d %H:%M'),
            coalesce('restored: ' || recovery_kind, 'not restored yet')) as reason
    from lengths order by hours desc, downtime_id limit 1
"""
_SAVES = """
    with usual as (
        select stage, median(duration_s) as duration_s, count(*) as saves from marts.checkpoint_saves
        where started_at >= $long_before and started_at < $start and duration_s is not null group by stage
    ),
    slow as (
        select saves.stage, saves.duration_s, saves.started_at, saves.save_id, usual.duration_s as usual_s,
            count(*) over () as slow_saves
        from marts.checkpoint_saves as saves
        join usual on usual.stage is not distinct from saves.stage
        where saves.started_at >= $start and saves.started_at < $end
            and usual.saves >= $least and saves.duration_s > $slow * usual.duration_s
    )
    select 'slow saves' as change, save_id as subject,
        format('{} of them; the slowest took {:.0f} s, usual {:.0f} s', slow_saves, duration_s, usual_s) as reason
    from slow order by duration_s desc, save_id limit 1
"""
