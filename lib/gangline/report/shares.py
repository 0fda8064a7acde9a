"""What each of several notebooks at once may take of the machine."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

SHARE_OF_MEMORY = 0.5
LEAST_MEMORY_MB = 256
MEMORY_KEY = "GANGLINE_MEMORY_LIMIT"
THREAD_KEYS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS", "GANGLINE_THREADS")
CGROUPS, OWN_CGROUP = Path("/sys/fs/cgroup"), Path("/proc/self/cgroup")
SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b\s*", re.IGNORECASE)
POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}


def cores() -> int:
    """Count the cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def memory_mb() -> int:
    """Read the memory that this process may use, in MB of 1e6 bytes: the machine's, or its control group's limit."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min([total, *cgroup_limits(CGROUPS, OWN_CGROUP)]) // 1_000_000


def cgroup_limits(groups: Path, own: Path) -> Iterator[int]:
    """Read the limits, in bytes, of the control group that a process is in and of those around it (version 2)."""
    lines = own.read_text("utf-8").splitlines() if own.is_file() else []
    path = next((line.removeprefix("0::/") for line in lines if line.startswith("0::/")), "")
    for folder in [groups / path, *(groups / path).parents]:
        limit = folder / "memory.max"
        if folder.is_relative_to(groups) and limit.is_file() and (text := limit.read_text("utf-8").strip()).isdecimal():
            yield int(text)


def environment(jobs: int) -> dict[str, str]:
    """Cap threads and DuckDB's memory for each of `jobs` notebooks.

    A memory limit that the user has set is for all of them together; threads that the user has set are for each.
    """
    threads = {key: os.environ.get(key) or str(max(1, cores() // jobs)) for key in THREAD_KEYS}
    given = os.environ.get(MEMORY_KEY)
    total_mb = size_mb(given) if given else memory_mb() * SHARE_OF_MEMORY
    if total_mb is None:
        return threads
    return threads | {MEMORY_KEY: f"{max(LEAST_MEMORY_MB, int(total_mb / jobs))}MB"}


def size_mb(text: str) -> float | None:
    """Read a size as DuckDB writes it, in MB of 1e6 bytes; None for what is no size, which DuckDB then refuses.

    >>> size_mb("4GB"), size_mb("512 MiB"), size_mb("much")
    (4000.0, 536.870912, None)
    """
    found = SIZE.fullmatch(text)
    if not found:
        return None
    step = 1024 if found[3] else 1000
    return float(found[1]) * float(step ** POWERS[found[2].lower()]) / 1e6
