create or replace macro restart_pause_s(median_step_s) as greatest(10 * coalesce(median_step_s, 0), 300);
