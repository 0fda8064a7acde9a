-- A row: one node of one save or load, and the time around it that its requests, memory and bytes are looked up in. The
-- time around ends half-way to the save or load before or after, so that nothing is counted for two.
with saves as (select * from marts.checkpoint_saves),
loads as (select * from marts.checkpoint_loads),
session_nodes as (select * from marts.session_nodes),
settings as (select * from meta.settings),

bursts as (
    select 'save' as phase, save_id as checkpoint_id, session_id, started_at, ended_at, started_at as opened_at
    from saves
    union all
    select 'load', load_id, session_id, started_at, ended_at, least(session_started_at, started_at)
    from loads
),

neighbours as (
    select
        *,
        lag(ended_at) over (partition by session_id, phase order by started_at, checkpoint_id) as before_at,
        lead(opened_at) over (partition by session_id, phase order by started_at, checkpoint_id) as after_at
    from bursts
),

windows as (
    select
        phase,
        checkpoint_id,
        session_id,
        started_at,
        ended_at,
        greatest(
            make_timestamptz(epoch_us(opened_at) - (checkpoints_around_min * 60000000)::bigint),
            make_timestamptz(epoch_us(before_at) + (epoch_us(opened_at) - epoch_us(before_at)) // 2)
        ) as from_at,
        least(
            make_timestamptz(epoch_us(ended_at) + (checkpoints_around_min * 60000000)::bigint),
            make_timestamptz(epoch_us(ended_at) + (epoch_us(after_at) - epoch_us(ended_at)) // 2)
        ) as until_at
    from neighbours
    cross join settings
),

final as (
    select
        windows.phase,
        windows.checkpoint_id,
        session_nodes.node,
        windows.started_at,
        windows.ended_at,
        windows.from_at,
        windows.until_at
    from windows
    join session_nodes using (session_id)
    where session_nodes.started_at < windows.ended_at and session_nodes.until_at > windows.started_at
)

select * from final
