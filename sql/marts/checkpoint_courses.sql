-- A row: one role in one step of one save or load, over its nodes; steps are counted from its start.
with measured as (select * from intermediate.int_checkpoint_windows_measured),
courses as (select * from meta.checkpoint_courses),

final as (
    select
        courses.phase,
        courses.checkpoint_id,
        courses.role,
        courses.at,
        (epoch_us(courses.at) - epoch_us(measured.started_at)) / 1e6 as lag_s,
        courses.unit,
        courses.total / courses.reporting_nodes as node_mean,
        courses.total,
        courses.reporting_nodes,
        measured.node_count,
        courses.reporting_nodes >= 0.9 * measured.node_count - 1e-9 as is_known
    from courses
    join measured using (phase, checkpoint_id)
)

select * from final
