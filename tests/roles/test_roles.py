"""Roles resolve to the first metric that is there, and the page lists every one."""

import json
import re
from pathlib import Path

import duckdb
import pytest

from gangline.cli.diagnosis import Finding, diagnose
from gangline.config import load
from gangline.config.model import Role
from gangline.ingest import ingest
from gangline.roles import ROLES, RoleError, RoleKind, present_roles, resolve, roles_page
from gangline.roles.resolving import check_names
from tests.conftest import ROOT

COLUMNS = """series_id bigint, metric varchar, node varchar, gpu_index integer, gpu_uuid varchar, labels json,
    first_at timestamptz, last_at timestamptz, step_s double, is_gridded boolean"""


def warehouse(*series: tuple[str, dict[str, str], bool]) -> duckdb.DuckDBPyConnection:
    con = duckdb.connect()
    con.execute("create schema marts")
    con.execute(f"create table marts.series ({COLUMNS})")
    for number, (metric, labels, is_gridded) in enumerate(series):
        con.execute(
            "insert into marts.series values (?, ?, 'n1', null, null, ?, now(), now(), 30, ?)",
            [number, metric, json.dumps(labels), is_gridded],
        )
    return con


def test_the_first_source_that_is_there_plays_the_role() -> None:
    con = warehouse(
        ("node_disk_written_bytes_total", {"device": "sda"}, False), ("gpfs_perf_write_bytes_total", {}, False)
    )
    resolved = resolve(con, "storage_write_bytes")
    assert resolved is not None
    assert (resolved.source.exporter, str(resolved), resolved.kind) == (
        "gpfs_exporter", "gpfs_perf_write_bytes_total", RoleKind.COUNTER,
    )  # fmt: skip
    assert resolve(con, "gpu_util") is None
    assert set(present_roles(con)) == {"storage_write_bytes"}


def test_labels_choose_the_series() -> None:
    metric = "node_mountstats_nfs_operations_sent_bytes_total"
    con = warehouse((metric, {"operation": "READ"}, False), (metric, {"operation": "WRITE"}, False))
    resolved = resolve(con, "nfs_write_bytes")
    assert resolved is not None
    assert (resolved.series["series_id"].to_list(), str(resolved)) == ([1], f'{metric}{{operation="WRITE"}}')
    assert resolve(warehouse((metric, {"operation": "GETATTR"}, False)), "nfs_write_bytes") is None


def test_labels_can_be_ruled_out() -> None:
    metric = "node_network_transmit_bytes_total"
    resolved = resolve(
        warehouse((metric, {"device": "lo"}, False), (metric, {"device": "eth0"}, False)), "nic_sent_bytes"
    )
    assert resolved is not None
    assert resolved.series["series_id"].to_list() == [1]


def test_samples_go_before_points_of_a_grid() -> None:
    metric = "DCGM_FI_DEV_GPU_UTIL"
    both = resolve(warehouse((metric, {}, True), (metric, {}, False)), "gpu_util")
    grid = resolve(warehouse((metric, {}, True)), "gpu_util")
    assert both is not None
    assert grid is not None
    assert (both.is_gridded, both.series["series_id"].to_list(), grid.is_gridded) == (False, [1], True)


def test_the_config_goes_first_and_keeps_the_known_unit() -> None:
    con = warehouse(("DCGM_FI_DEV_GPU_UTIL", {"a": "1"}, False), ("my_util", {}, False))
    configured = {"gpu_util": Role(metric="DCGM_FI_DEV_GPU_UTIL", labels={"a": "1"})}
    resolved = resolve(con, "gpu_util", configured)
    assert resolved is not None
    assert (resolved.source.scale, resolved.series.height) == (0.01, 1)
    own = resolve(con, "gpu_util", {"gpu_util": Role(metric="my_util")})
    assert own is not None
    assert (own.source.scale, own.source.exporter) == (1.0, "config")
    assert resolve(con, "gpu_util", {"gpu_util": Role(metric="absent")}) is None


def test_a_level_can_play_a_counter() -> None:
    labels = {"category": "ops", "stat": "WRITE_BYTES"}
    resolved = resolve(warehouse(("weka_stats", labels, False)), "storage_write_bytes")
    assert resolved is not None
    assert (resolved.kind, resolved.unit) == (RoleKind.LEVEL, "bytes/s")


def test_an_unknown_role_names_the_nearest() -> None:
    with pytest.raises(RoleError, match="gpu_utl is no role; did you mean gpu_util"):
        resolve(warehouse(), "gpu_utl")


def test_a_name_in_the_config_that_is_no_role_is_told_with_its_line_and_the_nearest(tmp_path: Path) -> None:
    path = tmp_path / "cluster.toml"
    path.write_text('[cluster]\nname = "a"\ntime_zone = "UTC"\n[roles]\nxid.metric = "x"\ngpu_utl.metric = "x"\n')
    said = f"{path}:6: [roles] gpu_utl is no role; did you mean gpu_util? (docs/roles.md lists them)"
    with pytest.raises(RoleError, match=re.escape(said)):
        ingest(load(path))
    assert Finding("bad", "roles", said) in diagnose(path)
    path.write_text(path.read_text().replace("gpu_utl", "gpu_util"))
    check_names(load(path))


def test_the_page_is_as_the_roles_are() -> None:
    """Write it again with `python -m gangline.roles.page > docs/roles.md`."""
    assert (ROOT / "docs/roles.md").read_text() == roles_page()


def test_ids_are_snake_case_and_every_role_can_be_played() -> None:
    assert all(re.fullmatch("[a-z]+(_[a-z]+)*", role) for role in ROLES)
    assert all(definition.sources for definition in ROLES.values())
    needed = {
        "gpu_util", "gpu_power", "gpu_temp", "nfs_write_bytes", "nfs_read_bytes", "backlog", "interrupts", "runnable",
        "page_out", "dirty", "write_back", "shm_used", "remapped_rows", "xid", "link_errors",
    }  # fmt: skip
    assert needed <= set(ROLES)


def test_metrics_of_node_exporter_exist(shared_data: object) -> None:
    page = (shared_data / "public/node_exporter/e2e-output.txt").read_text()  # type: ignore[operator]
    known = set(re.findall(r"^# TYPE (\S+)", page, re.MULTILINE))
    used = {s.metric for d in ROLES.values() for s in d.sources if s.metric.startswith("node_")}
    of_the_host = {metric for metric in used if metric.startswith("node_filesystem_")}  # its tests leave them out
    assert used - known - of_the_host == set()
