-- A row: one session that a file of console output may be of: its name tells an id, which attempts of one job share.
with console_lines as (select * from staging.stg_exports__console_lines),
sessions as (select * from intermediate.int_sessions_merged where has_started),

told as (
    select file_id, told_session_id, count(*) as lines, min(printed_at) as first_at, max(printed_at) as latest_at
    from console_lines
    where told_session_id is not null
    group by file_id, told_session_id
),

session_ids as (
    select session_key, session_id as told_session_id from sessions
    union
    select session_key, bare_id from sessions
    union
    select session_key, split_part(attempt_key, ':', -1) from sessions where source = 'slurm'
),

final as (
    select
        told.file_id,
        told.told_session_id,
        session_ids.session_key,
        told.lines,
        told.first_at,
        told.latest_at,
        lead(sessions.started_at) over attempts as next_started_at
    from told
    join session_ids using (told_session_id)
    join sessions using (session_key)
    window attempts as (
        partition by told.file_id, told.told_session_id order by sessions.started_at nulls first, session_ids.session_key
    )
)

select * from final
