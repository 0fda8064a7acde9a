"""Kernel logs: envelope, boots, faults in the wording that readers must know."""

import re
from pathlib import Path

import pytest

from gangline.simulate.kernel_logs import write_logs
from gangline.simulate.kernel_texts import TEXT_OF_CODE, xid_messages
from tests.simulate.small_plan import NODES, PLAN

XID = re.compile(r"NVRM: Xid \(PCI:(?P<bus>[0-9a-f:]+)\): (?P<code>\d+), pid=(?P<pid>'<unknown>'|\d+), name=\S+, .")


@pytest.mark.parametrize("code", [*TEXT_OF_CODE, 171])
def test_every_code_has_the_grammar(code: int) -> None:
    matches = [match for message in xid_messages("gpu071", 1, code, 7) if (match := XID.match(message))]
    assert [(match["bus"], match["code"]) for match in matches] == [("0000:43:00", str(code))]


def test_a_lost_gpu_is_told_without_a_code_too() -> None:
    first, _, last = xid_messages("gpu071", 1, 79, 7)
    assert re.fullmatch(r"NVRM: GPU at PCI:0000:43:00: GPU-[0-9a-f-]{36}", first)
    assert last == "NVRM: GPU 0000:43:00.0: GPU has fallen off the bus."


def test_one_log_a_node_in_order_and_local_time(tmp_path: Path) -> None:
    paths = write_logs(tmp_path, PLAN)
    assert [path.name for path in paths] == [f"{node}.log" for node in NODES]
    lines = paths[0].read_text().splitlines()
    assert lines == sorted(lines)
    assert all(re.match(r"2025-09-0[45]T\d\d:\d\d:\d\d\+0900 gpu062 kernel: [a-z]", line) for line in lines)


def test_faults_and_boots(tmp_path: Path) -> None:
    lines = (tmp_path / "gpu063.log").read_text().splitlines() if write_logs(tmp_path, PLAN) else []
    assert [line for line in lines if "Xid" in line] == [
        "2025-09-05T09:09:00+0900 gpu063 kernel: NVRM: Xid (PCI:0000:43:00): 145, pid=1, name=python3, RLW_RXPIPE",
        "2025-09-05T09:09:15+0900 gpu063 kernel: NVRM: Xid (PCI:0000:43:00): 79, GPU has fallen off the bus.",
    ]
    (mark,) = (place for place, line in enumerate(lines) if re.fullmatch(r"-- Boot [0-9a-f]{32} --", line))
    assert lines[mark + 1].startswith("2025-09-05T09:40:00+0900 gpu063 kernel: Linux version")
