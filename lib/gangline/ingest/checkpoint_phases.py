"""Saves, loads and phases of gang sessions (analyses 6), read from the store day by day into `meta.checkpoint_*`."""

import duckdb

from gangline.config.model import Config
from gangline.phases.findings import found_in
from gangline.phases.gathering import Gathering, Member
from gangline.phases.rows import Rows
from gangline.phases.rules import NO_LOAD_RULE, NO_SAVE_RULE, Rules
from gangline.phases.watching import Watching
from gangline.roles.resolving import ResolvedRole, resolve
from gangline.warehouse.opening import samples_of
from gangline.warehouse.querying import query

WRITE, READ, UTIL = "nfs_write_bytes", "nfs_read_bytes", "gpu_util"
NO_SAMPLES = "no sample of what its nodes write or read, from its time"

_ASKED = """
    select session_key, node, coalesce(gpus, 'infinity') as gpus, epoch_ms(started_at) as start_ms,
        epoch_ms(until_at) as until_ms
    from intermediate.int_checkpoint_members_asked order by session_key, node
"""


def fill_checkpoint_phases(con: duckdb.DuckDBPyConnection, config: Config) -> None:
    """Fills `meta.checkpoint_rules`, `_sessions`, `_phases`, `_saves` and `_loads` for the members that are asked for.

    Where neither saves nor loads can be told, only the rules are filled, with the reasons.
    """
    rules, roles = Rules.of(config), {role: resolve(con, role, config.roles) for role in (WRITE, READ, UTIL)}
    reasons = _save_reason(rules, roles), _load_reason(rules, roles)
    _record_rules(con, rules, roles, reasons)
    told, rows = rules.without_saves() if reasons[0] else rules, Rows()
    sessions = [] if all(reasons) else _sessions(con)
    if sessions:
        store = samples_of(con, config)
        watching = Watching(store, roles[WRITE], roles[READ], roles[UTIL], rules.writer_min_bytes_per_s)
        for session in watching.finished(sessions):
            _add(rows, session, told)
    for table, frame in rows.frames().items():
        con.execute(f"delete from meta.{table}")  # noqa: S608
        con.register("found", frame)
        con.execute(f"insert into meta.{table} by name select * from found")  # noqa: S608
        con.unregister("found")


def _add(rows: Rows, session: Gathering, rules: Rules) -> None:
    if session.beat is None:
        rows.add_unread(session.session_key, len(session.members), NO_SAMPLES)
    else:
        steps = session.steps()
        rows.add(session.session_key, steps, found_in(steps, rules))


def _sessions(con: duckdb.DuckDBPyConnection) -> list[Gathering]:
    members: dict[int, list[Member]] = {}
    for session_key, node, gpus, start_ms, until_ms in query(con, _ASKED).iter_rows():
        members.setdefault(session_key, []).append(Member(node, start_ms, until_ms, gpus))
    return [Gathering(session_key, own) for session_key, own in members.items()]


def _save_reason(rules: Rules, roles: dict[str, ResolvedRole | None]) -> str | None:
    if rules.save_start_bytes_per_s is None:
        return NO_SAVE_RULE
    return None if roles[WRITE] else f"no metric tells what nodes write ({WRITE})"


def _load_reason(rules: Rules, roles: dict[str, ResolvedRole | None]) -> str | None:
    if rules.load_read_bytes_per_s is None:
        return NO_LOAD_RULE
    if not roles[READ]:
        return f"no metric tells what nodes read ({READ})"
    return None if roles[UTIL] else f"no metric tells how busy GPUs are ({UTIL})"


def _record_rules(
    con: duckdb.DuckDBPyConnection,
    rules: Rules,
    roles: dict[str, ResolvedRole | None],
    reasons: tuple[str | None, str | None],
) -> None:
    thresholds = rules.save_start_bytes_per_s, rules.save_end_bytes_per_s, rules.load_read_bytes_per_s
    metrics = [None if roles[role] is None else str(roles[role]) for role in (WRITE, READ, UTIL)]
    con.execute("delete from meta.checkpoint_rules")
    con.execute("insert into meta.checkpoint_rules values (?, ?, ?, ?, ?, ?, ?, ?)", [*thresholds, *metrics, *reasons])
