-- A row: one role of one node in and around one save or load.
with measured as (select * from intermediate.int_checkpoint_windows_measured),
nodes as (select * from meta.checkpoint_nodes),

final as (
    select
        nodes.phase,
        nodes.checkpoint_id,
        nodes.node,
        nodes.role,
        nodes.unit,
        nodes.inside,
        nodes.around,
        nodes.coverage_ratio,
        nodes.coverage_ratio >= 0.9 as is_covered,
        nodes.mostly_s,
        nodes.first_level,
        nodes.peak_level,
        nodes.last_level
    from nodes
    semi join measured using (phase, checkpoint_id)
)

select * from final
