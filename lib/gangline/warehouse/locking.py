"""One at a time: a lock file that the kernel lets go of however its holder ends."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gangline.warehouse.opening import WarehouseError


@contextmanager
def holding(lock: Path, work: str) -> Iterator[None]:
    """Hold a lock file while working; `work` says at what, for the message to whoever comes second.

    Raises
    ------
    WarehouseError
        Where another process holds it (exit code 4, with its number), or the file cannot be written (2).
    """
    try:
        handle = lock.open("a+")
    except OSError as error:
        raise WarehouseError(f"{lock}: cannot be written ({error.strerror}); check the folder", exit_code=2) from error
    with handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            handle.seek(0)
            holder = handle.read().strip() or "unknown"
            raise WarehouseError(f"{work.format(holder=holder)}; wait for it, then try again") from error
        handle.truncate(0)
        handle.write(str(os.getpid()))
        handle.flush()
        yield
