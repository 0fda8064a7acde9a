-- A row: one stretch in which at least one gang session runs that a class of nodes could have been in.
with class_gangs as (select * from intermediate.int_class_gangs_ordered),

ordered as (
    select
        *,
        max(until_at) over (
            partition by class_key order by started_at, place rows between unbounded preceding and 1 preceding
        ) as earlier_until_at
    from class_gangs
    where until_at > started_at
),

numbered as (
    select
        *,
        sum(if(started_at <= earlier_until_at, 0, 1)) over (
            partition by class_key order by started_at, place rows between unbounded preceding and current row
        )::integer as stretch
    from ordered
),

final as (
    select class_key, stretch, min(started_at) as started_at, max(until_at) as until_at
    from numbered
    group by class_key, stretch
)

select * from final
