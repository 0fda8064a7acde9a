"""The bench's memory is what a process and its children hold at one moment."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.bench.measuring import run_apart

MIB = 1 << 20
HELD = 200 * MIB
SLACK = 60 * MIB  # an interpreter and what it has loaded

pytestmark = pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="memory is read from Linux's /proc")
_CHILD = f"held = b'x' * {HELD}; print(flush=True); input()"


def hold() -> int:
    """Holds memory for a moment, then none."""
    return len(b"x" * HELD)


def hold_nothing() -> None:
    time.sleep(0.1)


def hold_in_a_child(is_held_here: bool) -> None:
    """A child holds memory while this process holds as much, or after it did."""
    held = b"x" * HELD
    if not is_held_here:
        del held
    with subprocess.Popen([sys.executable, "-c", _CHILD], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        time.sleep(0.1)
        child.communicate(b"\n")


def hold_a_memory_file() -> None:
    import os

    handle = os.memfd_create("held")
    os.write(handle, b"x" * HELD)
    time.sleep(0.1)
    os.close(handle)


def test_a_short_peak_is_seen() -> None:
    assert HELD <= run_apart(hold).peak_bytes < HELD + SLACK


def test_what_the_starting_process_held_is_not_counted() -> None:
    assert len(b"x" * HELD) == HELD
    assert run_apart(hold_nothing).peak_bytes < SLACK


@pytest.mark.parametrize(("is_held_here", "times"), [(True, 2), (False, 1)])
def test_only_what_is_held_at_once_is_added_up(is_held_here: bool, times: int) -> None:
    assert times * HELD <= run_apart(hold_in_a_child, is_held_here).peak_bytes < times * HELD + 2 * SLACK


def test_a_file_in_memory_counts() -> None:
    assert run_apart(hold_a_memory_file).peak_bytes >= HELD


def test_each_run_is_measured_by_itself(tmp_path: Path) -> None:
    """The second run holds less, and is the faster."""
    assert run_apart(hold_once, tmp_path / "mark", times=2).peak_bytes < SLACK


def hold_once(mark: Path) -> None:
    if not mark.exists():
        mark.touch()
        assert len(b"x" * HELD) == HELD
        time.sleep(0.2)
