"""Every role, with the metrics that may play it, best first.

Names are those of dcgm-exporter's default counters, of node_exporter's collectors as its own end-to-end output lists
them, of all-smi, gpfs_exporter (its change log of 1.0.0), lustre_exporter and weka's exporter (its `stats` table).
"""

from dataclasses import dataclass
from enum import StrEnum

Labels = tuple[tuple[str, str], ...]


class RoleKind(StrEnum):
    """How its samples are to be read."""

    LEVEL = "level"
    COUNTER = "counter"
    EVENT = "event"


@dataclass(frozen=True)
class RoleSource:
    """One metric that can play a role.

    Attributes
    ----------
    labels, without
        Values that its labels must have, and those they must not have.
    scale
        What a sample is multiplied by to be in the role's unit.
    kind
        Where it is another one than the role's.
    """

    exporter: str
    metric: str
    labels: Labels = ()
    without: Labels = ()
    scale: float = 1.0
    kind: RoleKind | None = None


@dataclass(frozen=True)
class RoleDefinition:
    """A role: its unit (of a counter's increase), its meaning, its sources in order of preference."""

    kind: RoleKind
    unit: str
    meaning: str
    sources: tuple[RoleSource, ...]


def _dcgm(metric: str, scale: float = 1.0) -> RoleSource:
    return RoleSource("dcgm-exporter", f"DCGM_FI_{metric}", scale=scale)


def _all_smi(metric: str, scale: float = 1.0) -> RoleSource:
    return RoleSource("all-smi", f"all_smi_gpu_{metric}", scale=scale)


def _node(metric: str, labels: Labels = (), without: Labels = (), scale: float = 1.0) -> RoleSource:
    return RoleSource("node_exporter", f"node_{metric}", labels, without, scale)


def _nfs(metric: str, *operation: str) -> RoleSource:
    labels = tuple(("operation", name) for name in operation)
    return RoleSource("node_exporter mountstats", f"node_mountstats_nfs_{metric}", labels)


def _level(unit: str, meaning: str, *sources: RoleSource) -> RoleDefinition:
    return RoleDefinition(RoleKind.LEVEL, unit, meaning, sources)


def _counter(unit: str, meaning: str, *sources: RoleSource) -> RoleDefinition:
    return RoleDefinition(RoleKind.COUNTER, unit, meaning, sources)


_NFS_WRITE = _nfs("operations_sent_bytes_total", "WRITE")
_NFS_READ = _nfs("operations_received_bytes_total", "READ")
_LOOPBACK: Labels = (("device", "lo"),)
_NIC_SENT = _node("network_transmit_bytes_total", without=_LOOPBACK)
_NIC_RECEIVED = _node("network_receive_bytes_total", without=_LOOPBACK)
_IB_SENT = _node("infiniband_port_data_transmitted_bytes_total")
_IB_RECEIVED = _node("infiniband_port_data_received_bytes_total")


def _storage(direction: str, nfs: RoleSource, disk: str, nic: RoleSource) -> tuple[RoleSource, ...]:
    weka = (("category", "ops"), ("stat", f"{direction.upper()}_BYTES"))
    return (
        nfs,
        RoleSource("lustre_exporter", f"lustre_{direction}_bytes_total"),
        RoleSource("gpfs_exporter", f"gpfs_perf_{direction}_bytes_total"),
        RoleSource("weka exporter", "weka_stats", weka, kind=RoleKind.LEVEL),
        _node(disk),
        nic,
    )


ROLES: dict[str, RoleDefinition] = {
    "gpu_util": _level(
        "ratio", "share of time a kernel ran", _dcgm("DEV_GPU_UTIL", 0.01), _all_smi("utilization", 0.01)
    ),
    "gpu_power": _level("W", "power drawn", _dcgm("DEV_POWER_USAGE"), _all_smi("power_consumption_watts")),
    "gpu_temp": _level("°C", "temperature of the GPU", _dcgm("DEV_GPU_TEMP"), _all_smi("temperature_celsius")),
    "gpu_memory_temp": _level("°C", "temperature of its memory", _dcgm("DEV_MEMORY_TEMP")),
    "gpu_memory_used": _level("bytes", "memory in use", _dcgm("DEV_FB_USED", 1 << 20), _all_smi("memory_used_bytes")),
    "gpu_clock": _level("MHz", "clock of the SMs", _dcgm("DEV_SM_CLOCK"), _all_smi("frequency_mhz")),
    "gpu_tensor_active": _level("ratio", "share of cycles of the tensor pipe", _dcgm("PROF_PIPE_TENSOR_ACTIVE")),
    "gpu_energy": _counter("J", "energy used", _dcgm("DEV_TOTAL_ENERGY_CONSUMPTION", 0.001)),
    "xid": RoleDefinition(RoleKind.EVENT, "code", "the last XID; it stays until another", (_dcgm("DEV_XID_ERRORS"),)),
    "xid_count": RoleDefinition(
        RoleKind.EVENT,
        "events",
        "XIDs of one code in the exporter's window, by code",
        (RoleSource("dcgm-exporter", "DCGM_EXP_XID_ERRORS_COUNT"),),
    ),
    "remapped_rows": _counter("rows", "rows remapped after correctable errors", _dcgm("DEV_CORRECTABLE_REMAPPED_ROWS")),
    "remapped_rows_uncorrectable": _counter(
        "rows", "rows remapped after uncorrectable errors", _dcgm("DEV_UNCORRECTABLE_REMAPPED_ROWS")
    ),
    "row_remap_failure": _level("flag", "a row could not be remapped", _dcgm("DEV_ROW_REMAP_FAILURE")),
    "nvlink_bandwidth": _counter("as exported", "traffic over NVLink", _dcgm("DEV_NVLINK_BANDWIDTH_TOTAL")),
    "pcie_replays": _counter("replays", "PCIe packets sent again", _dcgm("DEV_PCIE_REPLAY_COUNTER")),
    "link_errors": _counter(
        "errors",
        "links that went down",
        _node("infiniband_link_downed_total"),
        _dcgm("DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL"),
    ),
    "nfs_write_bytes": _counter("bytes", "sent for WRITE", _NFS_WRITE),
    "nfs_read_bytes": _counter("bytes", "received for READ", _NFS_READ),
    "nfs_requests": _counter("requests", "requests, by operation", _nfs("operations_requests_total")),
    "nfs_request_time": _counter("s", "time from queue to end", _nfs("operations_request_time_seconds_total")),
    "nfs_queue_time": _counter("s", "time before it was sent", _nfs("operations_queue_time_seconds_total")),
    "nfs_response_time": _counter("s", "time until the answer", _nfs("operations_response_time_seconds_total")),
    "nfs_sent_bytes": _counter("bytes", "sent, by operation", _nfs("operations_sent_bytes_total")),
    "nfs_received_bytes": _counter("bytes", "received, by operation", _nfs("operations_received_bytes_total")),
    "nfs_major_timeouts": _counter("timeouts", "requests given up on", _nfs("operations_major_timeouts_total")),
    "nfs_transmissions": _counter("sends", "requests sent, repeats too", _nfs("operations_transmissions_total")),
    "nfs_program_write_bytes": _counter("bytes", "handed to write()", _nfs("write_bytes_total")),
    "nfs_program_read_bytes": _counter("bytes", "handed out by read()", _nfs("read_bytes_total")),
    "backlog": _counter("requests", "waiting in the transport, summed", _nfs("transport_backlog_queue_total")),
    "nfs_sends": _counter("sends", "requests handed to the transport", _nfs("transport_sends_total")),
    "interrupts": _counter("interrupts", "interrupts served", _node("intr_total")),
    "runnable": _level("processes", "processes that could run", _node("procs_running")),
    "blocked": _level("processes", "processes waiting for I/O", _node("procs_blocked")),
    "page_out": _counter("bytes", "written from memory to disk", _node("vmstat_pgpgout", scale=1024)),
    "page_in": _counter("bytes", "read from disk into memory", _node("vmstat_pgpgin", scale=1024)),
    "dirty": _level("bytes", "pages not yet written", _node("memory_Dirty_bytes")),
    "write_back": _level("bytes", "pages being written", _node("memory_Writeback_bytes")),
    "shm_used": _level("bytes", "shared memory in use", _node("memory_Shmem_bytes")),
    "page_cache": _level("bytes", "files kept in memory", _node("memory_Cached_bytes")),
    "filesystem_size": _level("bytes", "size of a mounted file system", _node("filesystem_size_bytes")),
    "filesystem_available": _level("bytes", "free on it for programs", _node("filesystem_avail_bytes")),
    "nic_sent_bytes": _counter("bytes", "sent over the network", _IB_SENT, _NIC_SENT),
    "nic_received_bytes": _counter("bytes", "received over the network", _IB_RECEIVED, _NIC_RECEIVED),
    "storage_write_bytes": _counter(
        "bytes", "written to storage", *_storage("write", _NFS_WRITE, "disk_written_bytes_total", _NIC_SENT)
    ),
    "storage_read_bytes": _counter(
        "bytes", "read from storage", *_storage("read", _NFS_READ, "disk_read_bytes_total", _NIC_RECEIVED)
    ),
}
