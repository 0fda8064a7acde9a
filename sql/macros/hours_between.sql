create or replace macro hours_between(from_at, to_at) as (epoch_us(to_at) - epoch_us(from_at)) / 3.6e9;
