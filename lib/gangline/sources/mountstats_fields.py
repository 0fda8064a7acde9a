"""What the numbers of /proc/self/mountstats count, under the names that node_exporter's mountstats collector gives.

Order of the numbers: the kernel's nfs_show_stats and rpc_print_iostats, and what each transport prints. Names, units,
and what is left out: collector/mountstats_linux.go of node_exporter (August 2026). The ninth number of an operation,
its errors, which kernels since 5.3 write, has no name there; it is given one in the same style.
"""

PREFIX = "node_mountstats_nfs_"
GAUGES = frozenset(
    PREFIX + name for name in ("mountpoint_info", "transport_idle_time_seconds", "transport_maximum_rpc_slots")
)

BYTES = (
    "read_bytes_total",
    "write_bytes_total",
    "direct_read_bytes_total",
    "direct_write_bytes_total",
    "total_read_bytes_total",
    "total_write_bytes_total",
    "read_pages_total",
    "write_pages_total",
)
OPERATION = (
    "operations_requests_total",
    "operations_transmissions_total",
    "operations_major_timeouts_total",
    "operations_sent_bytes_total",
    "operations_received_bytes_total",
    "operations_queue_time_seconds_total",
    "operations_response_time_seconds_total",
    "operations_request_time_seconds_total",
    "operations_errors_total",
)
IN_MS = frozenset(name for name in OPERATION if name.endswith("_time_seconds_total"))

_EVENTS = (
    *("inode_revalidate", "dnode_revalidate", "data_invalidate", "attribute_invalidate", "vfs_open", "vfs_lookup"),
    *("vfs_access", "vfs_update_page", "vfs_read_page", "vfs_read_pages", "vfs_write_page", "vfs_write_pages"),
    *("vfs_getdents", "vfs_setattr", "vfs_flush", "vfs_fsync", "vfs_lock", "vfs_file_release", "", "truncation"),
    *("write_extension", "silly_rename", "short_read", "short_write", "jukebox_delay", "pnfs_read", "pnfs_write"),
)
EVENTS = tuple(f"event_{name}_total" if name else "" for name in _EVENTS)  # "": congestion waits, which none exports

# How many numbers a line holds, whatever the kernel: another count is damage, and would put numbers under other names.
COUNTS = {"age": {1}, "bytes": {8}, "events": {25, 27}, "operation": {8, 9}}
_TRANSPORT_COUNTS = {"udp": frozenset({7, 10}), "rdma": frozenset(range(20, 40))}
_TCP_COUNTS = frozenset({10, 13})

_FROM_SENDS = ("sends_total", "receives_total", "bad_transaction_ids_total", "", "backlog_queue_total")
_QUEUES = ("maximum_rpc_slots", "sending_queue_total", "pending_queue_total")
_CONNECTED = ("", "bind_total", "connect_total", "", "idle_time_seconds", *_FROM_SENDS)  # the first is the local port


def transport_counts(protocol: str) -> frozenset[int]:
    """How many numbers such a transport's line may hold: those of mountstats 1.0 and of 1.1."""
    return _TRANSPORT_COUNTS.get(protocol, _TCP_COUNTS)


def transport_names(protocol: str) -> tuple[str, ...]:
    """Names of a transport's numbers in order, empty where a number is none that is exported.

    >>> transport_names("udp")[:3], len(transport_names("tcp")), len(transport_names("rdma"))
    (('', 'transport_bind_total', 'transport_sends_total'), 13, 10)
    """
    names = {"udp": ("", "bind_total", *_FROM_SENDS, *_QUEUES), "rdma": _CONNECTED}.get(protocol, _CONNECTED + _QUEUES)
    return tuple(f"transport_{name}" if name else "" for name in names)
