-- A row: one console line that a rule matches, with the session that printed it. Of the attempts that share a file, the
-- last that had started counts; a line without a time is the last attempt's. A file that grew between two exports counts
-- once: its line is the same line of a file of the same name.
with signs as (select * from meta.console_signatures),
console_lines as (select * from staging.stg_exports__console_lines),
rules as (select * from staging.log_signature_rules),
records as (select * from intermediate.int_run_records_keyed where is_used),
processes as (select process_key, session_key from intermediate.int_run_processes_linked),
files as (select * from intermediate.int_console_files_linked),
exports as (
    select file_id, file_order, regexp_replace(parse_filename(path), '\.(?:gz|zst)$', '') as file_name
    from intermediate.int_files_dated
),
nodes as (select node_key, node, is_named from intermediate.int_nodes_keyed),
members as (
    select session_key, any_value(node_key) as node_key
    from intermediate.int_session_nodes_merged
    group by session_key
    having count(*) = 1
),

-- programs print a node's name mostly without its domain
short_nodes as (
    select split_part(node, '.', 1) as short_text, any_value(node_key) as node_key
    from nodes
    where is_named
    group by 1
    having count(*) = 1
),

signed as (
    select
        console_lines.*,
        rules.rule_id,
        rules.signature,
        rules.role,
        -- who speaks: NCCL, srun and slurmstepd name the node in the line
        coalesce(
            nullif(regexp_extract(console_lines.text, '(?:^|[\s\]])([A-Za-z][\w.-]{0,62}):\d+:\d+ \[\d+\] ', 1), ''),
            nullif(regexp_extract(console_lines.text, 'srun: error: ([A-Za-z][\w.-]{0,62}): task', 1), ''),
            nullif(regexp_extract(console_lines.text, 'Node failure on ([A-Za-z][\w.-]{0,62})', 1), ''),
            nullif(regexp_extract(console_lines.text, ' ON ([A-Za-z][\w.-]{0,62}) CANCELLED AT ', 1), ''),
            console_lines.told_node
        ) as said_node
    from signs
    join console_lines using (file_id, line, ordinal)
    join rules using (rule_id)
),

of_runs as (
    select signed.*, records.run_id, processes.session_key
    from signed
    join records using (file_id, told_run_id)
    left join processes using (process_key)
),

of_files as (
    select signed.*, null::varchar as run_id, files.session_key
    from signed
    left join files
        on files.file_id = signed.file_id
        and files.told_session_id = signed.told_session_id
        and (files.next_started_at is null or signed.printed_at < files.next_started_at)
    where signed.told_run_id is null
    qualify row_number() over (
        partition by signed.file_id, signed.line, signed.ordinal
        order by files.next_started_at nulls last, files.session_key
    ) = 1
),

once as (
    select of_files.*
    from of_files
    join exports using (file_id)
    qualify row_number() over (
        partition by
            coalesce(told_session_id, file_id), exports.file_name, told_node, stream, line, ordinal, printed_at, text
        order by exports.file_order desc
    ) = 1
),

placed as (
    select * from of_runs
    union all by name
    select * from once
),

final as (
    select
        placed.file_id,
        placed.line,
        placed.ordinal,
        placed.run_id,
        placed.session_key,
        coalesce(said.node_key, short_nodes.node_key, members.node_key) as node_key,
        placed.printed_at,
        placed.stream,
        placed.text,
        placed.rule_id,
        placed.signature,
        placed.role
    from placed
    left join nodes as said on said.node = placed.said_node
    left join short_nodes on short_nodes.short_text = split_part(placed.said_node, '.', 1)
    left join members on members.session_key = placed.session_key
)

select * from final
