-- A row: one session in one file, with what decides which record of a session speaks first.
with records as (select * from staging.stg_exports__sessions),
files as (select * from intermediate.int_files_dated),
end_reasons as (select * from staging.end_reasons),

final as (
    select
        files.source,
        records.* exclude (has_started),
        -- null where the source cannot tell: it gives neither a start nor a list of nodes, even an empty one
        case
            when records.has_started or records.started_at is not null then true
            when records.has_started is not null or len(records.nodes) = 0 then false
        end as has_started,
        files.observed_until,
        -- below all others what a kernel's row knows of its session: it only fills
        record_order(
            coalesce(end_reasons.is_terminal, records.ended_at is not null), files.file_order, records.line
        ) - if(records.state_key is null, 1::bigint << 62, 0) as record_order,
        struct_pack(
            source_state := records.source_state,
            state_key := records.state_key,
            end_reason := end_reasons.end_reason,
            end_reason_unstarted := end_reasons.end_reason_unstarted,
            is_waiting := coalesce(end_reasons.is_waiting, false)
        ) as state
    from records
    join files using (file_id)
    left join end_reasons on end_reasons.source = files.source and end_reasons.state_key = records.state_key
)

select * from final
