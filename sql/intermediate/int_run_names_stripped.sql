-- A row: one job name, with the run name that it stands for.
with records as (select * from intermediate.int_session_records_dated),
settings as (select * from meta.settings),

job_names as (select distinct job_name from records where job_name is not null),

final as (
    select job_names.job_name, run_name_of(job_names.job_name, settings.run_name_strip) as run_name
    from job_names
    cross join settings
)

select * from final
