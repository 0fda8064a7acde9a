-- A row: one session that ended and was not completed, with the first console line that tells why, or why there is none.
with sessions as (select * from intermediate.int_sessions_merged where has_started and ended_at is not null),
ends as (select * from intermediate.int_session_ends_classed where end_class <> 'completed'),
signed as (select * from intermediate.int_console_lines_signed),
console_files as (select * from intermediate.int_console_files_linked),
console_lines as (select distinct file_id, told_run_id from staging.stg_exports__console_lines where told_run_id is not null),
records as (select * from intermediate.int_run_records_keyed where is_used),
processes as (select process_key, session_key from intermediate.int_run_processes_linked),
nodes as (select node_key, node from intermediate.int_nodes_keyed),
files as (select file_id, path, file_order from intermediate.int_files_dated),
settings as (
    select to_microseconds((failures_signature_before_min * 6e7)::bigint) as before_span from meta.settings
),

heard as (
    select session_key from console_files
    union
    select processes.session_key
    from console_lines
    join records using (file_id, told_run_id)
    join processes using (process_key)
),

judged as (
    select
        signed.*,
        files.path,
        signed.printed_at is null or signed.printed_at >= sessions.ended_at - settings.before_span as is_near,
        row_number() over (
            partition by sessions.session_key
            order by
                is_near desc,
                array_position(['root', 'symptom', 'cascade'], signed.role),
                signed.printed_at nulls last,
                files.file_order,
                signed.line,
                signed.ordinal
        ) as place
    from sessions
    join signed using (session_key)
    join files on files.file_id = signed.file_id
    cross join settings
),

counted as (
    select
        session_key,
        count(*) filter (where is_near and role <> 'cascade') as telling_lines,
        count(*) filter (where is_near and role = 'cascade') as cascade_lines,
        count(*) filter (where not is_near) as early_lines
    from judged
    group by session_key
),

causes as (select * from judged where place = 1 and is_near and role <> 'cascade'),

final as (
    select
        sessions.session_id,
        sessions.ended_at,
        ends.end_class,
        heard.session_key is not null as has_console,
        causes.signature,
        case
            when causes.signature is not null then null
            when heard.session_key is null then 'no console output'
            when counted.cascade_lines > 0 then 'consequences only'
            when counted.early_lines > 0 then 'long before the end only'
            else 'no line that a rule matches'
        end as reason,
        causes.role,
        causes.rule_id,
        causes.printed_at as told_at,
        nodes.node,
        causes.run_id,
        causes.text,
        causes.path as file,
        causes.line,
        coalesce(counted.telling_lines, 0) as telling_lines,
        coalesce(counted.cascade_lines, 0) as cascade_lines
    from sessions
    join ends using (session_key)
    left join heard using (session_key)
    left join counted using (session_key)
    left join causes using (session_key)
    left join nodes on nodes.node_key = causes.node_key
)

select * from final
