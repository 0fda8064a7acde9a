-- A row: one operation of one node in one save or load. The counters are read between int_checkpoint_windows_asked and
-- this model, into meta.checkpoint_requests.
with asked as (select * from intermediate.int_checkpoint_windows_asked),
counted as (select * from meta.checkpoint_requests),

final as (
    select
        counted.phase,
        counted.checkpoint_id,
        counted.node,
        counted.operation,
        case
            when counted.operation in ('READ', 'WRITE', 'COMMIT') then 'data'
            else 'metadata'
        end as operation_kind,
        (epoch_us(asked.ended_at) - epoch_us(asked.started_at)) / 1e6 as window_s,
        counted.coverage_ratio,
        counted.coverage_ratio >= 0.9 and counted.is_told as is_covered,
        counted.requests,
        counted.request_s,
        counted.queue_s,
        counted.response_s,
        counted.sent_bytes,
        counted.received_bytes,
        counted.transmissions,
        counted.major_timeouts
    from counted
    join asked using (phase, checkpoint_id, node)
)

select * from final
