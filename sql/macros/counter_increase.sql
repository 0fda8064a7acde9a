create or replace macro counter_increase(times_ms, numbers, start_ms, end_ms) as
    coalesce(list_sum(list_transform(
        list_zip(times_ms, times_ms[2:], counter_increases(numbers), true),
        lambda delta: delta[3] * greatest(0, least(delta[2], end_ms) - greatest(delta[1], start_ms)) / (delta[2] - delta[1])
    )), 0);
