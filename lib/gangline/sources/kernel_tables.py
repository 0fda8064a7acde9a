"""The raw tables that kernel logs fill."""

import polars as pl

KERNEL_EVENT_RECORDS = "kernel_event_records"
KERNEL_LOG_RECORDS = "kernel_log_records"

_INSTANT = pl.Datetime("us", "UTC")

KERNEL_COLUMNS: dict[str, dict[str, pl.DataType | type[pl.DataType]]] = {
    KERNEL_EVENT_RECORDS:  # one row a kernel message that is a GPU, switch or bus event
    {
        "line": pl.Int64,  # where the message begins; its ordinal from 1 in a JSON document
        "node": pl.String,  # null where neither the line nor the config nor the file's name tells
        "at": _INSTANT,  # null where the time is relative and has no anchor
        "time_quality": pl.String,  # vocabulary.TimeQuality
        "boot_id": pl.String,  # the journal's, else 'boot:N' by order in the file
        "uptime_s": pl.Float64,  # seconds since the boot, where the line tells
        "kind": pl.String,  # vocabulary.KernelEventKind: a line with an Xid code is 'xid', whatever the code
        "code": pl.Int64,  # of an xid or sxid, else null
        "severity": pl.String,  # 'fatal' | 'nonfatal' where the text says so
        "pci_bus_id": pl.String,  # lower case, 'dddd:bb:dd'
        "gpu_uuid": pl.String,  # where the log itself ties it to the bus id
        "pid": pl.Int64,
        "process": pl.String,
        "cause_code": pl.Int64,  # 'caused by previous Xid N'
        "recovery_action": pl.String,  # the action that a 154 changes to
        "detail": pl.String,  # the message behind code, pid and process
        "text": pl.String,  # the whole message
    },
    KERNEL_LOG_RECORDS:  # one row a node and boot: what was looked at
    {
        "line": pl.Int64,  # its first record
        "node": pl.String,
        "node_evidence": pl.String,  # 'line' | 'config' | 'file_name' | 'none'
        "boot_id": pl.String,
        "boot_at": _INSTANT,
        "first_at": _INSTANT,
        "latest_at": _INSTANT,
        "first_uptime_s": pl.Float64,
        "latest_uptime_s": pl.Float64,
        "lines": pl.Int64,  # records, one of several physical lines counted once
        "events": pl.Int64,
        "time_quality": pl.String,
        "envelope": pl.String,  # what wrote the lines: 'dmesg_iso', 'journal_json', ...
    },
}
