-- A row: one gang session as seen by one class of nodes that it could have taken, in order of start.
with classes as (select distinct class_key, pool_keys from intermediate.int_gang_candidates_classed),
gangs as (select * from intermediate.int_gangs_found),
pools as (select * from intermediate.int_gang_pools_numbered),

class_pools as (select class_key, unnest(pool_keys) as pool_key from classes),

final as (
    select
        class_pools.class_key,
        gangs.session_key,
        gangs.started_at,
        gangs.until_at,
        row_number() over (partition by class_pools.class_key order by gangs.started_at, gangs.session_key)::integer
            as place
    from class_pools
    join pools using (pool_key)
    join gangs
        on gangs.partition is not distinct from pools.partition
        and gangs.gpu_model is not distinct from pools.gpu_model
)

select * from final
