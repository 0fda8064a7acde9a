-- A row: one started gang session, with how much of it the telemetry of storage and GPUs covers. The samples are read
-- between int_checkpoint_members_asked and this model, into the tables meta.checkpoint_*.
with sessions as (select * from marts.sessions),
keys as (select session_key, session_id from intermediate.int_sessions_keyed),
asked as (select * from intermediate.int_checkpoint_members_asked),
measured as (select * from meta.checkpoint_sessions),

seen as (select session_key, count(*) filter (where is_seen) as seen_nodes from asked group by session_key),

final as (
    select
        keys.session_key,
        measured.step_s,
        measured.steps,
        measured.known_steps,
        measured.read_steps,
        measured.util_steps,
        measured.training_util_ratio,
        measured.reason,
        measured.known_from,
        measured.known_until,
        sessions.node_count,
        coalesce(seen.seen_nodes, 0) as seen_nodes
    from sessions
    join keys using (session_id)
    left join seen using (session_key)
    left join measured using (session_key)
    where sessions.is_gang and sessions.has_started
)

select * from final
