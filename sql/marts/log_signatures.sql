-- A row: one console line whose wording tells why a program ended.
with signed as (select * from intermediate.int_console_lines_signed),
sessions as (select session_key, session_id from intermediate.int_sessions_merged),
nodes as (select node_key, node from intermediate.int_nodes_keyed),
files as (select file_id, path from intermediate.int_files_dated),

final as (
    select
        signed.run_id,
        sessions.session_id,
        nodes.node,
        signed.printed_at as at,
        signed.signature,
        signed.role <> 'cascade' as is_root,
        signed.role,
        signed.rule_id,
        signed.stream,
        signed.text,
        files.path as file,
        signed.line,
        signed.ordinal
    from signed
    left join sessions using (session_key)
    left join nodes using (node_key)
    left join files using (file_id)
)

select * from final
