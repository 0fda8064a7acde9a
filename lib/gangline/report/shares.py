"""What each of several notebooks at once may take of the machine."""

import os
from pathlib import Path

SHARE_OF_MEMORY = 0.5
LEAST_MEMORY_MB = 256
CGROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")
THREAD_KEYS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS", "GANGLINE_THREADS")


def cores() -> int:
    """Count the cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def memory_mb() -> int:
    """Read the memory that this process may use, in MB of 1e6 bytes: the machine's, or its container's limit."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    limit = CGROUP_LIMIT.read_text().strip() if CGROUP_LIMIT.is_file() else "max"
    return (min(total, int(limit)) if limit.isdecimal() else total) // 1_000_000


def environment(jobs: int) -> dict[str, str]:
    """Cap threads and DuckDB's memory for each of `jobs` notebooks; what the user has set stays."""
    threads = max(1, cores() // jobs)
    memory = max(LEAST_MEMORY_MB, int(memory_mb() * SHARE_OF_MEMORY / jobs))
    capped = dict.fromkeys(THREAD_KEYS, str(threads)) | {"GANGLINE_MEMORY_LIMIT": f"{memory}MB"}
    return {key: os.environ.get(key, value) for key, value in capped.items()}
