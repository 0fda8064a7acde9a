"""The grammar of GPU and switch messages; samples in the shapes that public reports show."""

import pytest

from gangline.sources.kernel_messages import KernelEvent, event_of
from gangline.vocabulary import KernelEventKind

XID, SXID, BUS_LOSS = KernelEventKind.XID, KernelEventKind.SXID, KernelEventKind.BUS_LOSS


def xid(code: int, bus: str = "0000:05:00", **facts: object) -> KernelEvent:
    return KernelEvent(XID, code, pci_bus_id=bus, **facts)  # type: ignore[arg-type]


LOST = "GPU has fallen off the bus."
CASES = {
    "NVRM: Xid (0000:03:00): 14, Channel 00000001": xid(14, "0000:03:00", detail="Channel 00000001"),
    "NVRM: Xid (PCI:00000000:9B:00.0): 43, pid=7, name=a, Ch 8": xid(
        43, "0000:9b:00", pid=7, process="a", detail="Ch 8"
    ),
    f"NVRM: Xid (PCI:0000:05:00): 79, pid='<unknown>', name=<unknown>, {LOST}": xid(79, detail=LOST),
    f"NVRM: Xid (PCI:0000:05:00): 79, pid=<unknown>, name='<unknown>', {LOST}": xid(79, detail=LOST),
    f"NVRM: Xid (PCI:0000:05:00): 79, {LOST}": xid(79, detail=LOST),
    f"NVRM: Xid (PCI:0000:05:00): 79,{LOST}": xid(79, detail=LOST),
    f'NVRM: Xid (PCI:0000:05:00): 79, pid=77, name=한글 "q", {LOST}': xid(79, pid=77, process='한글 "q"', detail=LOST),
    "NVRM: Xid (PCI:0000:05:00): 43, pid=3, name=a, b, Ch 00000008": xid(
        43, pid=3, process="a, b", detail="Ch 00000008"
    ),
    "NVRM: Xid (PCI:0000:05:00): 8, pid=3, name=x, something unheard of, twice": xid(
        8, pid=3, process="x", detail="something unheard of, twice"
    ),
    "NVRM: Xid (PCI:0000:05:00): 45, pid=3312, name=python3, Ch 00000001 caused by previous Xid 149": xid(
        45, pid=3312, process="python3", cause_code=149, detail="Ch 00000001 caused by previous Xid 149"
    ),
    "NVRM: Xid (PCI:0009:01:00): 149, NETIR_LINK_EVT  Fatal   XC0 i0 Link -1 (0x021425c6 0x0)": xid(
        149, "0009:01:00", severity="fatal", detail="NETIR_LINK_EVT  Fatal   XC0 i0 Link -1 (0x021425c6 0x0)"
    ),
    "NVRM: Xid (PCI:0018:01:00): 145, pid=876767, name=ray::WorkerDict, RLW_RXPIPE Nonfatal XC0 i0 Link 13 (0x8)": xid(
        145, "0018:01:00", severity="nonfatal", pid=876767, process="ray::WorkerDict",
        detail="RLW_RXPIPE Nonfatal XC0 i0 Link 13 (0x8)",
    ),
    "NVRM: Xid (PCI:0000:05:00): 154, GPU recovery action changed from 0x0 (None) to 0x4 (Drain and Reset)": xid(
        154, recovery_action="Drain and Reset",
        detail="GPU recovery action changed from 0x0 (None) to 0x4 (Drain and Reset)",
    ),
    "NVRM: Xid (PCI:0000:05:00): 64, pid=0, Row Remapper: Failed to remap row, all spares exhausted": xid(
        64, pid=0, detail="Row Remapper: Failed to remap row, all spares exhausted"
    ),
    "NVRM: GPU 0000:29:00.0: GPU has fallen off the bus.": KernelEvent(BUS_LOSS, pci_bus_id="0000:29:00", detail=LOST),
    "NVRM: GPU at 0000:29:00.0 has fallen off the bus.": KernelEvent(
        BUS_LOSS, pci_bus_id="0000:29:00", detail="has fallen off the bus."
    ),
    "nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 12028, Non-fatal, Link 32 egress non-posted PRIV error": KernelEvent(
        SXID, 12028, severity="nonfatal", pci_bus_id="0000:c1:00",
        detail="Non-fatal, Link 32 egress non-posted PRIV error",
    ),
    "NVRM: GPU 0000:5d:00.0: Row Remapper: New row marked for remapping, reset gpu to activate.": KernelEvent(
        KernelEventKind.ROW_REMAP, pci_bus_id="0000:5d:00",
        detail="Row Remapper: New row marked for remapping, reset gpu to activate.",
    ),
    "NVRM: GPU recovery action changed from 0x0 (None) to 0x2 (Node Reboot)": KernelEvent(
        KernelEventKind.RECOVERY_ACTION, recovery_action="Node Reboot",
        detail="GPU recovery action changed from 0x0 (None) to 0x2 (Node Reboot)",
    ),
}  # fmt: skip
HEALTHY = [
    "NVRM: Xid error: xyz",
    "NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  570.158.01",
    "NVRM: The NVIDIA GPU 0000:b3:00.0 (PCI ID: 10de:26b5) installed in this system is not supported.",
    "NVRM: GPU Board Serial Number: 1650124014249",
    "NVRM: Rate limiting GSP RPC error prints for GPU at PCI:0000:9b:00 (printing 1 of every 30).",
    "user wrote: NVRM: Xid (PCI:0000:05:00): 79, GPU has fallen off the bus.",
    "NVRM: Xid (PCI:0000:05:00): 12345678, no code has as many digits",
    "NVRM: Xid (PCI:0000:05): 79, an address cut short",
    "NVRM: Xid (PCI:0000:05:00): 7",  # of 79, where a copy broke off
    "",
]


@pytest.mark.parametrize("text", CASES)
def test_an_event_is_read_whole(text: str) -> None:
    assert event_of(text) == CASES[text]


@pytest.mark.parametrize("text", HEALTHY)
def test_a_mention_is_no_event(text: str) -> None:
    assert event_of(text) is None


def test_severity_is_what_the_text_says_not_what_the_code_suggests() -> None:
    """NVLink codes 144-150 were once taken for fatal whatever they said (leptonai/gpud pull requests 1174 and 192)."""
    nonfatal = event_of("NVRM: Xid (PCI:0000:05:00): 149, NETIR Nonfatal XC0 i0 Link 01 (0x0)")
    silent = event_of("NVRM: Xid (PCI:0000:05:00): 149, NETIR XC0 i0 Link 01 (0x0)")
    assert (nonfatal and nonfatal.severity, silent and silent.severity) == ("nonfatal", None)
