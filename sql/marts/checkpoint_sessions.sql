-- A row: one started gang session, with how much of it telemetry covers and what was found in it.
with measured as (select * from intermediate.int_checkpoint_sessions_measured),
keys as (select session_key, session_id from intermediate.int_sessions_keyed),
sessions as (select * from marts.sessions),
saves as (select * from marts.checkpoint_saves),
seen as (select * from intermediate.int_checkpoint_saves_seen),
loads as (select * from marts.checkpoint_loads),
rules as (select * from marts.checkpoint_rules),

saves_counted as (select session_id, count(*) as saves, any_value(save_evidence) as save_evidence from saves group by session_id),
seen_counted as (select session_key, count(*) as telemetry_saves from seen group by session_key),

joined as (
    select
        keys.session_id,
        sessions.lineage_id,
        sessions.started_at,
        sessions.until_at,
        measured.node_count,
        measured.seen_nodes,
        measured.step_s,
        measured.steps,
        measured.known_steps,
        measured.known_steps / nullif(measured.steps, 0) as known_ratio,
        measured.read_steps / nullif(measured.steps, 0) as read_known_ratio,
        measured.util_steps / nullif(measured.steps, 0) as util_known_ratio,
        measured.training_util_ratio,
        measured.known_from,
        measured.known_until,
        coalesce(saves_counted.saves, 0) as saves,
        case
            when saves_counted.save_evidence is not null then saves_counted.save_evidence
            when measured.known_steps > 0 then 'telemetry'
        end as save_evidence,
        seen_counted.telemetry_saves,
        loads.load_id is not null as has_load,
        rules.save_reason,
        rules.load_reason as no_load_reason,
        measured.reason
    from measured
    join keys using (session_key)
    join sessions using (session_id)
    left join saves_counted using (session_id)
    left join seen_counted using (session_key)
    left join loads using (session_id)
    cross join rules
),

final as (
    select
        session_id,
        lineage_id,
        started_at,
        until_at,
        node_count::integer as node_count,
        seen_nodes::integer as seen_nodes,
        step_s,
        steps,
        known_steps,
        known_ratio,
        read_known_ratio,
        util_known_ratio,
        training_util_ratio,
        known_from,
        known_until,
        saves,
        save_evidence,
        if(coalesce(known_steps, 0) > 0 and save_reason is null, coalesce(telemetry_saves, 0), null) as telemetry_saves,
        has_load,
        case
            when coalesce(known_steps, 0) > 0 and save_reason is null then null
            when save_reason is not null then save_reason
            when steps > 0 then 'fewer than nine tenths of its nodes ever report what they write'
            when seen_nodes > 0 then coalesce(reason, 'it is shorter than a scrape step')
            else 'no telemetry of its nodes from its time'
        end as telemetry_reason,
        case
            when has_load then null
            when no_load_reason is not null then no_load_reason
            when epoch_us(until_at) - epoch_us(started_at) < (select load_min_session_min from rules) * 6e7
                then 'it is shorter than load_min_session_min'
            when coalesce(steps, 0) = 0 and seen_nodes > 0 then coalesce(reason, 'it is shorter than a scrape step')
            when coalesce(steps, 0) = 0 then 'no telemetry of its nodes from its time'
            when save_reason is null and known_steps = 0
                then 'fewer than nine tenths of its nodes ever report what they write, so loads are not told from saves'
            when coalesce(read_known_ratio, 0) = 0 then 'fewer than nine tenths of its nodes ever report what they read'
            when coalesce(util_known_ratio, 0) = 0 then 'fewer than nine tenths of its nodes ever report GPU use'
            else 'no step of it reads above the threshold with idle GPUs'
        end as load_reason
    from joined
)

select * from final
