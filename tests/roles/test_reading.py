"""Roles as analyses read them: in their own unit, by node, by GPU, by change."""

import json
import math
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import polars as pl

from gangline.roles import ROLES, ResolvedRole, role_by_gpu, role_by_node, role_changes
from gangline.store.identity import NodeRule, identify
from gangline.store.matrix import Grid
from tests.store.stored import T0, Points, Stored, batch, stored

START, END = datetime(2024, 3, 1, tzinfo=UTC), datetime(2024, 3, 2, tzinfo=UTC)
SERIES = {
    "series_id": pl.Int64, "node": pl.String, "gpu_index": pl.Int32, "gpu_uuid": pl.String, "labels": pl.String,
}  # fmt: skip


def role_of(made: Stored, role: str, *series: tuple[dict[str, str], Points]) -> ResolvedRole:
    """A role played by its first source, its series loaded."""
    definition = ROLES[role]
    source = definition.sources[0]
    rows = []
    for number, (labels, points) in enumerate(series):
        labels = {"__name__": source.metric, "instance": "n1:9100", **dict(source.labels), **labels}
        made.load(f"f{number}", batch(points, source.metric, **{k: v for k, v in labels.items() if k != "__name__"}))
        identity = identify(labels, NodeRule())
        rows.append((identity.series_id, identity.node_text, identity.gpu_index, identity.gpu_uuid, json.dumps(labels)))
    made.settle()
    frame = pl.DataFrame(rows, schema=SERIES, orient="row")
    return ResolvedRole(role, source.kind or definition.kind, definition.unit, source, False, frame)


def test_a_level_by_node_and_by_gpu_in_its_unit(tmp_path: Path) -> None:
    with stored(tmp_path) as made:
        gpus = [({"gpu": str(gpu), "Hostname": f"n{node}"}, {T0: 50.0 * gpu}) for node in (1, 2) for gpu in (0, 1)]
        role = role_of(made, "gpu_util", *gpus)
        by_node, by_gpu = (
            role_by_node(made.store, role, Grid(T0, 10, 1)),
            role_by_gpu(made.store, role, Grid(T0, 10, 1)),
        )
    assert (by_node.columns, by_node.values.tolist()) == (("n1", "n2"), [[0.25, 0.25]])
    assert (by_gpu.columns, by_gpu.values.tolist()) == (("n1/0", "n1/1", "n2/0", "n2/1"), [[0.0, 0.5, 0.0, 0.5]])


def test_mounts_of_one_export_that_count_alike_count_once(tmp_path: Path) -> None:
    counts = {T0: 0.0, T0 + 10: 30.0}
    with stored(tmp_path) as made:
        role = role_of(
            made,
            "nfs_write_bytes",
            ({"export": "a", "mountaddr": "1"}, counts),
            ({"export": "a", "mountaddr": "2"}, counts),
            ({"export": "b", "mountaddr": "1"}, counts),
        )
        assert role_by_node(made.store, role, Grid(T0, 10, 1)).values.tolist() == [[60.0]]


def test_changes_of_a_sticky_gauge_are_events_once(tmp_path: Path) -> None:
    """A code that stays for 120 samples is one event; what a series begins with was not seen to begin."""
    points = {T0 + 1000 * n: 79.0 for n in range(120)} | {T0 + 200_000: 0.0, T0 + 201_000: 31.0, T0 + 202_000: 31.0}
    with stored(tmp_path) as made:
        role = role_of(
            made, "xid", ({"gpu": "0"}, {T0 - 1: 0.0} | points), ({"gpu": "1"}, {T0: 94.0, T0 + 9: math.nan})
        )
        changes = role_changes(made.store, role, START, END)
        earlier = role_changes(made.store, role, datetime(2024, 2, 29, tzinfo=UTC), END)
    assert changes.select("gpu_index", "value", "is_first_sample").rows() == [
        (0, 79.0, True), (1, 94.0, True), (0, 31.0, False),
    ]  # fmt: skip
    assert earlier.row(0, named=True)["is_first_sample"] is False
    assert earlier["at"].to_list()[-1] == datetime(2024, 3, 1, 0, 3, 21, tzinfo=UTC)


def test_a_role_without_samples_in_the_window_is_empty(tmp_path: Path) -> None:
    with stored(tmp_path) as made:
        role = role_of(made, "xid", ({"gpu": "0"}, {T0: 1.0}))
        assert role_changes(made.store, role, END, datetime(2024, 3, 3, tzinfo=UTC)).is_empty()
        assert np.isnan(role_by_node(made.store, role, Grid(T0 + 10, 10, 3)).values).all()
