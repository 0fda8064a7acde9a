-- A row: one event with its incident: events of one node, each at most incident_gap_min after the end of those before.
-- XID 45 is the clean-up of a process, 154 tells what to do about another: after another event of their incident they
-- are secondary to it, and so is a 45 after a 45. Messages of one second come in their causal order: others first.
with events as (select * from intermediate.int_xid_events_coalesced),
settings as (select * from meta.settings),

ordered as (
    select
        *,
        kind = 'xid' and code in (45, 154) as is_follower,
        row_number() over (
            order by
                date_trunc('second', event_at), kind = 'xid' and code in (45, 154), event_at, first_sign_key, event_id
        ) as place
    from events
    where node is not null and event_at is not null
),

beside_earlier as (
    select
        *,
        max(ended_at) over (partition by node order by place rows between unbounded preceding and 1 preceding)
            as earlier_until_at
    from ordered
),

numbered as (
    select
        beside_earlier.*,
        sum(
            coalesce(minutes_between(earlier_until_at, event_at) > settings.failures_incident_gap_min, true)::integer
        ) over (partition by node order by place rows unbounded preceding) as incident_number
    from beside_earlier
    cross join settings
),

named as (
    select
        *,
        first_value(event_id) over incident as first_event_id,
        first_value(event_at) over incident as incident_at,
        last_value(if(is_follower, null, event_id) ignore nulls) over (
            partition by node, incident_number order by place rows between unbounded preceding and 1 preceding
        ) as node_primary_id,
        last_value(if(is_follower, null, event_id) ignore nulls) over (
            partition by node, incident_number, gpu_key order by place rows between unbounded preceding and 1 preceding
        ) as gpu_primary_id
    from numbered
    window incident as (partition by node, incident_number order by place)
),

causes as (select node, incident_number, code, place, event_id from named where kind = 'xid'),

traced as (
    select
        named.*,
        case
            when named.is_follower and named.event_id <> named.first_event_id
                then coalesce(causes.event_id, named.gpu_primary_id, named.node_primary_id, named.first_event_id)
        end as primary_event_id
    from named
    asof left join causes
        on causes.node = named.node
        and causes.incident_number = named.incident_number
        and causes.code = named.cause_code
        and causes.place < named.place
),

starts as (
    select distinct node, incident_number, incident_at from named
),

-- two within one second are told apart by their place
ids as (
    select
        node,
        incident_number,
        concat_ws(
            ':', 'inc', node, strftime(incident_at, '%Y-%m-%dT%H:%M:%SZ'),
            nullif(row_number() over (
                partition by node, date_trunc('second', incident_at) order by incident_number
            ), 1)
        ) as incident_id
    from starts
),

final as (
    select
        events.*,
        traced.place,
        traced.primary_event_id is not null as is_secondary,
        traced.primary_event_id,
        ids.incident_id
    from events
    left join traced using (event_id)
    left join ids on ids.node = traced.node and ids.incident_number = traced.incident_number
)

select * from final
