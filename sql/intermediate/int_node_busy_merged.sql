-- A row: one stretch in which sessions smaller than a gang run on a node of the inventory.
with members as (select * from intermediate.int_session_nodes_merged),
gangs as (select * from intermediate.int_gangs_found),
nodes as (select * from intermediate.int_nodes_keyed),

-- one row a start: rows that are equal could stand in another order in each of the two windows below
small as (
    select members.node_key, members.started_at, max(members.until_at) as until_at
    from members
    anti join gangs using (session_key)
    join nodes using (node_key)
    where nodes.is_inventory and members.until_at > members.started_at
    group by members.node_key, members.started_at
),

ordered as (
    select
        *,
        max(until_at) over (
            partition by node_key order by started_at rows between unbounded preceding and 1 preceding
        ) as earlier_until_at
    from small
),

numbered as (
    select
        *,
        sum(if(started_at <= earlier_until_at, 0, 1)) over (
            partition by node_key order by started_at rows between unbounded preceding and current row
        )::integer as stretch
    from ordered
),

final as (
    select node_key, min(started_at) as started_at, max(until_at) as until_at
    from numbered
    group by node_key, stretch
)

select * from final
