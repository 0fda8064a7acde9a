"""Units as suffixes of names, and their constants: one place where a suffix gets its meaning."""

SECONDS_PER_MINUTE = 60
MINUTES_PER_HOUR = 60
SECONDS_PER_HOUR = 3600
HOURS_PER_DAY = 24
BYTES_PER_GB = 1_000_000_000

SUFFIXES: dict[str, str] = {
    "_gb_per_s": "GB/s (1e9 bytes)",
    "_mb_per_s": "MB/s (1e6 bytes)",
    "_bytes_per_s": "bytes/s",
    "_per_1000_node_days": "per 1,000 node-days",
    "_gpu_h": "GPU-hours",
    "_ms": "ms",
    "_min": "min",
    "_ratio": "ratio",
    "_share": "ratio",
    "_count": "count",
    "_bytes": "bytes",
    "_kb": "KB",
    "_gb": "GB (1e9 bytes)",
    "_s": "s",
    "_h": "h",
    "_at": "UTC instant",
}


def unit_of(name: str) -> str:
    """The unit that a name's suffix says, longest suffix first; empty where it says none.

    Examples
    --------
    >>> unit_of("duration_min_min"), unit_of("save_start_gb_per_s"), unit_of("owner")
    ('min', 'GB/s (1e9 bytes)', '')
    """
    for suffix in sorted(SUFFIXES, key=len, reverse=True):
        if name.endswith(suffix):
            return SUFFIXES[suffix]
    return ""
