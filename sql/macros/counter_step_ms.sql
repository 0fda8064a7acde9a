create or replace macro counter_step_ms(times_ms) as
    list_median(list_transform(list_zip(times_ms, times_ms[2:], true), lambda pair: pair[2] - pair[1]));
