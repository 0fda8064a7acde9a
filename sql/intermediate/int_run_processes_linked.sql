-- A row: one process of a run that belongs to a session, with the rule that said so: a pattern of the config, a key
-- that is known to hold a session's id, else the name and the largest overlap in time. It belongs to one session.
with processes as (select * from intermediate.int_run_processes_merged where is_told),
texts as (select * from intermediate.int_run_texts_found),
sessions as (select * from intermediate.int_sessions_merged where started_at is not null),
members as (select * from intermediate.int_session_nodes_merged),
nodes as (select * from intermediate.int_nodes_keyed),
config_keys as (select * from staging.run_config_keys where role = 'session_id'),
settings as (select * from meta.settings),

patterns as (
    select unnest(runs_link_patterns) as pattern, generate_subscripts(runs_link_patterns, 1) as place from settings
),

found as (
    select texts.process_key, 'pattern' as link_rule, patterns.place as rule_order, unnest([
        regexp_extract(texts.value, patterns.pattern, 1),
        regexp_extract(texts.leaf_key || '=' || texts.value, patterns.pattern, 1)
    ]) as found_id
    from texts
    cross join patterns
    union all
    select texts.process_key, 'config_key', 1000, texts.value
    from texts
    join config_keys on texts.folded_key = config_keys.key or ends_with(texts.folded_key, '_' || config_keys.key)
),

session_ids as (
    select session_key, session_id as found_id from sessions
    union
    select session_key, bare_id from sessions
    union
    select session_key, split_part(attempt_key, ':', -1) from sessions where source = 'slurm'
),

by_id as (
    select distinct found.process_key, session_ids.session_key, found.link_rule, found.rule_order
    from found
    join session_ids using (found_id)
),

run_names as (
    select processes.process_key, 'name' as link_rule, 2000 as rule_order,
        run_name_of(processes.display_name, settings.run_name_strip) as run_name
    from processes
    cross join settings
    union all
    select processes.process_key, 'group', 3000, run_name_of(processes.run_group, settings.run_name_strip)
    from processes
    cross join settings
),

owners as (select distinct owner from sessions where owner is not null),

by_name as (
    select run_names.process_key, sessions.session_key, run_names.link_rule, run_names.rule_order
    from run_names
    join processes using (process_key)
    join sessions
        on sessions.run_name = run_names.run_name
        and sessions.started_at <= processes.ended_at
        and sessions.until_at >= processes.started_at
    -- the owner of a run may be of another world (a container's root, a W&B account): then it says nothing
    left join owners on owners.owner = processes.owner
    where owners.owner is null or sessions.owner = processes.owner
),

candidates as (
    select * from by_id
    union all
    select * from by_name
),

measured as (
    select
        candidates.*,
        sessions.started_at,
        sessions.session_id,
        members.session_key is not null as is_on_its_host,
        least(sessions.until_at, processes.ended_at) - greatest(sessions.started_at, processes.started_at) as overlap,
        processes.started_at is null or processes.ended_at is null as is_timeless,
        count(*) over (partition by candidates.process_key, candidates.rule_order) as alternatives
    from candidates
    join processes using (process_key)
    join sessions using (session_key)
    left join nodes on nodes.node = processes.host
    left join members on members.node_key = nodes.node_key and members.session_key = candidates.session_key
),

final as (
    select
        process_key,
        session_key,
        link_rule,
        if(is_timeless, null, greatest(epoch_us(overlap), 0) / 6e7)::double as overlap_min
    from measured
    where if(is_timeless, alternatives = 1, overlap >= -clock_tolerance())
    qualify row_number() over (
        partition by process_key order by rule_order, is_on_its_host desc, overlap desc, started_at, session_id
    ) = 1
)

select * from final
