"""Which labels make a series, and which only pass by."""

import pytest

from gangline.store.identity import NodeRule, identify

DCGM = {
    "__name__": "DCGM_FI_DEV_XID_ERRORS", "gpu": "5", "UUID": "GPU-5", "hostname": "gpu062", "job": "dcgm",
    "instance": "10.0.0.1:9400", "device": "nvidia5", "pci_bus_id": "0:1B", "modelName": "H100", "pod": "train-1",
    "DCGM_FI_DRIVER_VERSION": "550", "err_code": "0", "err_msg": "No Error",
}  # fmt: skip
NFS = {
    "__name__": "node_mountstats_nfs_operations_sent_bytes_total", "instance": "gpu062.dc1:9100", "job": "node",
    "export": "s:/fs", "operation": "WRITE", "mountaddr": "10.0.0.9", "protocol": "tcp",
}  # fmt: skip


def same(left: dict[str, str], right: dict[str, str]) -> bool:
    return identify(left, NodeRule()).series_id == identify(right, NodeRule()).series_id


@pytest.mark.parametrize(
    "change",
    [
        {"err_code": "94", "err_msg": "Contained ECC error"},
        {"pod": "train-2", "namespace": "x", "container": "y"},
        {"DCGM_FI_DRIVER_VERSION": "560", "modelName": "NVIDIA H100"},
        {"instance": "10.0.0.7:9400", "job": "gpu"},
        {"hostname": "", "Hostname": "gpu062"},
        {"cluster": "a", "replica": "prom-1"},
        {"UUID": "", "uuid": "GPU-5"},
    ],
)
def test_a_restart_does_not_make_a_new_series_of_a_gpu(change: dict[str, str]) -> None:
    assert same(DCGM, DCGM | change)


@pytest.mark.parametrize(
    "change",
    [
        {"gpu": "4"},
        {"UUID": "GPU-9"},
        {"hostname": "gpu063"},
        {"GPU_I_ID": "1", "GPU_I_PROFILE": "1g.10gb"},
        {"__name__": "DCGM_FI_DEV_GPU_TEMP"},
    ],
)
def test_another_gpu_or_part_of_one_is_another_series(change: dict[str, str]) -> None:
    assert not same(DCGM, DCGM | change)


def test_node_metrics_keep_what_they_measure() -> None:
    assert same(NFS, NFS | {"job": "node2", "pod": "exporter-x", "instance": "gpu062.dc1:9999"})
    for change in ({"operation": "READ"}, {"mountaddr": "10.0.0.8"}, {"export": "t:/fs"}, {"instance": "gpu063:9100"}):
        assert not same(NFS, NFS | change)


def test_exporters_about_themselves_keep_their_job() -> None:
    up = {"__name__": "up", "instance": "gpu062:9100", "job": "node"}
    assert not same(up, up | {"job": "dcgm"})
    assert not same(up, up | {"instance": "gpu062:9400"})


def test_what_a_rule_recorded_is_of_the_exporter_that_it_names() -> None:
    """Two exporters of one host, each averaged by the same rule, are no sample that stands twice."""
    recorded = {"__name__": "instance:up:avg", "instance": "gpu062:9100", "job": "node"}
    assert identify(recorded, NodeRule()).node_text == "gpu062"
    assert not same(recorded, recorded | {"instance": "gpu062:9400"})
    assert not same(recorded, recorded | {"job": "dcgm"})
    assert same(recorded, recorded | {"hostname": "gpu062", "replica": "b"})


def test_points_of_a_grid_are_apart() -> None:
    assert identify(NFS, NodeRule()).series_id != identify(NFS, NodeRule(), is_gridded=True).series_id


def test_ids_do_not_change() -> None:
    """They are in others' notes and queries: a change of the rule needs a new version of the reader."""
    assert identify(DCGM, NodeRule()).series_id == 1566112957389114334
    assert identify({"__name__": "m"}, NodeRule()).series_id == 5496816279253911280


@pytest.mark.parametrize(
    ("labels", "node"),
    [
        ({"instance": "127.0.0.1:9404"}, "127.0.0.1"),
        ({"instance": "x:1", "exported_instance": "gpu-node-03:9090"}, "gpu-node-03"),
        ({"instance": "x:1", "node": "i-gpu7"}, "gpu7"),
        ({"instance": "x:1", "hostname": "", "Hostname": "gpu8"}, "gpu8"),
        ({"job": "x"}, None),
    ],
)
def test_the_node_by_its_first_label(labels: dict[str, str], node: str | None) -> None:
    assert identify({"__name__": "m"} | labels, NodeRule()).node_text == node


def test_all_smi_writes_the_model_under_gpu() -> None:
    labels = {"__name__": "all_smi_gpu_utilization", "gpu": "NVIDIA H100", "gpu_index": "3", "gpu_uuid": "GPU-3"}
    identity = identify(labels | {"instance": "n:1"}, NodeRule())
    assert (identity.gpu_index, identity.gpu_uuid, identity.node_text) == (3, "GPU-3", "n")


def test_a_numa_node_is_no_host_and_stays_apart() -> None:
    sets = [
        {"__name__": "node_memory_numa_MemFree", "instance": f"{host}:9100", "node": numa}
        for host in ("gpu1", "gpu2")
        for numa in ("0", "1")
    ]
    found = [identify(labels, NodeRule()) for labels in sets]
    assert [series.node_text for series in found] == ["gpu1", "gpu1", "gpu2", "gpu2"]
    assert len({series.series_id for series in found}) == 4
    assert identify({"__name__": "x", "node": "7"}, NodeRule()).node_text == "7"
