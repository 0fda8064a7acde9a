"""What broke jobs off: each end put down to a kind of fault by what tells of it, beside published shares."""

import duckdb
import polars as pl

from gangline.estimates import Estimate
from gangline.estimates.proportions import proportion
from gangline.exposures import Exposure
from gangline.warehouse.querying import query
from gangline.windows import Window

NOT_ATTRIBUTED, HARDWARE, ECC = "not_attributed", "host_hardware", "ecc"
KINDS = (HARDWARE, ECC, "host_software", "network", "other", NOT_ATTRIBUTED)
NO_ENDS = "no gang session that trained ended in the window, but completed or as planned"
NOTHING_TELLS = "nothing tells"


def ends(con: duckdb.DuckDBPyConnection, found: Exposure) -> pl.DataFrame:
    """Ends of gang sessions that trained, neither completed nor planned, each with what it is put down to.

    By the best evidence that stands near it: an incident of the node's kernel log or gauge, else what the session's
    output tells (a symptom is no cause), else the scheduler's own reason.

    Returns
    -------
    DataFrame
        session_id, ended_at, end_class, node, evidence (incident, signature, end_reason or "nothing tells"), cause (its
        name there), kind (of staging.failure_kinds), reason (why it is not attributed).
    """
    return query(con, _ENDS, ids=found.ends["session_id"].to_list())


def shares(caused: pl.DataFrame) -> dict[str, Estimate]:
    """`failures.share.<kind>` of all `ends`, Wilson; hardware includes ECC, so that the six sum to more than 1."""
    n, hits = caused.height, dict.fromkeys(KINDS, 0)
    for kind in caused["kind"].to_list():
        hits[kind] += 1
    hits[HARDWARE] += hits[ECC]
    missing = Estimate.missing("ratio", NO_ENDS, n=0)
    return {f"failures.share.{kind}": proportion(hits[kind], n) if n else missing for kind in KINDS}


def beside(con: duckdb.DuckDBPyConnection, caused: pl.DataFrame) -> pl.DataFrame:
    """Shares beside the published ones, of all ends and of the attributed ones alone.

    kind, ends, all_share, low_share, high_share, attributed_share (null for what is not attributed), published_share.
    """
    known = caused.filter(pl.col("kind") != NOT_ATTRIBUTED)
    of_all, of_known = shares(caused), shares(known)
    rows = []
    for kind, label, published in query(con, _PUBLISHED).rows():
        said, among = of_all[f"failures.share.{kind}"], of_known[f"failures.share.{kind}"]
        attributed = None if kind == NOT_ATTRIBUTED else among.value
        rows.append((label, said.numerator, said.value, said.low, said.high, attributed, published))
    return pl.DataFrame(rows, schema=_BESIDE, orient="row")


def by_cause(caused: pl.DataFrame) -> pl.DataFrame:
    """Ends by what they are put down to, commonest first: evidence, cause, kind, ends, all_share."""
    counted = caused.group_by("evidence", pl.coalesce("cause", "reason").alias("cause"), "kind").agg(ends=pl.len())
    shared = counted.with_columns(all_share=pl.col("ends") / max(1, caused.height))
    return shared.sort(["ends", "cause"], descending=[True, False])


def by_class(incidents: pl.DataFrame) -> pl.DataFrame:
    """Incidents by class, commonest first: class, incidents, all_share, nodes, events, with_an_end, kinds."""
    grouped = incidents.group_by("class").agg(
        incidents=pl.len(),
        nodes=pl.col("node").n_unique(),
        events=pl.col("event_count").sum(),
        with_an_end=pl.col("session_id").count(),
        kinds=pl.col("kind").unique().sort().str.join(", "),
    )
    shared = grouped.with_columns(all_share=pl.col("incidents") / max(1, incidents.height))
    columns = ("class", "incidents", "all_share", "nodes", "events", "with_an_end", "kinds")
    return shared.select(columns).sort(["incidents", "class"], descending=[True, False])


def signatures(con: duckdb.DuckDBPyConnection, window: Window) -> pl.DataFrame:
    """What sessions' own output says of their ends, all that ended in a window and were not completed.

    signature (else "not attributed"), reason, ends, all_share; what is not attributed last.
    """
    counted = query(con, _SIGNATURES, start=window.start, end=window.end)
    return counted.with_columns(all_share=pl.col("ends") / max(1, int(counted["ends"].sum())))


def unsigned(counted: pl.DataFrame) -> Estimate:
    """The share of those ends that no line of output is put to; takes `signatures`."""
    total = int(counted["ends"].sum())
    if not total:
        return Estimate.missing("ratio", "no session ended in the window, but completed", n=0)
    return proportion(int(counted.filter(pl.col("reason").is_not_null())["ends"].sum()), total)


_BESIDE = {"kind": pl.String, "ends": pl.Int64} | dict.fromkeys(
    ("all_share", "low_share", "high_share", "attributed_share", "published_share"), pl.Float64
)
_PUBLISHED = "select kind, label, published_share from staging.published_kinds order by place"
_ENDS = f"""
with asked as (select unnest($ids::varchar[]) as session_id),
incidents as (
    select session_id, node, kind as name, class from marts.incidents where session_id is not null
    qualify row_number() over (partition by session_id order by abs(attribution_gap_min), started_at, incident_id) = 1
),
told as (
    select sessions.session_id, sessions.ended_at, sessions.end_class, sessions.end_reason,
        incidents.node as incident_node, incidents.name as incident, faults.kind as incident_kind,
        signed.signature, signed.node as signed_node, signed.reason, texts.kind as signature_kind,
        ends.kind as end_kind
    from asked
    join marts.sessions as sessions using (session_id)
    left join incidents using (session_id)
    left join marts.session_signatures as signed using (session_id)
    left join staging.failure_kinds as faults on faults.evidence = 'incident' and faults.name = incidents.class
    left join staging.failure_kinds as texts on texts.evidence = 'signature' and texts.name = signed.signature
    left join staging.failure_kinds as ends on ends.evidence = 'end_reason' and ends.name = sessions.end_reason
),
judged as (
    select *,
        case
            when incident is not null then 'incident'
            when coalesce(signature_kind, '{NOT_ATTRIBUTED}') <> '{NOT_ATTRIBUTED}' then 'signature'
            when end_kind is not null then 'end_reason'
            when signature is not null then 'signature'
            else '{NOTHING_TELLS}'
        end as evidence
    from told
)
select session_id, ended_at, end_class,
    case evidence when 'incident' then incident_node when 'signature' then signed_node end as node,
    evidence,
    case evidence when 'incident' then incident when 'signature' then signature when 'end_reason' then end_reason end
        as cause,
    coalesce(case evidence
        when 'incident' then coalesce(incident_kind, 'other') when 'signature' then signature_kind
        when 'end_reason' then end_kind
    end, '{NOT_ATTRIBUTED}') as kind,
    if(evidence = '{NOTHING_TELLS}', coalesce(reason, 'no console output'), null) as reason
from judged order by ended_at, session_id
"""  # noqa: S608
_SIGNATURES = """
    with counted as (
        select coalesce(signature, 'not attributed') as signature, role, reason, count(*) as ends
        from marts.session_signatures as signed
        where ended_at >= $start and ended_at < $end
        group by signed.signature, role, reason
    )
    from counted order by (reason is not null), ends desc, signature, reason
"""
