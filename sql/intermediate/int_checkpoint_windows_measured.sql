-- A row: one save or load, with how many of its nodes were asked for. The samples are read between this model and the
-- one that it reads, into meta.checkpoint_nodes and meta.checkpoint_courses.
with asked as (select * from intermediate.int_checkpoint_windows_asked),

final as (
    select phase, checkpoint_id, min(started_at) as started_at, count(*) as node_count
    from asked
    group by phase, checkpoint_id
)

select * from final
