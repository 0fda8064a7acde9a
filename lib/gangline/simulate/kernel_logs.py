"""Kernel logs as `journalctl -k -o short-iso` of systemd 252 prints them: one file a node, its boots and its lines."""

import hashlib
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from gangline.simulate.plan import KernelLinePlan, Plan
from gangline.sources.samples import instant_of_ms

BOOT_LINES = (
    (0, "Linux version 6.8.0-60-generic (buildd@lcy02) (x86_64-linux-gnu-gcc-13) #63-Ubuntu SMP PREEMPT_DYNAMIC"),
    (4, "mlx5_core 0000:18:00.0: firmware version: 28.43.2026"),
    (31, "NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  570.133.20  Release Build"),
    (58, "NFS: Registering the id_resolver key type"),
)
BACKGROUND = (
    "perf: interrupt took too long (2513 > 2500), lowering kernel.perf_event_max_sample_rate to 79500",
    "mlx5_core 0000:18:00.0 eth0: Link up",
    "nfs: server vast OK",
    "workqueue: drain_vmap_area_work hogged CPU for >10000us 4 times, consider switching to WQ_UNBOUND",
    "TCP: request_sock_TCP: Possible SYN flooding on port 29500. Sending cookies.",
)
BACKGROUND_EVERY_S, FIRST_LINE_AFTER = 2 * 86_400, timedelta(minutes=20)
Message = tuple[datetime, str]
Life = tuple[datetime, datetime]


def write_logs(folder: Path, plan: Plan) -> list[Path]:
    """Writes every node's log up to the export, times in the zone of the nodes' clocks."""
    folder.mkdir(parents=True, exist_ok=True)
    lines: dict[str, list[KernelLinePlan]] = {node: [] for node in plan.cluster.nodes}
    for line in plan.kernel_lines:
        lines[line.node].append(line)
    return [_write(folder / f"{node}.log", plan, node, lines[node]) for node in plan.cluster.nodes]


def lives_of(plan: Plan, node: str) -> list[Life]:
    """When the node ran: from the export's first instant, less the stretches in which it was down."""
    downs = sorted(
        (state.from_ms, plan.exported_ms if state.to_ms is None else state.to_ms)
        for state in plan.node_states
        if state.node == node and state.state == "down"
    )
    begins = [plan.sessions_span.from_ms, *(end for _, end in downs)]
    ends = [*(begin for begin, _ in downs), plan.exported_ms]
    return [(instant_of_ms(begin), instant_of_ms(end)) for begin, end in zip(begins, ends, strict=True) if begin < end]


def _write(path: Path, plan: Plan, node: str, lines: Sequence[KernelLinePlan]) -> Path:
    zone = ZoneInfo(plan.cluster.time_zone)
    told = [(instant_of_ms(line.at_ms), line.text) for line in lines]
    text: list[str] = []
    for place, (begin, end) in enumerate(lives_of(plan, node)):
        boot = [(begin + timedelta(seconds=after_s), words) for after_s, words in BOOT_LINES]
        messages = [*(boot if place else []), *_now_and_then(node, begin, end)]
        messages += [entry for entry in told if begin <= entry[0] < end]
        text += [f"-- Boot {_digest(node, begin).hex()[:32]} --"] if place else []
        text += [_line(node, entry, zone) for entry in sorted(messages, key=lambda entry: entry[0])]
    path.write_text("".join(f"{line}\n" for line in text))
    return path


def _line(node: str, message: Message, zone: ZoneInfo) -> str:
    at, text = message
    return f"{at.astimezone(zone).strftime('%Y-%m-%dT%H:%M:%S%z')} {node} kernel: {text}"


def _now_and_then(node: str, boot: datetime, end: datetime) -> Iterator[Message]:
    """What any kernel says every few days, at instants drawn from the node and the boot."""
    at, place = boot + FIRST_LINE_AFTER, 0
    while at < end:
        noise = _digest(node, boot, place)
        yield at, BACKGROUND[noise[4] % len(BACKGROUND)]
        at += timedelta(seconds=int.from_bytes(noise[:4], "big") % (2 * BACKGROUND_EVERY_S))
        place += 1


def _digest(node: str, boot: datetime, *place: int) -> bytes:
    return hashlib.sha256(f"{node} {boot.isoformat()} {place}".encode()).digest()
