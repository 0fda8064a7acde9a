-- A row: the first load of one gang session that lasted long enough for it to be measured.
with loads as (select * from meta.checkpoint_loads),
measured as (select * from intermediate.int_checkpoint_sessions_measured),
keys as (select session_key, session_id from intermediate.int_sessions_keyed),
sessions as (select * from marts.sessions),
processes as (select * from marts.run_processes),
settings as (select * from meta.settings),

first_steps as (
    select
        session_id,
        -- where it resumed from is known, its own first step is the one after it; else the first that it logged
        min(case when starting_step is not null then training_from else first_step_at end) as first_step_at
    from processes
    where session_id is not null and not coalesce(is_sampled, false)
    group by session_id
),

in_order as (
    select
        *,
        row_number() over (partition by session_key order by started_at) as load_number,
        count(*) over (partition by session_key) as load_stretches,
        sum(bytes) over (partition by session_key) as all_load_bytes,
        sum(epoch_us(ended_at) - epoch_us(started_at)) over (partition by session_key) / 1e6 as all_load_s
    from loads
),

joined as (
    select
        loads.*,
        keys.session_id,
        sessions.lineage_id,
        sessions.started_at as session_started_at,
        sessions.training_from,
        first_steps.first_step_at,
        (epoch_us(loads.ended_at) - epoch_us(loads.started_at)) / 1e6 as lasted_s,
        case
            when loads.step_s > 60
                then printf('a scrape step of %g s is over 60 s: too coarse to measure it', loads.step_s)
        end as reason
    from in_order as loads
    semi join measured using (session_key)
    join keys using (session_key)
    join sessions using (session_id)
    left join first_steps using (session_id)
    cross join settings
    where
        loads.load_number = 1
        and epoch_us(sessions.until_at) - epoch_us(sessions.started_at) >= settings.checkpoints_load_min_session_min * 6e7
),

final as (
    select
        'load:' || session_id as load_id,
        session_id,
        lineage_id,
        started_at,
        ended_at,
        if(reason is null, lasted_s, null) as duration_s,
        bytes,
        mean_bytes_per_s,
        peak_bytes_per_s,
        node_count,
        session_started_at,
        first_step_at,
        (epoch_us(started_at) - epoch_us(session_started_at)) / 1e6 as start_to_load_s,
        (epoch_us(first_step_at) - epoch_us(ended_at)) / 1e6 as load_to_step_s,
        reporting_nodes,
        known_s,
        training_from,
        load_stretches,
        all_load_s,
        all_load_bytes,
        step_s,
        reason,
        case
            when first_step_at is null then 'no run of the session logged a step'
        end as first_step_reason
    from joined
)

select * from final
