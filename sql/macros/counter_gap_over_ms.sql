create or replace macro counter_gap_over_ms(step_ms) as 2 * step_ms + least(step_ms / 10, 1000);
