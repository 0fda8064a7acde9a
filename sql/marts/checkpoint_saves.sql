-- A row: one save of a gang session, with what it cost.
with saves as (select * from intermediate.int_checkpoint_saves_merged),
timed as (select * from intermediate.int_checkpoint_saves_timed),
staged as (select * from intermediate.int_checkpoint_saves_staged),
sessions as (select * from marts.sessions),
keys as (select session_key, session_id from intermediate.int_sessions_keyed),

joined as (
    select
        saves.*,
        keys.session_id,
        sessions.lineage_id,
        sessions.node_count as session_node_count,
        timed.step_stall_s,
        timed.median_step_s,
        staged.stage,
        staged.stage_evidence,
        saves.step_s <= 60 as is_step_fine,
        (epoch_us(saves.started_at) - epoch_us(lag(saves.started_at) over (
            partition by saves.session_key order by saves.save_number
        ))) / 1e6 as interval_s,
        (epoch_us(saves.ended_at) - epoch_us(saves.started_at)) / 1e6 as lasted_s
    from saves
    join keys using (session_key)
    join sessions using (session_id)
    left join timed using (session_key, save_number)
    left join staged using (session_key, save_number)
),

judged as (
    select
        *,
        case
            when save_evidence = 'logged' then null
            when not is_step_fine then printf('a scrape step of %g s is over 60 s: too coarse to measure it', step_s)
            when not is_span_seen then 'its ends were not seen: telemetry breaks off beside them'
        end as duration_reason,
        case
            when save_s is not null then 'logged'
            when step_stall_s is not null and is_step_fine then 'step_time'
            when util_stall_s is not null and is_step_fine then 'utilisation'
        end as stall_evidence
    from joined
),

final as (
    select
        printf('save:%s:%d', session_id, save_number) as save_id,
        started_at,
        ended_at,
        if(duration_reason is null, lasted_s, null) as duration_s,
        bytes,
        peak_bytes_per_s,
        case stall_evidence
            when 'logged' then save_s
            when 'step_time' then step_stall_s
            when 'utilisation' then util_stall_s
        end as stall_s,
        stall_evidence,
        save_evidence,
        writer_nodes,
        session_id,
        stage,
        interval_s,
        save_number,
        lineage_id,
        mean_bytes_per_s,
        known_s,
        coalesce(node_count, session_node_count)::integer as node_count,
        reporting_nodes,
        is_completed,
        stage_evidence,
        case stall_evidence when 'step_time' then median_step_s when 'utilisation' then step_s end as stall_resolution_s,
        save_s as logged_stall_s,
        step_stall_s,
        if(is_step_fine, util_stall_s, null) as utilisation_stall_s,
        telemetry_started_at,
        telemetry_ended_at,
        step_s,
        duration_reason,
        case when bytes is null then 'no save is seen in the telemetry at that time' end as bytes_reason,
        case
            when stall_evidence is not null then null
            when not is_step_fine then printf('a scrape step of %g s is over 60 s: too coarse to measure it', step_s)
            else 'no run logs steps over it, and GPU use during it or during training is not known'
        end as stall_reason
    from judged
)

select * from final
