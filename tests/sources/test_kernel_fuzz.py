"""Damaged kernel logs and console output: every record is accounted for, and nothing stops the reader."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gangline.sources import console_log, kernel_log
from gangline.sources.records import Source, SourceRefusedError
from tests.sources.kernel_logs import LOGS
from tests.sources.reading import read_file

PIECES = [
    *(
        b"\n",
        b" ",
        b"\x00",
        b"\xff\xfe",
        b"\x1e",
        b"{",
        b"}",
        b"[",
        b"]",
        b"\\x0a",
        b"\x1b[31m",
        b"\r",
        b"9" * 30,
        b"-",
    ),
    *(
        b"NVRM: Xid (PCI:0000:05:00): 79, ",
        b"nvidia-nvswitch0: SXid (",
        b"Dec 31 23:59:60 ",
        b"Feb 30 10:00:00 g kernel: ",
    ),
    *(b"[99999999999.1] ", b"[1.5] ", b"9999-12-31T23:59:59+00:00 g kernel: ", b"0001-01-01T00:00:00+14:00 g kernel: "),
    *(
        b"-- Reboot --\n",
        b"-- Boot " + b"a" * 32 + b" --\n",
        b'{"MESSAGE":[300],"_BOOT_ID":7}',
        b"MESSAGE\n\xff\xff\xff\xff",
    ),
    *(
        b'{"dmesg":[{"time":"x","msg":"NVRM: "}]}',
        b"NVRM: The NVIDIA GPU 0000:b3:00.0\n",
        b"Linux version ",
        b"blob data]",
    ),
    *(b"9999-12-31 23:59:59,9 oops", b"0000-00-00 00:00:00 oops", b"2026-03-08 02:30:00+99:99 oops"),
]
Cut = st.tuples(st.integers(0, 4_000), st.integers(0, 60), st.lists(st.sampled_from(PIECES), max_size=3))


def damaged(content: bytes, cuts: list[tuple[int, int, list[bytes]]]) -> bytes:
    """The content with stretches replaced."""
    for start, length, pieces in cuts:
        content = content[:start] + b"".join(pieces) + content[start + length :]
    return content


def accounted(source: Source, content: bytes) -> None:
    """Reads the content; `read_file` holds the balance of its log and the schemas of its rows."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "slurm-7.out"
        path.write_bytes(content)
        try:
            read_file(source, path, time_zone="America/New_York")
        except SourceRefusedError as error:
            assert str(error).startswith(f"{path}:1: no kernel log: ")  # noqa: PT017


@pytest.mark.parametrize("name", LOGS)
@given(cuts=st.lists(Cut, min_size=1, max_size=5))
@settings(max_examples=12)
def test_a_damaged_kernel_log_is_accounted_for(name: str, cuts: list[tuple[int, int, list[bytes]]]) -> None:
    accounted(kernel_log, damaged(LOGS[name], cuts))


@given(pieces=st.lists(st.one_of(st.sampled_from(PIECES), st.binary(max_size=20)), max_size=20))
@settings(max_examples=150)
@pytest.mark.parametrize("source", [kernel_log, console_log])
def test_any_bytes_at_all_are_accounted_for(source: Source, pieces: list[bytes]) -> None:
    accounted(source, b"".join(pieces))
