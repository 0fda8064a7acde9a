create or replace macro counter_increases(numbers) as
    list_transform(
        list_zip(counter_without_flips(numbers), (counter_without_flips(numbers))[2:], true),
        lambda pair: case when pair[2] >= pair[1] then pair[2] - pair[1] else pair[2] end
    );
