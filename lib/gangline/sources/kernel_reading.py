"""What all kinds of kernel log have in common: nodes, boots, events, and the account of what was looked at."""

import re
from collections.abc import Iterator

from gangline.sources.batches import Batches
from gangline.sources.files import InputFile
from gangline.sources.kernel_boots import Boot, NodeLog, anchor_of
from gangline.sources.kernel_hosts import NodeNames
from gangline.sources.kernel_lines import NO_EVENT, LossJoiner, Message
from gangline.sources.kernel_messages import XID_BEGINS, KernelEvent, event_of, gpu_named
from gangline.sources.kernel_tables import KERNEL_EVENT_RECORDS, KERNEL_LOG_RECORDS
from gangline.sources.records import Batch, ReadLog, SourceOptions
from gangline.vocabulary import TimeQuality

_REPEATED = re.compile(r"message repeated \d+ times: \[ ?(?:\[ *\d+\.\d+\] ?)?(.*)\]\s*", re.DOTALL)
_BLOB = re.compile(r"\[[\d.]+[BKMG] blob data\]")


class KernelReading:
    """Takes the messages of a file and gives their rows."""

    def __init__(self, file: InputFile, options: SourceOptions, log: ReadLog) -> None:
        self.options = options
        self.log = log
        self.batches = Batches()
        self.nodes: dict[tuple[bytes | None, str], NodeLog] = {}
        self._names = NodeNames(file.path, options)
        self._losses: dict[int, LossJoiner] = {}

    def node_log(self, host: bytes | None, envelope: str) -> NodeLog:
        """The log of the node that a host, null where lines have none, stands for."""
        found = self.nodes.get((host, envelope))
        if found is None:
            node, evidence = self._names.of(None if host is None else host.decode("utf-8", "replace").replace("\0", ""))
            if node is None:
                self.log.odd("node_unknown")
            found = self.nodes[host, envelope] = NodeLog(node, evidence, envelope, self.options.boot_at)
        return found

    def take(self, node_log: NodeLog, boot: Boot, message: Message) -> None:
        """Judges a kernel's message, and accounts for it: an event, or ignored."""
        text = message.text
        named, anchor = gpu_named(text), anchor_of(text, message.uptime_s)
        if named:
            boot.gpu_uuids[named[0]] = named[1]
        if anchor:
            boot.boot_at = anchor
        self._note_oddities(message)
        joiner = self._losses.setdefault(id(node_log), LossJoiner(self.log))
        for whole in joiner.add(message):
            self._judge(node_log, boot, whole)

    def rest(self) -> Iterator[Batch]:
        """What is left at the file's end, with a row for each node and boot."""
        for joiner in self._losses.values():
            joiner.drop()
        for node_log in self.nodes.values():
            for boot in node_log.boots.values():
                boot.close()
                self.log.saw(boot.first_at, boot.latest_at)
                self.batches.add([(KERNEL_LOG_RECORDS, _covered(node_log, boot))])
        yield from self.batches.rest()

    def _judge(self, node_log: NodeLog, boot: Boot, message: Message) -> None:
        repeated = _REPEATED.fullmatch(message.text)
        text = repeated[1] if repeated else message.text
        event = event_of(text)
        if event is None:
            if XID_BEGINS.match(text):
                self.log.odd("xid_line_not_understood", message.line)
            self.log.ignore(NO_EVENT)
            return
        if message.at is None and boot.is_beyond_calendar(message.uptime_s):
            self.log.odd("impossible_time", message.line)
        boot.events += 1
        self.log.load()
        self.batches.add([(KERNEL_EVENT_RECORDS, _row(node_log, boot, message, event) | {"text": text})])

    def _note_oddities(self, message: Message) -> None:
        if _BLOB.fullmatch(message.text):
            self.log.odd("blob_message", message.line)
        elif message.text.startswith("PM: suspend entry"):
            self.log.odd("suspended", message.line)


def _row(node_log: NodeLog, boot: Boot, message: Message, event: KernelEvent) -> dict[str, object]:
    counted = boot.at_uptime(message.uptime_s) if message.at is None else None
    quality = TimeQuality.UPTIME if counted else message.quality if message.at else TimeQuality.NONE
    return {
        "line": message.line,
        "node": node_log.node,
        "at": message.at or counted,
        "time_quality": quality.value,
        "boot_id": boot.boot_id,
        "uptime_s": message.uptime_s,
        "kind": event.kind.value,
        "code": event.code,
        "severity": event.severity,
        "pci_bus_id": event.pci_bus_id,
        "gpu_uuid": boot.gpu_uuids.get(event.pci_bus_id or ""),
        "pid": event.pid,
        "process": event.process,
        "cause_code": event.cause_code,
        "recovery_action": event.recovery_action,
        "detail": event.detail,
    }


def _covered(node_log: NodeLog, boot: Boot) -> dict[str, object]:
    return {
        "line": boot.line,
        "node": node_log.node,
        "node_evidence": node_log.evidence,
        "boot_id": boot.boot_id,
        "boot_at": boot.boot_at,
        "first_at": boot.first_at,
        "latest_at": boot.latest_at,
        "first_uptime_s": boot.first_uptime_s,
        "latest_uptime_s": boot.latest_uptime_s,
        "lines": boot.lines,
        "events": boot.events,
        "time_quality": boot.quality.value,
        "envelope": boot.envelope,
    }
