-- A row: one save with the training stage that it began in: a key of its run's config, else the config's [[stages]].
with saves as (select * from intermediate.int_checkpoint_saves_merged),
links as (select * from intermediate.int_run_processes_linked),
processes as (select process_key, run_key, started_at from intermediate.int_run_processes_merged),
runs as (select run_key, try_cast(config as json) as config from intermediate.int_runs_merged),
stages as (select * from meta.stages),
settings as (select * from meta.settings),

named as (
    select
        links.session_key,
        processes.process_key,
        processes.started_at,
        coalesce(
            json_extract_string(runs.config, '$."' || replace(settings.runs_stage_key, '"', '') || '"'),
            json_extract_string(
                runs.config, '$."' || replace(replace(settings.runs_stage_key, '"', ''), '.', '"."') || '"'
            )
        ) as stage
    from links
    join processes using (process_key)
    join runs using (run_key)
    cross join settings
    where settings.runs_stage_key is not null
),

by_run as (
    select saves.session_key, saves.save_number, named.stage
    from saves
    join named using (session_key)
    where named.stage is not null
    -- the process that was there last; a clock that is ahead leaves the first
    qualify row_number() over (
        partition by saves.session_key, saves.save_number
        order by coalesce(named.started_at <= saves.started_at, false) desc,
            if(named.started_at <= saves.started_at, -epoch_us(named.started_at), epoch_us(named.started_at)) nulls last,
            named.process_key
    ) = 1
),

by_period as (
    select saves.session_key, saves.save_number, stages.name as stage
    from saves
    join stages
        on coalesce(saves.started_at >= stages.from_at, true) and coalesce(saves.started_at < stages.to_at, true)
    qualify row_number() over (
        partition by saves.session_key, saves.save_number order by stages.from_at desc nulls last, stages.name
    ) = 1
),

final as (
    select
        saves.session_key,
        saves.save_number,
        coalesce(by_run.stage, by_period.stage) as stage,
        case when by_run.stage is not null then 'run_config' when by_period.stage is not null then 'config' end
            as stage_evidence
    from saves
    left join by_run using (session_key, save_number)
    left join by_period using (session_key, save_number)
)

select * from final
