-- A row: one session large enough to be a retry that starts in [window_start, window_end), with its link to the one
-- before it. Chains are made of all launches before window_end, so that none is cut at window_start.
create or replace macro marts.launches_by_delay(window_start, window_end, delay_from_min, delay_to_min) as table
with sessions as (select * from intermediate.sessions_at(window_end)),
starts as (select * from intermediate.int_session_starts_linked),
names as (select session_key, owner, run_name from intermediate.int_sessions_merged),
previous_names as (
    select session_key as previous_session_key, session_id as previous_session_id from intermediate.int_sessions_keyed
),
-- where nothing tells of a node that it could not be used, that all could is no answer
is_told as (select exists(from intermediate.int_node_states_merged) or exists(from meta.node_periods) as is_told),
usable as (select * from intermediate.int_node_usable_bounded),
candidates as (select node_key from intermediate.int_gang_candidates_classed),
gangs as (select session_key from intermediate.int_gangs_found),
settings as (select * from meta.settings),

launches as (
    select
        sessions.*,
        starts.* exclude (session_key, start_kind, start_rule, is_after_abnormal_end),
        starts.start_kind as told_kind,
        starts.start_rule as told_rule,
        -- the one before may be open at the window's end: then this one ran beside it
        starts.previous_session_key is not null and starts.previous_ended_at <= window_end as is_link,
        starts.is_after_abnormal_end and starts.submit_gap_min between delay_from_min and delay_to_min as is_delayed
    from starts
    join sessions using (session_key)
),

ruled as (
    select
        *,
        case
            when not is_link then null
            when told_rule not in ('delay', 'none') then told_kind
            when is_delayed then 'automatic'
            else 'manual'
        end as start_kind
    from launches
),

chained as (
    select
        *,
        -- a filtered count over a window is computed anew for every row
        (sum((start_kind is distinct from 'automatic')::integer) over sequence)::integer as chain_number
    from ruled
    window sequence as (partition by sequence_key order by place)
),

counted as (
    select
        *,
        count(*) over chain as chain_attempts,
        max(node_count) over chain as chain_nodes,
        first_value(session_id) over attempts as chain_session_id,
        first_value(started_at) over attempts as chain_started_at,
        row_number() over attempts as chain_place
    from chained
    window
        chain as (partition by sequence_key, chain_number),
        attempts as (partition by sequence_key, chain_number order by place)
),

neighbours as (
    select
        counted.*,
        counted.chain_attempts >= 2 as is_chained,
        coalesce(
            counted.chain_attempts = 1
            and counted.start_kind is not null
            and lag(counted.chain_attempts) over sequence = 1
            and counted.gap_min <= settings.retries_manual_gap_max_h * 60, false
        ) as goes_on_by_hand
    from counted
    cross join settings
    window sequence as (partition by counted.sequence_key order by counted.place)
),

by_hand as (
    select *, (sum((not goes_on_by_hand)::integer) over sequence)::integer as manual_number
    from neighbours
    window sequence as (partition by sequence_key order by place)
),

started as (
    select
        *,
        first_value(session_id) over manuals as manual_session_id,
        first_value(started_at) over manuals as manual_started_at,
        row_number() over manuals as manual_place
    from by_hand
    window manuals as (partition by sequence_key, manual_number order by place)
),

-- what no gang could take is of no use to one; a retry smaller than a gang may run anywhere
takeable as (
    select usable.*, candidates.node_key is not null as is_candidate
    from usable
    left join candidates using (node_key)
),

usable_changes as (
    select edge_at, sum(change) as nodes, sum(if(is_candidate, change, 0)) as candidates
    from (
        select from_at as edge_at, is_candidate, 1 as change from takeable
        union all
        select to_at, is_candidate, -1 from takeable
    )
    group by edge_at
),

usable_levels as (
    select edge_at, sum(nodes) over so_far as nodes, sum(candidates) over so_far as candidates
    from usable_changes
    window so_far as (order by edge_at rows between unbounded preceding and current row)
),

usable_at_start as (
    select
        started.session_key,
        coalesce(if(gangs.session_key is null, usable_levels.nodes, usable_levels.candidates), 0)::integer as usable_nodes
    from started
    left join gangs using (session_key)
    asof left join usable_levels on started.started_at >= usable_levels.edge_at
    cross join is_told
    where started.is_chained and started.started_at >= window_start and is_told.is_told
),

final as (
    select
        started.session_id,
        names.owner,
        names.run_name,
        started.node_count,
        started.gpu_count,
        started.created_at,
        started.started_at,
        started.ended_at,
        started.until_at,
        started.duration_h,
        started.gpu_h,
        started.is_censored,
        started.end_reason,
        started.end_class,
        started.reached_training,
        started.training_from,
        started.training_evidence,
        started.made_progress,
        started.start_kind,
        case
            when not started.is_link then null
            when started.told_rule not in ('delay', 'none') then started.told_rule
            when started.is_delayed then 'delay'
            else 'none'
        end as start_rule,
        if(started.is_link, previous_names.previous_session_id, null) as previous_session_id,
        if(started.is_link, started.previous_ended_at, null) as previous_ended_at,
        if(started.is_link, started.previous_end_class, null) as previous_end_class,
        if(started.is_link, started.gap_min, null) as gap_min,
        if(started.is_link, started.submit_gap_min, null) as submit_gap_min,
        if(started.is_chained, 'chain:' || started.chain_session_id, null) as chain_id,
        if(started.is_chained, started.chain_place, null)::integer as attempt,
        if(started.is_chained, started.chain_started_at >= window_start, null) as is_chain_within,
        if(started.is_chained, null, 'manual:' || started.manual_session_id) as manual_sequence_id,
        if(started.is_chained, null, started.manual_place)::integer as manual_attempt,
        if(started.is_chained, null, started.manual_started_at >= window_start) as is_manual_sequence_within,
        usable_at_start.usable_nodes,
        usable_at_start.usable_nodes < started.chain_nodes as is_doomed
    from started
    join names using (session_key)
    left join previous_names using (previous_session_key)
    left join usable_at_start using (session_key)
    where started.started_at >= window_start
)

select * from final order by started_at, session_id;
