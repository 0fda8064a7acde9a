-- A row: one stretch of one state of one node.
with states as (select * from intermediate.int_node_states_merged),

final as (
    select node, state, started_at, ended_at, reason, source, state_kind, observed_until
    from states
)

select * from final order by node, started_at, state
