"""What the kernel says of a GPU's fault, code by code; wording as drivers print it (formats 7.1)."""

import zlib

from gangline.simulate.hardware import bus_id, gpu_uuid

NO_PROCESS = "pid='<unknown>', name=<unknown>"
TEXT_OF_CODE: dict[int, str] = {
    31: "{own}, Ch 00000008, intr 00000000. MMU Fault: ENGINE GRAPHICS GPC{few} GPCCLIENT_T1_0 faulted @ 0x{word}000",
    43: "{own}, Ch 00000008",
    45: "{own}, Ch 00000008",
    48: "{own}, An uncorrectable double bit error (DBE) has been detected on GPU in the framebuffer at 0x{word}",
    63: "{none}, Row Remapper: New row (0x{word}) marked for remapping, reset gpu to activate.",
    64: "{none}, Row Remapper: Error: Unable to remap row 0x{word}",
    74: "{none}, NVLink: fatal error detected on link {few}(0x10000, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0)",
    79: "{none}, GPU has fallen off the bus.",
    94: "{own}, Contained: SM (0x1). RST: No, D-RST: No",
    95: "{none}, Uncontained: LTC TAG (0x{few},0x0). RST: Yes, D-RST: No",
    119: "{own}, Timeout after 6s of waiting for RPC response from GPU{gpu} GSP! Expected function 103",
    145: "{none}, RLW_RXPIPE Nonfatal XC0 i0 Link 0{few} (0x{word} 0x00000008 0x00000000 0x00000000)",
    149: "{none}, NETIR_LINK_EVT Fatal XC0 i0 Link 0{few} (0x{word} 0x00000001 0x00000000 0x00000000)",
    154: "{none}, GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)",
}
FELL_OFF_THE_BUS = 79
OTHER_CODE = "{none}, Unspecified error 0x{word}"


def xid_messages(
    node: str, gpu: int, code: int, at_ms: int, pid: int | None = None, process: str = "python3"
) -> list[str]:
    """The kernel's messages of one XID; what varies in them is drawn from its place and instant alone.

    Parameters
    ----------
    pid, process
        Whose work it hit; null where the driver names none.

    Examples
    --------
    >>> xid_messages("gpu071", 2, 94, 1_756_700_000_000, pid=4711)
    ['NVRM: Xid (PCI:0000:52:00): 94, pid=4711, name=python3, Contained: SM (0x1). RST: No, D-RST: No']
    """
    noise = zlib.crc32(f"{node} {gpu} {code} {at_ms}".encode())
    own = NO_PROCESS if pid is None else f"pid={pid}, name={process}"
    form = TEXT_OF_CODE.get(code, OTHER_CODE)
    text = form.format(own=own, none=NO_PROCESS, few=noise % 6, word=f"{noise:08x}", gpu=gpu)
    lines = [f"NVRM: Xid (PCI:{bus_id(gpu)}): {code}, {text}"]
    if code == FELL_OFF_THE_BUS:
        uuid_line = f"NVRM: GPU at PCI:{bus_id(gpu)}: {gpu_uuid(node, gpu)}"
        lines = [uuid_line, *lines, f"NVRM: GPU {bus_id(gpu)}.0: GPU has fallen off the bus."]
    return lines
