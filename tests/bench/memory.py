"""How much memory a process and those it started hold at one moment, read from Linux's /proc.

`ru_maxrss` cannot tell: a process inherits it from the one that started it, it covers the process's whole life, and
peaks of two processes need not fall together.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

OWN = ("RssAnon", "RssShmem")
MEMORY_FILE = "/memfd:"
BLOCK_BYTES = 512


@dataclass
class PeakMemory:
    """The most that a process and its children held at once, of all looks taken.

    What each has of its own is added up, with the memory files that they hold open. Pages of files, which are the
    libraries that both have loaded, lie in memory once: those of the process with most of them count. The page cache
    of files that are read counts nowhere, it gives way. A peak of one process between two looks is not missed: the
    kernel keeps it.
    """

    process_id: int
    peak_bytes: int = 0

    def look(self) -> None:
        """Takes in what is held now."""
        statuses = {process: status for process in _family(self.process_id) if (status := _status(process))}
        own = sum(status.get(name, 0) for status in statuses.values() for name in OWN)
        of_files = max((status.get("RssFile", 0) for status in statuses.values()), default=0)
        highest = max((status.get("VmHWM", 0) for status in statuses.values()), default=0)
        self.peak_bytes = max(self.peak_bytes, own + of_files + _memory_files(statuses), highest)


def forget_high_water() -> None:
    """Makes this process's high-water mark what it holds now."""
    Path("/proc/self/clear_refs").write_text("5")


def high_water_bytes(process_id: int) -> int:
    """The most that a process alone has held since its start, or since its mark was forgotten."""
    return _status(process_id)["VmHWM"]


def _family(process_id: int) -> Iterator[int]:
    yield process_id
    with suppress(FileNotFoundError, ProcessLookupError):
        for children in Path(f"/proc/{process_id}/task").glob("*/children"):
            for child in children.read_text().split():
                yield from _family(int(child))


def _status(process_id: int) -> dict[str, int]:
    """Its memory in bytes by name; nothing where it is gone."""
    with suppress(FileNotFoundError, ProcessLookupError):
        lines = Path(f"/proc/{process_id}/status").read_text().splitlines()
        parts = (line.split() for line in lines if line.endswith(" kB"))
        return {part[0].rstrip(":"): int(part[1]) * 1024 for part in parts}
    return {}


def _memory_files(process_ids: Iterable[int]) -> int:
    """Files in memory that any of them holds open, each once."""
    held: dict[int, int] = {}
    for process_id in process_ids:
        for link in Path(f"/proc/{process_id}/fd").glob("*"):
            with suppress(OSError):
                if str(link.readlink()).startswith(MEMORY_FILE):
                    status = link.stat()
                    held[status.st_ino] = status.st_blocks * BLOCK_BYTES
    return sum(held.values())
