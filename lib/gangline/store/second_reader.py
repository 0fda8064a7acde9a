"""A second process that fills shares, for as long as the first one lives.

It is started by its own command line, not by `multiprocessing`, which would run the caller's script a second time.
What goes between the two is this package's own values over a pipe that nobody else holds.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, Pipe

from gangline.sources.metering import Meter
from gangline.store.filling import Filled, fill
from gangline.store.shares import Share

LOOK_S = 0.5
_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1"}  # numpy starts these before it is asked for any
_COMMAND = "import sys; sys.path[:] = {path!r}; from {module} import serve; serve({handle}, {parent})"


class SecondReaderLostError(RuntimeError):
    """The second process ended, by the kernel's hand where memory ran out."""


@dataclass(frozen=True)
class _Progress:
    done: int
    total: int


class SecondReader:
    """The second process, as the first one sees it."""

    def __init__(self) -> None:
        self._connection, theirs = Pipe()
        command = _COMMAND.format(path=sys.path, module=__name__, handle=theirs.fileno(), parent=os.getpid())
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and text
                [sys.executable, "-c", command],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                env=os.environ | _ONE_THREAD,
            )

    def fill(self, share: Share, meter: Meter) -> Filled:
        """What `filling.fill` gives, from the other process.

        Raises
        ------
        SecondReaderLostError
            Where that process is no more.
        """
        try:
            self._connection.send(share)
            while isinstance(answer := self._connection.recv(), _Progress):
                meter(answer.done, answer.total)
        except (EOFError, ConnectionError) as error:
            raise SecondReaderLostError from error
        if isinstance(answer, BaseException):
            raise answer
        assert isinstance(answer, Filled)
        return answer

    def close(self) -> None:
        """Ends the process, whatever it is at: what it has not given back does not count."""
        self._process.kill()
        self._process.wait()
        self._connection.close()


def serve(handle: int, parent: int) -> None:
    """Fills shares until the first process closes the pipe or is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    with Connection(handle) as connection, suppress(EOFError, ConnectionError):
        while True:
            connection.send(_answer(connection, connection.recv()))


def _answer(connection: "Connection[object, object]", share: object) -> Filled | Exception:
    assert isinstance(share, Share)
    try:
        return fill(share, lambda done, total: connection.send(_Progress(done, total)))
    except Exception as error:  # noqa: BLE001 - raised again by the process that asked
        return error


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(LOOK_S)
    os._exit(1)
