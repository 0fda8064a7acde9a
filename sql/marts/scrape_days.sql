-- A row: one scrape target's UTC day: how often it was scraped, and how much of the day its samples cover.
with series_days as (select * from marts.series_days),
series as (select * from marts.series),

of_targets as (
    select
        series.node,
        coalesce(json_extract_string(series.labels, '$.job'), '') as job,
        series_days.*
    from series_days
    join series using (series_id)
    where not series.is_gridded and series_days.sample_count > 0
),

span as (select min(first_at) as first_at, max(last_at) as last_at from of_targets),

-- the fullest series speaks for its target: what it lacks, no series of the target has
by_target as (
    select
        node,
        job,
        day,
        count(*) as series_count,
        max(sample_count) as sample_count,
        min(first_at) as first_at,
        max(last_at) as last_at,
        -- one struct: arg_max of a column alone would pass over a fullest series that has no gap
        arg_max(
            struct_pack(step_ms := step_ms, gap_count := gap_count, longest_gap_ms := longest_gap_ms),
            (sample_count, -series_id)
        ) as fullest
    from of_targets
    group by node, job, day
),

measured as (
    select
        by_target.* exclude (fullest),
        fullest.step_ms / 1000 as step_s,
        fullest.gap_count,
        fullest.longest_gap_ms / 1000 as longest_gap_s,
        (epoch_ms(least(day::timestamptz + interval 1 day, span.last_at))
            - epoch_ms(greatest(day::timestamptz, span.first_at))) / 1000 + coalesce(fullest.step_ms / 1000, 0) as wanted_s
    from by_target
    cross join span
),

final as (
    select
        node,
        job,
        day,
        series_count,
        step_s,
        sample_count,
        first_at,
        last_at,
        gap_count,
        longest_gap_s,
        least(wanted_s, 86400) as wanted_s,
        case when step_s > 0 and wanted_s > 0 then least(1, sample_count * step_s / least(wanted_s, 86400)) end as coverage_ratio
    from measured
)

select * from final
