-- the job name stays where the patterns would leave nothing of it
create or replace macro run_name_of(job_name, patterns) as
    coalesce(
        nullif(trim(list_reduce(
            list_prepend(job_name, patterns),
            lambda kept, pattern: regexp_replace(kept, pattern, '')
        )), ''),
        job_name
    );
