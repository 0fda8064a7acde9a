-- A row: one gang session with the effort that it belongs to.
with recursive gangs as (select * from intermediate.int_gangs_found),
ties as (select * from intermediate.int_lineage_ties_found),

ordered as (
    select
        *,
        left(md5(to_json([owner, coalesce(run_name, session_id)])), 12) as effort_id,
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

reached as (
    select distinct effort_id, effort_id as other_effort_id from ordered
    union
    select reached.effort_id, ties.other_effort_id
    from reached
    join ties on ties.effort_id = reached.other_effort_id
),

components as (select effort_id, min(other_effort_id) as lineage_id from reached group by effort_id),

tied as (select effort_id, max(tie) as tie from ties group by effort_id),

final as (
    select
        ordered.session_key,
        if(side_by_side.has_overlap, components.lineage_id, 'all') as lineage_id,
        if(side_by_side.has_overlap, coalesce(tied.tie, 'owner_run_name'), 'one_at_a_time') as lineage_rule
    from ordered
    join components using (effort_id)
    left join tied using (effort_id)
    cross join side_by_side
)

select * from final
