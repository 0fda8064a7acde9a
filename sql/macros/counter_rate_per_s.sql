create or replace macro counter_rate_per_s(times_ms, numbers, step_ms, start_ms, end_ms) as
    case
        when counter_covered_s(times_ms, step_ms, start_ms, end_ms) >= 0.9 * (end_ms - start_ms) / 1000
        then counter_increase(times_ms, numbers, start_ms, end_ms) / nullif((end_ms - start_ms) / 1000, 0)
    end;
