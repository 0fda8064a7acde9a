-- DuckDB has null at place 0 and past the end of a list, so the first sample is no flip and the last cannot be back
create or replace macro counter_is_flip(numbers, place) as
    numbers[place] < numbers[place - 1]
    and numbers[place] >= numbers[place - 1] * 0.99
    and (
        coalesce(numbers[place + 1] >= numbers[place - 1], false)
        or coalesce(numbers[place + 2] >= numbers[place - 1], false)
    );
