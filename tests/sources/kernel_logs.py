"""One story told in every envelope that kernel logs come in, for the tests of their reader."""

import json
import struct
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

BOOT_AT = datetime(2026, 12, 31, 21, 0, 0, tzinfo=UTC)
BOOT_ID = "9b1f0a9d5e7b4a11a2b3c4d5e6f70819"
NODE = "gpu071"
UUID = "GPU-604ac76c-d9cf-fef3-62e9-d92044ab6e52"

# Uptime in seconds, message. It crosses New Year; the last but one has three lines.
STORY: tuple[tuple[float, str], ...] = (
    (0.0, "Linux version 6.8.0-60-generic (builder) #63 SMP"),
    (4821.000102, f"NVRM: GPU at PCI:0000:9b:00: {UUID}"),
    (4821.25, "NVRM: Xid (PCI:0000:9b:00): 94, pid=3312, name=python3, Contained: SM (0x1). RST: No, D-RST: No"),
    (4822.0, "mlx5_core 0000:ab:00.0 mlx5_5: Port: 1 Link DOWN"),
    (10802.0, "nvidia-nvswitch0: SXid (PCI:0000:00:00.0): 11001, Fatal, Link 12 ingress invalid command"),
    (
        10803.5,
        "NVRM: The NVIDIA GPU 0000:b3:00.0\nNVRM: (PCI ID: 10de:26b5) installed in this system has\n"
        "NVRM: fallen off the bus and is not responding to commands.",
    ),
    (10805.0, 'NVRM: Xid (PCI:0000:05:00): 79, pid=77, name=한글 "q", GPU has fallen off the bus.'),
)
# What it tells, by uptime.
EVENTS = (
    (4821.25, "xid", 94, "0000:9b:00", UUID, 3312, "python3"),
    (10802.0, "sxid", 11001, "0000:00:00", None, None, None),
    (10803.5, "bus_loss", None, "0000:b3:00", None, None, None),
    (10805.0, "xid", 79, "0000:05:00", None, 77, '한글 "q"'),
)

Line = Callable[[float, datetime], str]


def _dmesg(uptime: float, at: datetime) -> str:
    return f"[{uptime:12.6f}] "


def _syslog(uptime: float, at: datetime) -> str:
    return f"{at:%b} {at.day:2d} {at:%H:%M:%S} {NODE} kernel: "


def _iso(at: datetime, offset: str, mark: str = ".") -> str:
    shown = at + timedelta(hours=9) if "9" in offset else at
    return f"{shown:%Y-%m-%dT%H:%M:%S}{mark}{shown:%f}{offset}"


HEADS: dict[str, Line] = {
    "dmesg": _dmesg,
    "dmesg_r": lambda uptime, at: f"<5>{_dmesg(uptime, at)}",
    "dmesg_x": lambda uptime, at: f"kern  :notice: {_dmesg(uptime, at)}",
    "dmesg_caller": lambda uptime, at: f"[{uptime:12.6f}][ T3312] ",
    "dmesg_T": lambda uptime, at: f"[{at:%a %b} {at.day:2d} {at:%H:%M:%S %Y}] ",
    "dmesg_iso": lambda uptime, at: f"{_iso(at, '+00:00', ',')} ",
    "dmesg_x_iso": lambda uptime, at: f"kern  :warn  : {_iso(at, '+09:00', ',')} ",
    "dmesg_t": lambda uptime, at: "",
    "dmesg_d": lambda uptime, at: "[<    0.036526>] ",
    "short": _syslog,
    "short_precise": lambda uptime, at: f"{at:%b} {at.day:2d} {at:%H:%M:%S.%f} {NODE} kernel: ",
    "short_iso": lambda uptime, at: f"{at:%Y-%m-%dT%H:%M:%S}+0000 {NODE} kernel: ",
    "short_iso_colon": lambda uptime, at: f"{at:%Y-%m-%dT%H:%M:%S}+00:00 {NODE} kernel: ",
    "short_iso_precise": lambda uptime, at: f"{_iso(at, '+0900')} {NODE} kernel: ",
    "short_full": lambda uptime, at: f"{at:%a %Y-%m-%d %H:%M:%S} UTC {NODE} kernel: ",
    "short_unix": lambda uptime, at: f"{at.timestamp():.6f} {NODE} kernel: ",
    "short_monotonic": lambda uptime, at: f"{_dmesg(uptime, at)}{NODE} kernel: ",
    "rfc3164": lambda uptime, at: f"<3>{_syslog(uptime, at)}{_dmesg(uptime, at)}",
    "rsyslog_iso": lambda uptime, at: f"{_iso(at, '+09:00')} {NODE} kernel: {_dmesg(uptime, at)}",
    "rfc5424": lambda uptime, at: f"<3>1 {_iso(at, '+09:00')} {NODE} kernel - - - {_dmesg(uptime, at)}",
    "rfc5424_data": lambda uptime, at: (
        f'<3>1 {_iso(at, "Z")} {NODE} kernel - - [timeQuality tzKnown="1" x="a\\]b"][o@1 v="2"] \ufeff'
    ),
}


HEADS |= {
    f"pdsh_{name}": lambda uptime, at, head=HEADS[name]: f"{NODE}: {head(uptime, at)}"
    for name in ("dmesg", "dmesg_x", "dmesg_T", "dmesg_iso", "short", "rsyslog_iso", "short_full", "short_unix")
} | {"pdsh_monotonic": lambda uptime, at: f"{NODE}: {_dmesg(uptime, at)}{NODE} kernel: "}


def text_log(head: Line) -> bytes:
    """The story as lines; those of one record after its first are indented, as dmesg and journalctl do."""
    lines: list[str] = []
    for uptime, message in STORY:
        prefix = head(uptime, at_uptime(uptime))
        first, *rest = message.split("\n")
        shell = f"{NODE}: " if prefix.startswith(f"{NODE}: ") else ""
        lines += [prefix + first, *(shell + " " * max(len(prefix) - len(shell), 2) + part for part in rest)]
    return ("\n".join(lines) + "\n").encode()


def _fields(uptime: float, message: str) -> dict[str, str]:
    return {
        "__REALTIME_TIMESTAMP": str(round(at_uptime(uptime).timestamp() * 1e6)),
        "_SOURCE_MONOTONIC_TIMESTAMP": str(round(uptime * 1e6)),
        "_BOOT_ID": BOOT_ID,
        "_HOSTNAME": NODE,
        "_TRANSPORT": "kernel",
        "MESSAGE": message,
    }


def journal_json(separator: str = "") -> bytes:
    """`journalctl -o json`, or json-seq with its separator; the last message as bytes, as one that is no UTF-8."""
    records: list[dict[str, object]] = [dict(_fields(uptime, message)) for uptime, message in STORY]
    records[-1]["MESSAGE"] = list(STORY[-1][1].encode())
    return "".join(f"{separator}{json.dumps(record)}\n" for record in records).encode()


def journal_export() -> bytes:
    """`journalctl -o export`: a message of several lines, or of other than ASCII, comes with its length."""
    out = b""
    for uptime, message in STORY:
        for name, value in _fields(uptime, message).items():
            raw = value.encode()
            is_plain = value.isascii() and "\n" not in value
            out += name.encode() + (b"=" + raw if is_plain else b"\n" + struct.pack("<Q", len(raw)) + raw) + b"\n"
        out += b"\n"
    return out


def dmesg_json() -> bytes:
    """`dmesg -J`."""
    rows = ",".join(f'{{"pri":6,"time":{uptime:12.6f},"msg":{json.dumps(message)}}}' for uptime, message in STORY)
    return f'{{\n   "dmesg": [{rows}\n   ]\n}}\n'.encode()


def kmsg() -> bytes:
    """/dev/kmsg, which escapes what is not printable ASCII and adds lines of its own keys."""
    out = b""
    for number, (uptime, message) in enumerate(STORY):
        escaped = "".join(
            chr(byte) if 32 <= byte < 127 and byte != 92 else f"\\x{byte:02x}" for byte in message.encode()
        )
        out += f"4,{number},{round(uptime * 1e6)},-;{escaped}\n SUBSYSTEM=pci\n DEVICE=+pci:0000:9b:00.0\n".encode()
    return out


def at_uptime(uptime: float) -> datetime:
    """The instant of an uptime of the story."""
    return BOOT_AT + timedelta(seconds=uptime)


LOGS: dict[str, bytes] = {name: text_log(head) for name, head in HEADS.items()} | {
    "json": journal_json(),
    "json_seq": journal_json("\x1e"),
    "export": journal_export(),
    "dmesg_J": dmesg_json(),
    "kmsg": kmsg(),
}
TIMELESS = ("dmesg_t", "dmesg_d")
ANCHORED = (
    *("dmesg", "dmesg_r", "dmesg_x", "dmesg_caller", "short_monotonic", "dmesg_J", "kmsg"),
    *("pdsh_dmesg", "pdsh_dmesg_x", "pdsh_monotonic"),
)
