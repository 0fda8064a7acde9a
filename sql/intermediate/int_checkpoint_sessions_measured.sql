-- A row: one started gang session, with how much of it the telemetry of storage and GPUs covers. The samples are read
-- between int_checkpoint_members_asked and this model, into the tables meta.checkpoint_*.
with asked as (select * from intermediate.int_checkpoint_members_asked),
measured as (select * from meta.checkpoint_sessions),

final as (
    select
        asked.session_key,
        any_value(measured.step_s) as step_s,
        any_value(measured.steps) as steps,
        any_value(measured.known_steps) as known_steps,
        any_value(measured.read_steps) as read_steps,
        any_value(measured.util_steps) as util_steps,
        any_value(measured.training_util_ratio) as training_util_ratio,
        any_value(measured.reason) as reason,
        count(*) as node_count,
        count(*) filter (where asked.is_seen) as seen_nodes
    from asked
    left join measured using (session_key)
    group by asked.session_key
)

select * from final
