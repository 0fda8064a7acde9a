-- A row: one tie between two efforts (owner and run name) of gang sessions: a W&B run that went on in both, or a place
-- of checkpoints that one of them wrote to or went on from. Each is tied to the least that shares it, and back.
with gangs as (select * from intermediate.int_gangs_found),
links as (select process_key, session_key from intermediate.int_run_processes_linked),
processes as (select process_key, run_id from intermediate.int_run_processes_merged),
texts as (select * from intermediate.int_run_texts_found),
config_keys as (select * from staging.run_config_keys where role != 'session_id'),

members as (
    select
        links.process_key,
        left(md5(to_json([gangs.owner, coalesce(gangs.run_name, gangs.session_id)])), 12) as effort_id
    from links
    join gangs using (session_key)
),

paths as (
    select
        members.effort_id,
        'checkpoint_path' as tie,
        regexp_replace(
            rtrim(texts.value, '/'), '/(iter|step|global_step|checkpoint|ckpt|epoch)[-_=]?\d+[^/]*$', '', 'i'
        ) as shared,
        config_keys.role != 'load' as is_own
    from texts
    join members using (process_key)
    join config_keys on texts.folded_key = config_keys.key or ends_with(texts.folded_key, '_' || config_keys.key)
    -- a relative path or the root of a file system is no place of one's own
    where regexp_matches(texts.value, '^(/|[A-Za-z][A-Za-z0-9+.-]*://)[^/]+/+[^/]')
),

shares as (
    select effort_id, 'run_id' as tie, processes.run_id as shared, true as is_own
    from members
    join processes using (process_key)
    union
    select effort_id, tie, shared, is_own from paths
),

shared_by_several as (
    select tie, shared, min(effort_id) as least_effort_id
    from shares
    group by tie, shared
    -- many may load one base model without being one effort
    having count(distinct effort_id) > 1 and bool_or(is_own)
),

pairs as (
    select shares.effort_id, shared_by_several.least_effort_id as other_effort_id, tie
    from shares
    join shared_by_several using (tie, shared)
    where shares.effort_id != shared_by_several.least_effort_id
),

final as (
    select distinct effort_id, other_effort_id, tie from pairs
    union
    select distinct other_effort_id, effort_id, tie from pairs
)

select * from final
