"""The table of further metrics: as many as published, well formed, and none that an analysis would read instead."""

from collections import Counter

from gangline.roles.definitions import ROLES
from gangline.simulate.exporter_instances import instances_of
from gangline.simulate.exporter_metrics import KINDS, MOTIONS, ExporterMetric, exporter_metrics
from gangline.simulate.hardware import PORT_OF_JOB
from gangline.simulate.telemetry_days import TelemetryDays
from tests.simulate.small_plan import PLAN

PUBLISHED_METRICS, PUBLISHED_ACTIVE = 751, 305  # of arXiv 2605.09370
STILL = {"node_filesystem_size_bytes"}  # of the default's
NEWLY_PLAYED = {
    "gpu_clock",
    "gpu_energy",
    "gpu_memory_temp",
    "gpu_memory_used",
    "gpu_temp",
    "gpu_tensor_active",
    "nic_received_bytes",
    "nic_sent_bytes",
    "nvlink_bandwidth",
    "pcie_replays",
    "xid_count",
}


def _default() -> set[str]:
    days = TelemetryDays(PLAN)
    return {block.metric for day in days.grid.days() for block in days.blocks(day)}


def test_with_the_default_s_they_are_as_many_as_published() -> None:
    default = _default()
    names = {row.metric for row in exporter_metrics()}
    active = {row.metric for row in exporter_metrics() if row.moves != "never"}
    assert names & default == set()
    assert len(names | default) == PUBLISHED_METRICS
    assert len(active | default - STILL) == PUBLISHED_ACTIVE


def test_no_role_that_the_default_plays_changes_its_metric() -> None:
    default = _default()
    every = default | {row.metric for row in exporter_metrics()}
    for role, definition in ROLES.items():
        played = [source.metric for source in definition.sources if source.metric in default]
        now = [source.metric for source in definition.sources if source.metric in every]
        assert role in NEWLY_PLAYED if now and not played else now[:1] == played[:1], role


def _faults(row: ExporterMetric) -> list[str]:
    is_moving = row.spread > 0 or row.idle != row.busy or (row.kind == "counter" and row.idle > 0)
    rules = {
        "job": row.job in PORT_OF_JOB,
        "kind": row.kind in KINDS,
        "moves": row.moves in MOTIONS and (row.moves != "never") == is_moving,
        "instances": bool(instances_of(row.instances, "gpu071", 8)),
        "spread": row.kind == "gauge" or row.spread <= min(row.idle, row.busy),
        "slow counter": (row.kind, row.moves) != ("counter", "slowly") or (row.spread == 0 and row.busy >= row.idle),
        "decimals": 0 <= row.decimals <= 9 and min(row.idle, row.busy, row.spread) >= 0,
    }
    return [f"{row.metric}: {rule}" for rule, is_kept in rules.items() if not is_kept]


def test_rows_are_well_formed() -> None:
    assert [fault for row in exporter_metrics() for fault in _faults(row)] == []


def test_no_two_rows_make_the_same_series() -> None:
    rows = Counter((row.metric, row.labels) for row in exporter_metrics())
    assert [row for row, count in rows.items() if count > 1] == []
    shapes = {row.metric: set() for row in exporter_metrics()}  # type: dict[str, set[tuple[str, ...]]]
    for row in exporter_metrics():
        shapes[row.metric].add((row.job, row.instances, row.kind, *sorted(row.own_labels)))
    assert [metric for metric, own in shapes.items() if len(own) > 1] == []


def test_every_instance_has_labels_of_its_own() -> None:
    for name in {row.instances for row in exporter_metrics()}:
        labels = [tuple(sorted(own.items())) for own in instances_of(name, "gpu071", 8)]
        assert len(set(labels)) == len(labels), name
        assert not any("node" in own for own in instances_of(name, "gpu071", 8)), name
