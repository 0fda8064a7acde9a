"""/proc/self/mountstats as it stands in files: snapshots one after the other, each behind the line of a clock.

The samples are those that node_exporter's mountstats collector would have given: names, labels, seconds. The node is
that of the config or of the file's name; `instance` names it, so that such a file and scrapes of the same node are one.
"""

import re
from collections.abc import Iterator, Sequence
from zoneinfo import ZoneInfo

from gangline.sources.date_lines import is_date_line, ms_of_date_line
from gangline.sources.files import InputFile
from gangline.sources.kernel_hosts import node_in_name
from gangline.sources.mountstats_fields import (
    BYTES,
    COUNTS,
    EVENTS,
    GAUGES,
    IN_MS,
    OPERATION,
    PREFIX,
    transport_counts,
    transport_names,
)
from gangline.sources.prometheus_judging import CUT_LINE, LINE_MAX_BYTES
from gangline.sources.prometheus_lines import SampleLines
from gangline.sources.prometheus_numbers import parse_numbers
from gangline.sources.prometheus_times import Clock
from gangline.sources.read_log import ReadLog, SourceOptions, SourceRefusedError
from gangline.sources.samples import NAME_LABEL, SampleBatch

DOUBLE_WHOLE = 1 << 53  # times that the kernel counted below 0 are so wrapped by node_exporter, too
_MOUNT = re.compile(r"device (\S+) mounted on (\S+) with fstype (\S+)(?: statvers=(\S+))?\s*")
_IS_MOUNTSTATS = re.compile(rb"(?m)^device \S+ mounted on \S+ with fstype \S")
_ADDRESS = re.compile(r"(?:^|,)(?:addr|mountaddr)=([^,]+)")
_HOST_ADDRESS = re.compile(r"(\d+(?:\.\d+){3}|\[[0-9a-fA-F:]+\]):")
_OPERATION = re.compile(r"\s*([A-Z][A-Z0-9_]*):\s+(\d+(?: \d+)*)\s*")
_NUMBERS = re.compile(r"\d+(?:\s+\d+)*")
_FILE_SYSTEMS = {"nfs", "nfs4"}
_BEFORE_TRANSPORT = {"age": ("age_seconds_total",), "bytes": BYTES, "events": EVENTS}
Key = tuple[tuple[str, str], ...]


def is_mountstats(head: bytes) -> bool:
    """True where a file's first bytes hold a mount as the kernel writes it."""
    return _IS_MOUNTSTATS.search(head) is not None


def read_mountstats(file: InputFile, options: SourceOptions, log: ReadLog) -> Iterator[SampleBatch]:
    """Yields the samples of all snapshots by series, a bounded number at a time.

    Raises
    ------
    SourceRefusedError
        Where nothing tells the node, or a snapshot's instant.
    """
    node = options.node or node_in_name(file.path)
    if node is None:
        raise SourceRefusedError(
            f"{file.path.name}: whose mountstats are these? Name the file for its node, or set node of this"
            " [[sources]] entry"
        )
    snapshots = _Snapshots(file.path.name, node, options, log)
    for number, line, is_whole in file.whole_lines(LINE_MAX_BYTES):
        text = line.decode("utf-8", "replace")
        if not is_whole:
            snapshots.reject(number, CUT_LINE, text)
        elif snapshots.take(number, text):
            yield from snapshots.lines.flush()
    yield from snapshots.lines.flush()


class _Snapshots:
    """The state of one file: the latest clock's line, the mounts since then, the mount that lines are of."""

    def __init__(self, name: str, node: str, options: SourceOptions, log: ReadLog) -> None:
        self._name, self._instance, self._log = name, (("instance", node),), log
        self._zone, clock = ZoneInfo(options.time_zone), Clock(name)
        self._exported_ms = round(options.exported_at.timestamp() * 1000) if options.exported_at else None
        self._at_ms = self._exported_ms
        self._is_dated = False
        self._seen: set[tuple[str, ...]] = set()
        self._mount: _Mount | None = None
        self.lines: SampleLines[Key] = SampleLines(
            dict, lambda tokens, line: clock.to_ms(parse_numbers(b",".join(tokens)), line), log, _kind
        )

    def take(self, number: int, line: str) -> bool:
        """Takes a line; true where enough samples are held."""
        if is_date_line(line):
            self._begin(number, line)
        elif match := _MOUNT.fullmatch(line):
            self._begin_mount(number, line, *match.groups(default=""))
        elif line.startswith("device "):
            self._mount = None
            self.reject(number, "no mount (device NAME mounted on PLACE with fstype TYPE); take it again", line)
        elif self._mount is not None:
            return self._take_of_mount(self._mount, number, line)
        elif line.strip() and not line[:1].isspace():
            self.reject(number, "neither a time nor a mount; write `date -Is` before each snapshot", line)
        return False

    def reject(self, number: int, reason: str, line: str) -> None:
        """Keeps a line that gives no sample."""
        self._log.split()
        self._log.reject(number, reason, line)

    def _begin(self, number: int, line: str) -> None:
        self._mount, self._seen, self._is_dated = None, set(), True
        self._at_ms = ms_of_date_line(line, self._zone)
        if self._at_ms is None:
            self.reject(number, "no instant; write `date -Is` before each snapshot, or set time_zone", line)

    def _begin_mount(self, number: int, line: str, device: str, place: str, kind: str, version: str) -> None:
        self._mount = None
        if kind not in _FILE_SYSTEMS or not version:
            return
        if self._at_ms is None and not self._is_dated:
            raise SourceRefusedError(
                f"{self._name}:{number}: no time stands before this snapshot; write `date -Is` before each, or set"
                " exported_at of this [[sources]] entry"
            )
        if self._at_ms is None or (device, place, kind, version) in self._seen:
            self.reject(number, "a snapshot without a time; write `date -Is` before each", line)
            return
        self._seen.add((device, place, kind, version))
        self._mount = _Mount(device, place)

    def _take_of_mount(self, mount: "_Mount", number: int, line: str) -> bool:
        samples = mount.samples(line, self._seen)
        if samples is None:
            self.reject(number, "a line of mountstats that cannot be read; take the snapshot again", line)
            return False
        time, is_full = str(self._at_ms).encode(), False
        for name, labels, value in samples:
            key = ((NAME_LABEL, PREFIX + name), *self._instance, *labels)
            is_full |= self.lines.add(key, value, time, number)
        return is_full


class _Mount:
    """One mount's lines: bytes and events stand before the transport that labels them, so they wait for it."""

    def __init__(self, device: str, place: str) -> None:
        self._device, self._place, self._address = device, place, _host_address(device)
        self._waiting: list[tuple[str, bytes]] = []
        self._labels: Key | None = None
        self._transports = 0
        self._is_known = False

    def samples(self, line: str, seen: set[tuple[str, ...]]) -> list[tuple[str, Key, bytes]] | None:
        """What a line gives; null where it cannot be read. A mount seen at another place gives its place alone."""
        if match := _OPERATION.fullmatch(line):
            return self._operation(match[1], match[2].split())
        word, _, rest = line.strip().partition(":")
        if word == "xprt":
            return self._transport(rest.split(), seen)
        if word in _BEFORE_TRANSPORT:
            return self._wait(word, rest.split())
        if word == "opts" and (found := _ADDRESS.search(rest)):
            self._address = found[1]
        return None if word.isupper() else []

    def _wait(self, word: str, numbers: list[str]) -> list[tuple[str, Key, bytes]] | None:
        names = _BEFORE_TRANSPORT[word]
        if not _NUMBERS.fullmatch(" ".join(numbers)) or len(numbers) not in COUNTS[word]:
            return None
        self._waiting += [(name, number.encode()) for name, number in zip(names, numbers, strict=False) if name]
        return []

    def _transport(self, words: list[str], seen: set[tuple[str, ...]]) -> list[tuple[str, Key, bytes]] | None:
        protocol, numbers = "".join(words[:1]), words[1:]
        if not _NUMBERS.fullmatch(" ".join(numbers)) or len(numbers) not in transport_counts(protocol):
            return None
        names, samples = transport_names(protocol), self._begin(protocol, seen) if self._labels is None else []
        if not self._is_known and self._labels is not None:
            labels = (*self._labels, ("transport", str(self._transports)))
            samples += [(name, labels, text.encode()) for name, text in zip(names, numbers, strict=False) if name]
        self._transports += 1
        return samples

    def _begin(self, protocol: str, seen: set[tuple[str, ...]]) -> list[tuple[str, Key, bytes]]:
        self._labels = (("export", self._device), ("mountaddr", self._address), ("protocol", protocol))
        known = (self._device, self._address, protocol)
        self._is_known = known in seen
        seen.add(known)
        samples = [("mountpoint_info", (*self._labels, ("mountpoint", self._place)), b"1")]
        return samples + [(name, self._labels, text) for name, text in self._waiting if not self._is_known]

    def _operation(self, operation: str, numbers: Sequence[str]) -> list[tuple[str, Key, bytes]] | None:
        if len(numbers) not in COUNTS["operation"] or self._labels is None:
            return None
        labels = (*self._labels, ("operation", operation))
        counted = zip(OPERATION, numbers, strict=False)
        return [] if self._is_known else [(name, labels, _value(name, text)) for name, text in counted]


def _value(name: str, text: str) -> bytes:
    return repr(int(text) % DOUBLE_WHOLE / 1000).encode() if name in IN_MS else text.encode()


def _host_address(device: str) -> str:
    match = _HOST_ADDRESS.match(device)
    return match[1].strip("[]") if match else ""


def _kind(metric: str) -> str:
    return "gauge" if metric in GAUGES else "counter"
