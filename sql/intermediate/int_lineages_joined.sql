-- A row: one gang session with the effort that it belongs to.
with gangs as (select * from intermediate.int_gangs_found),

ordered as (
    select
        *,
        max(until_at) over (
            order by started_at, session_key rows between unbounded preceding and 1 preceding
        ) as earlier_until_at
    from gangs
),

side_by_side as (
    select count(*) > 0 as has_overlap
    from ordered
    where earlier_until_at > started_at + clock_tolerance() and until_at > started_at + clock_tolerance()
),

final as (
    select
        ordered.session_key,
        case
            when not side_by_side.has_overlap then 'all'
            else left(md5(to_json([ordered.owner, coalesce(ordered.run_name, ordered.session_id)])), 12)
        end as lineage_id,
        if(side_by_side.has_overlap, 'owner_run_name', 'one_at_a_time') as lineage_rule
    from ordered
    cross join side_by_side
)

select * from final
