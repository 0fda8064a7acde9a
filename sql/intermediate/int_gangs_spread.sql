-- A row: one gang session and one of the stretches of time that it runs in, all as long as a gang on average: what ran at
-- an instant is then found by equality of stretches, and there are but two rows a gang.
with gangs as (select * from intermediate.int_gangs_found),

stretch as (
    select greatest(avg(epoch_us(until_at) - epoch_us(started_at))::bigint, 60000000) as length_us
    from gangs
),

final as (
    select
        gangs.session_key,
        gangs.started_at,
        gangs.until_at,
        stretch.length_us,
        unnest(
            generate_series(epoch_us(started_at) // stretch.length_us, epoch_us(until_at) // stretch.length_us)
        ) as place
    from gangs
    cross join stretch
)

select * from final
