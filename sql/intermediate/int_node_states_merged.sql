-- A row: one stretch of one state of one node, over all files that tell it.
with states as (select * from staging.stg_exports__node_states),
files as (select * from intermediate.int_files_dated),
words as (select * from staging.node_state_words),

dated as (
    select
        files.source,
        states.*,
        files.path,
        files.observed_until,
        record_order(states.ended_at is not null, files.file_order, states.line) as record_order
    from states
    join files using (file_id)
),

merged as (
    select
        source,
        node,
        state,
        started_at,
        arg_max(ended_at, record_order) as ended_at,
        arg_max(reason, record_order) as reason,
        arg_max(path, record_order) as file,
        arg_max(line, record_order) as line,
        max(observed_until) as observed_until
    from dated
    group by source, cluster_source, node, state, started_at
),

-- Slurm joins flags by + and marks some by a trailing sign: IDLE+DRAIN, DOWN*
flags as (
    select distinct state, upper(regexp_replace(unnest(string_split(state, '+')), '[^A-Za-z_]+$', '')) as word
    from merged
    where state is not null
),

kinds as (
    select flags.state, arg_max(coalesce(words.state_kind, 'unknown'), coalesce(words.severity, 0)) as state_kind
    from flags
    left join words using (word)
    group by flags.state
),

final as (
    select
        merged.* exclude (ended_at),
        if(merged.ended_at < merged.started_at, merged.started_at, merged.ended_at) as ended_at,
        coalesce(merged.ended_at < merged.started_at, false) as has_reversed_times,
        coalesce(kinds.state_kind, 'unknown') as state_kind
    from merged
    left join kinds using (state)
)

select * from final
