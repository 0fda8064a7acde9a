-- A row: one text of one process that may name its session or its checkpoints: its ids and names, and every value of
-- its config and metadata with the value's key.
with processes as (select * from intermediate.int_run_processes_merged where is_told),

trees as (
    select process_key, config as tree from processes
    union all
    select process_key, metadata from processes
),

leaves as (
    select
        trees.process_key,
        replace(substr(leaf.fullkey, 3), '"', '') as leaf_key,
        leaf.atom ->> '$' as value
    from trees, json_tree(trees.tree::json) as leaf
    where leaf.atom is not null and leaf.type not in ('NULL', 'BOOLEAN', 'DOUBLE')
),

names as (
    select process_key, unnest([run_id, display_name, run_group, job_type, project, host, notes] || tags) as value
    from (select * replace (coalesce(tags, []) as tags) from processes)
),

final as (
    select process_key, null::varchar as leaf_key, null::varchar as folded_key, value from names
    union all
    select
        process_key,
        leaf_key,
        regexp_replace(lower(leaf_key), '[^a-z0-9]+', '_', 'g') as folded_key,
        value
    from leaves
)

select * from final where value is not null and value != ''
