-- A row: one stretch in which a gang session runs that a usable node is a candidate for and in which it is in no gang
-- session. Stretches of one node do not overlap.
with gaps as (select * from intermediate.int_node_gang_gaps_found),
class_hours as (select * from intermediate.int_class_gang_hours_merged),
usable as (select * from intermediate.int_node_usable_bounded),

numbered as (
    select class_key, node_key, from_at, to_at, unnest(range(first_stretch, last_stretch + 1))::integer as stretch
    from gaps
    where last_stretch >= first_stretch
),

running as (
    select
        numbered.node_key,
        greatest(numbered.from_at, class_hours.started_at) as started_at,
        least(numbered.to_at, class_hours.until_at) as until_at
    from numbered
    join class_hours using (class_key, stretch)
),

final as (
    select
        running.node_key,
        greatest(running.started_at, usable.from_at) as started_at,
        least(running.until_at, usable.to_at) as until_at
    from running
    join usable
        on usable.node_key = running.node_key
        and usable.from_at < running.until_at
        and usable.to_at > running.started_at
)

select * from final
