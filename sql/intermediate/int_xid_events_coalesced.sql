-- A row: one event: equal signs of one GPU, each at most coalesce_s after the one before. Signs without a time are one
-- per boot and file. A kernel message's time counts before the gauge's, which is late, but not where its clock drifts.
with signs as (select * from intermediate.int_xid_signs_found),
settings as (select * from meta.settings),

beside_previous as (
    select
        signs.*,
        if(sign_at is null, concat_ws(' ', file_id, boot_id), null) as undated_in,
        lag(sign_at) over (
            partition by node, gpu_key, coalesced_code, if(sign_at is null, concat_ws(' ', file_id, boot_id), null)
            order by sign_key
        ) as earlier_at,
        row_number() over (
            partition by node, gpu_key, coalesced_code, if(sign_at is null, concat_ws(' ', file_id, boot_id), null)
            order by sign_key
        ) as place
    from signs
),

begun as (
    select
        beside_previous.*,
        place = 1 or coalesce(epoch_us(sign_at) - epoch_us(earlier_at) > settings.failures_coalesce_s * 1e6, false)
            as is_begin
    from beside_previous
    cross join settings
),

numbered as (
    select
        *,
        sum(is_begin::integer) over (
            partition by node, gpu_key, coalesced_code, undated_in order by sign_key rows unbounded preceding
        ) as event_number
    from begun
),

coalesced as (
    select
        node,
        gpu_key,
        coalesced_code,
        undated_in,
        event_number,
        min(sign_key) as first_sign_key,
        min(sign_at) filter (where source = 'kernel_log' and has_sure_time) as logged_at,
        min(sign_at) filter (where source = 'gauge') as shown_at,
        min(sign_at) as sign_at,
        max(sign_at) as ended_at,
        max(gpu_index) as gpu_index,
        max(gpu_uuid) as gpu_uuid,
        max(pci_bus_id) as pci_bus_id,
        if(bool_and(kind = 'bus_loss'), 'bus_loss', any_value(kind) filter (where kind <> 'bus_loss')) as kind,
        max(code) as code,
        array_to_string(list_sort(list_distinct(list(source)), 'desc'), '+') as sources,
        count(distinct (date_trunc('second', sign_at), text, repeat)) filter (where source = 'kernel_log')
            as line_count,
        arg_min(time_quality, sign_key) as time_quality,
        arg_min(clock_drift_s, sign_key) as clock_drift_s,
        -- of the sign that tells the time; of two at once, the one that knows better
        arg_min(
            struct_pack(previous_at := previous_at), (sign_at, -epoch_us(previous_at))
        ) filter (where source = 'gauge') as first_shown,
        min(severity) as severity,
        arg_min(pid, sign_key) as pid,
        arg_min(process, sign_key) as process,
        arg_min(cause_code, sign_key) as cause_code,
        arg_max(recovery_action, sign_key) as recovery_action,
        arg_min(detail, sign_key) as detail,
        arg_min(file, sign_key) filter (where source = 'kernel_log') as file,
        arg_min(line, sign_key) filter (where source = 'kernel_log') as line
    from numbered
    group by all
),

final as (
    select
        'xid:' || left(md5(to_json([
            coalesce(node, ''), gpu_key, coalesced_code, coalesce(undated_in, ''),
            coalesce(epoch_us(coalesce(logged_at, shown_at, sign_at))::varchar, '')
        ])), 12) as event_id,
        coalesce(logged_at, shown_at, sign_at) as event_at,
        greatest(ended_at, coalesce(logged_at, shown_at, sign_at)) as ended_at,
        node,
        gpu_key,
        gpu_index,
        gpu_uuid,
        pci_bus_id,
        kind,
        code,
        sources as source,
        line_count,
        case
            when logged_at is not null then time_quality
            when shown_at is not null then 'scraped'
            else time_quality
        end as time_quality,
        coalesce(logged_at, shown_at) is not null as has_sure_time,
        if(logged_at is null and shown_at is null, clock_drift_s, null) as clock_drift_s,
        if(logged_at is null, first_shown.previous_at, null) as seen_after,
        severity,
        pid,
        process,
        cause_code,
        recovery_action,
        detail,
        file,
        line,
        first_sign_key
    from coalesced
)

select * from final
