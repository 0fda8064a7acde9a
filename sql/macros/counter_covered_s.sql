create or replace macro counter_covered_s(times_ms, step_ms, start_ms, end_ms) as
    coalesce(list_sum(list_transform(
        list_zip(times_ms, times_ms[2:], true),
        lambda pair: case
            when pair[2] - pair[1] <= counter_gap_over_ms(step_ms)
                then greatest(0, least(pair[2], end_ms) - greatest(pair[1], start_ms))
            else 0
        end
    )), 0) / 1000;
