-- A row: one partition and GPU model that gang sessions ran in, with a number.
with gangs as (select * from intermediate.int_gangs_found),

pools as (select distinct partition, gpu_model from gangs),

final as (
    select row_number() over (order by partition, gpu_model)::integer as pool_key, partition, gpu_model
    from pools
)

select * from final
