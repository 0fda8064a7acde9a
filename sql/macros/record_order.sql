-- is_terminal above the file's place, that above the line: one number that arg_max can take
create or replace macro record_order(is_terminal, file_order, line) as
    (case when is_terminal then 1::bigint << 61 else 0::bigint end)
    + (file_order::bigint << 40)
    + least(coalesce(line, 0), (1::bigint << 40) - 1)::bigint;
