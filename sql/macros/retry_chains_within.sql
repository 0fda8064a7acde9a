-- A row: one retry chain whose first attempt starts in [window_start, window_end), by the config's delay.
create or replace macro marts.retry_chains_within(window_start, window_end) as table
with final as (
    select *
    from marts.retry_chains_by_delay(
        window_start,
        window_end,
        (select retries_delay_min - retries_window_before_min from meta.settings),
        (select retries_delay_min + retries_window_after_min from meta.settings)
    )
)

select * from final;
