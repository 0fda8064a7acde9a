create or replace macro counter_without_flips(numbers) as
    list_transform(
        range(1, len(numbers) + 1),
        lambda place: case
            when counter_is_flip(numbers, place - 1) and numbers[place] < numbers[place - 2] then numbers[place - 2]
            when counter_is_flip(numbers, place) then numbers[place - 1]
            else numbers[place]
        end
    );
