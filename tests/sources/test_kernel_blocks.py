"""Lines that are skimmed over are accounted for as if each had been read."""

import tempfile
from pathlib import Path
from unittest.mock import patch

from hypothesis import given, settings
from hypothesis import strategies as st

from gangline.sources import kernel_log
from gangline.sources.kernel_blocks import Skim
from tests.sources.reading import Reading, read_file

XID = "NVRM: Xid (PCI:0000:05:00): 79, GPU has fallen off the bus."
MESSAGES = ("mlx5_core up", XID, "Linux version 6.8.0", "NVRM: The NVIDIA GPU 0000:b3:00.0", "NVRM: fallen off the bus")
UPTIMES = st.sampled_from([0.0, 9.5, 12.25, 99_999.5, 100_000.0])
HOSTS = st.sampled_from(["gpu001", "gpu002"])
STAMPS = st.sampled_from(["Dec 31 23:59:59", "Jan  1 00:00:01", "Jan  1 00:00:02", "Jul  4 10:00:00"])


def read(text: str) -> Reading:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "logs" / "kern.log-20270201"
        path.parent.mkdir()
        path.write_text(text, encoding="utf-8")
        return read_file(kernel_log, path)


def same_without_skimming(text: str) -> None:
    skimmed = read(text)
    with patch.object(Skim, "after", return_value=None):
        read_line_by_line = read(text)
    for table, frame in read_line_by_line.frames.items():
        assert skimmed.frames[table].equals(frame), table
    assert skimmed.log == read_line_by_line.log


@given(lines=st.lists(st.tuples(UPTIMES, st.sampled_from(MESSAGES)), min_size=1, max_size=30))
@settings(max_examples=60)
def test_uptimes(lines: list[tuple[float, str]]) -> None:
    same_without_skimming("".join(f"[{uptime:12.6f}] {message}\n" for uptime, message in lines))


@given(lines=st.lists(st.tuples(STAMPS, HOSTS, st.sampled_from(MESSAGES)), min_size=1, max_size=30))
@settings(max_examples=60)
def test_hosts_and_months(lines: list[tuple[str, str, str]]) -> None:
    same_without_skimming("".join(f"{stamp} {host} kernel: {message}\n" for stamp, host, message in lines))


def test_programs_do_not_hide_the_form_of_a_journal() -> None:
    reading = read(f"[    1.000000] gpu071 systemd[1]: Started.\n[    2.000000] gpu071 kernel: {XID}\n")
    row = reading.row("kernel_event_records")
    assert (row["node"], row["uptime_s"], row["text"]) == ("gpu071", 2.0, XID)
