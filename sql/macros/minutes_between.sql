create or replace macro minutes_between(from_at, to_at) as (epoch_us(to_at) - epoch_us(from_at)) / 6e7;
