"""/proc/self/mountstats in files: what node_exporter would have given, at the times that `date` wrote."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from gangline.sources.prometheus_mountstats import is_mountstats
from gangline.sources.records import SourceRefusedError
from gangline.store.identity import NodeRule, identify
from tests.sources.prometheus_files import Read, read_bytes

T0 = 1_709_251_200_000
EVENTS = " ".join(map(str, range(100, 127)))
OTHER = "device proc mounted on /proc with fstype proc\ndevice /dev/sda1 mounted on / with fstype ext4\n"
MOUNT = f"""device 10.0.0.1:/data mounted on /data with fstype nfs4 statvers=1.1
\topts:\trw,vers=4.2,hard,proto=tcp,clientaddr=10.0.0.5,local_lock=none
\tage:\t77
\timpl_id:\tname='',domain='',date='0,0'
\tcaps:\tcaps=0xfff7,wtmult=512,dtsize=1048576,bsize=0,namlen=255
\tnfsv4:\tbm0=0xfdffbfff,bm1=0xf9be3e,bm2=0x0,acl=0x0,pnfs=not configured
\tsec:\tflavor=1,pseudoflavor=1
\tevents:\t{EVENTS}
\tbytes:\t11 12 13 14 15 16 17 18
\tRPC iostats version: 1.1  p/v: 100003/4 (nfs)
\txprt:\ttcp 832 0 1 2 3 400 399 5 9000 6 24 26 5726
\txprt:\ttcp 833 0 1 2 4 40 39 0 900 7 12 2 57
\tper-op statistics
\t        NULL: 1 1 0 44 24 0 0 0 0
\t       WRITE: 10 11 1 2000 300 18446744073709551615 2500 4001

"""
V3 = """device filer:/home mounted on /home with fstype nfs statvers=1.0
\topts:\trw,vers=3,proto=udp,mountaddr=10.0.0.9,mountproto=udp
\tage:\t5
\tbytes:\t1 2 3 4 5 6 7 8
\txprt:\tudp 900 1 20 19 2 30 3
\tper-op statistics
\t        READ: 1 2 3 4 5 6 7 8 9
"""
RDMA = V3.replace("proto=udp,", "proto=rdma,").replace(
    "udp 900 1 20 19 2 30 3", f"rdma 0 0 1 0 9 70 69 0 80 5 {' '.join(map(str, range(1, 19)))}"
)


def read(folder: Path, content: str, **options: object) -> Read:
    return read_bytes(folder, content.encode(), "gpu062.mountstats", **options)


def values(read: Read, metric: str, **labels: str) -> list[tuple[int, float]]:
    """The samples of the one series of a metric with these labels, in ms since T0."""
    wanted = {"__name__": f"node_mountstats_nfs_{metric}", **labels}.items()
    (batch,) = [batch for batch in read.batches if wanted <= batch.labels.items()]
    return list(zip((batch.times_ms - T0).tolist(), batch.values.tolist(), strict=True))


def test_a_snapshot_has_the_names_labels_and_units_of_node_exporter(tmp_path: Path) -> None:
    found = read(tmp_path, f"{T0 // 1000}\n{OTHER}{MOUNT}")
    assert found.log.rejected == 0
    mount = {"export": "10.0.0.1:/data", "mountaddr": "10.0.0.1", "protocol": "tcp", "instance": "gpu062"}
    write = {**mount, "operation": "WRITE"}
    assert {metric: values(found, f"operations_{metric}", **write)[0][1] for metric in OPERATIONS} == {
        "requests_total": 10,
        "transmissions_total": 11,
        "major_timeouts_total": 1,
        "sent_bytes_total": 2000,
        "received_bytes_total": 300,
        "queue_time_seconds_total": (2**53 - 1) / 1000,  # below 0 in the kernel; node_exporter wraps it so
        "response_time_seconds_total": 2.5,
        "request_time_seconds_total": 4.001,
    }
    assert [values(found, "transport_backlog_queue_total", **mount, transport=each) for each in "01"] == [
        [(0, 6.0)],
        [(0, 7.0)],
    ]
    assert values(found, "mountpoint_info", **mount, mountpoint="/data") == [(0, 1.0)]
    assert values(found, "age_seconds_total", **mount) == [(0, 77.0)]
    assert values(found, "read_pages_total", **mount) == [(0, 17.0)]
    assert values(found, "event_vfs_file_release_total", **mount) == [(0, 117.0)]
    assert values(found, "event_truncation_total", **mount) == [(0, 119.0)]  # 118 are congestion waits
    assert {batch.metric_kind for batch in found.batches} == {"counter", "gauge"}


OPERATIONS = (
    *("requests_total", "transmissions_total", "major_timeouts_total", "sent_bytes_total", "received_bytes_total"),
    *("queue_time_seconds_total", "response_time_seconds_total", "request_time_seconds_total"),
)


def test_the_ninth_number_of_an_operation_is_its_errors(tmp_path: Path) -> None:
    """node_exporter#1642: kernels since 5.3 write nine numbers, older ones eight."""
    found = read(tmp_path, f"{T0 // 1000}\n{MOUNT}{V3}")
    assert values(found, "operations_errors_total", operation="NULL") == [(0, 0.0)]
    assert values(found, "operations_errors_total", operation="READ") == [(0, 9.0)]
    with pytest.raises(ValueError, match="not enough values"):
        values(found, "operations_errors_total", operation="WRITE")


def test_transports_have_their_own_numbers(tmp_path: Path) -> None:
    udp = read(tmp_path, f"{T0 // 1000}\n{V3}")
    assert values(udp, "transport_sends_total", mountaddr="10.0.0.9", protocol="udp") == [(0, 20.0)]
    assert values(udp, "transport_backlog_queue_total") == [(0, 3.0)]
    assert not [labels for labels in udp.labels() if labels["__name__"].endswith(("idle_time_seconds", "rpc_slots"))]
    rdma = read(tmp_path, f"{T0 // 1000}\n{RDMA}")
    assert values(rdma, "transport_receives_total", protocol="rdma") == [(0, 69.0)]
    assert values(rdma, "transport_backlog_queue_total") == [(0, 5.0)]
    assert not [labels for labels in rdma.labels() if labels["__name__"].endswith("maximum_rpc_slots")]


def test_a_scrape_of_node_exporter_is_the_same_series(tmp_path: Path) -> None:
    scraped = {
        "__name__": "node_mountstats_nfs_operations_requests_total", "export": "10.0.0.1:/data", "operation": "WRITE",
        "mountaddr": "10.0.0.1", "protocol": "tcp", "instance": "gpu062:9100", "job": "node",
    }  # fmt: skip
    found = read(tmp_path, f"{T0 // 1000}\n{MOUNT}")
    ids = {identify(labels, NodeRule()).series_id for labels in found.labels()}
    assert identify(scraped, NodeRule()).series_id in ids


def test_one_export_mounted_at_two_places_counts_once(tmp_path: Path) -> None:
    found = read(tmp_path, f"{T0 // 1000}\n{MOUNT}{MOUNT.replace('on /data', 'on /again')}")
    assert len(values(found, "operations_requests_total", operation="WRITE")) == 1
    places = {labels["mountpoint"] for labels in found.labels() if "mountpoint" in labels}
    assert (places, found.log.rejected) == ({"/data", "/again"}, 0)


@pytest.mark.parametrize(
    ("first", "second", "zone"),
    [
        ("2024-03-01T00:00:00+00:00", "2024-03-01T09:00:30+09:00", "UTC"),
        ("=== 2024-03-01 09:00:00 ===", "# 2024-03-01 09:00:30", "Asia/Seoul"),
        ("1709251200", "1709251230.000000000", "UTC"),
        ("Fri Mar  1 00:00:00 UTC 2024", "Fri Mar  1 09:00:30 KST 2024", "Asia/Seoul"),
        ("Fri 01 Mar 2024 12:00:00 AM UTC", "Fri  1 Mar 2024 12:00:30 AM -00", "UTC"),
    ],
)
def test_snapshots_stand_at_the_times_before_them(tmp_path: Path, first: str, second: str, zone: str) -> None:
    later = MOUNT.replace("WRITE: 10 ", "WRITE: 25 ")
    found = read(tmp_path, f"{first}\n{OTHER}{MOUNT}{second}\n{OTHER}{later}", time_zone=zone)
    assert values(found, "operations_requests_total", operation="WRITE") == [(0, 10.0), (30_000, 25.0)]
    assert found.log.rejected == 0


def test_a_snapshot_alone_may_take_its_time_from_the_config(tmp_path: Path) -> None:
    at = datetime(2024, 3, 1, 0, 0, 1, tzinfo=UTC)
    found = read(tmp_path, OTHER + MOUNT + V3, exported_at=at)
    assert values(found, "operations_requests_total", operation="WRITE") == [(1000, 10.0)]
    assert found.log.rejected == 0
    twice = read(tmp_path, MOUNT + MOUNT, exported_at=at)
    assert values(twice, "operations_requests_total", operation="WRITE") == [(1000, 10.0)]
    (reject,) = twice.log.rejects
    assert (reject.line, reject.reason) == (17, "a snapshot without a time; write `date -Is` before each")


def test_what_nothing_tells_is_refused_with_the_mend(tmp_path: Path) -> None:
    with pytest.raises(SourceRefusedError, match=r"gpu062.mountstats:3: no time stands before .* `date -Is`"):
        read(tmp_path, OTHER + MOUNT)
    plain = tmp_path / "plain"
    plain.mkdir()
    with pytest.raises(SourceRefusedError, match=r"x: whose mountstats are these\? Name the file for its node"):
        read_bytes(plain, MOUNT.encode(), "x")
    (labels, *_) = read_bytes(plain, f"{T0 // 1000}\n{MOUNT}".encode(), "x", node="gpu001").labels()
    assert labels["instance"] == "gpu001"


def test_damage_costs_its_line_and_no_number_is_guessed(tmp_path: Path) -> None:
    content = (
        f"{T0 // 1000}\nhello\n"
        + MOUNT.replace("NULL: 1 1", "NULL: 1 x").replace("bytes:\t11 ", "bytes:\t")
        + "device broken\n\tage:\t1\n"
        + f"Fri Mar  1 09:00:30 PST 2024\n{V3}"
        + f"{T0 // 1000 + 60}\n{V3.rstrip()[:-2]}"
    )
    found = read(tmp_path, content)
    assert [(reject.line, reject.reason.partition(";")[0]) for reject in found.log.rejects] == [
        (2, "neither a time nor a mount"),
        (11, "a line of mountstats that cannot be read"),
        (16, "a line of mountstats that cannot be read"),
        (19, "no mount (device NAME mounted on PLACE with fstype TYPE)"),
        (21, "no instant"),
        (22, "a snapshot without a time"),
        (36, "the file breaks off inside this line"),
    ]
    assert values(found, "operations_requests_total", operation="WRITE") == [(0, 10.0)]
    assert values(found, "age_seconds_total", mountaddr="10.0.0.9") == [(60_000, 5.0)]
    assert not [labels for labels in found.labels() if labels.get("operation") == "READ"]


def test_it_is_told_by_content() -> None:
    assert is_mountstats(f"2024-03-01T00:00:00Z\n{OTHER}".encode())
    assert not is_mountstats(b'm{a="device a mounted on /b with fstype nfs"} 1 1709251200000\n')
