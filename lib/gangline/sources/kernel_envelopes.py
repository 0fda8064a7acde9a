"""What dmesg, journalctl and syslog put in front of a kernel message; which one it is shows in the line itself."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from gangline.sources import kernel_stamps as stamps
from gangline.vocabulary import TimeQuality

_PRIORITY = rb"(?:<\d{1,3}>|[a-z0-9]{2,8} *:[a-z]{2,8} *: ?)?"
_UPTIME = rb"(?P<uptime>\d{1,10}\.\d{1,9})"
_CALLER = rb"(?:\[ *[TC]\d{1,10}\] ?)?"
_MONTH_DAY = rb"(?P<month>Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [ \d]\d \d\d:\d\d:\d\d"
_ISO_CLOCK = rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d"
_OFFSET = rb"(?:Z|[+-]\d\d:?\d\d)"
# Behind the tag syslog daemons keep the kernel's own uptime, where `printk.time` is on; some write no space before it.
_HOST_TAG = rb"(?P<host>[^\s:\[\]]{1,255}) (?P<tag>[^\s:\[]{1,255})(?:\[\d{1,10}\])?: ?(?:\[ *" + _UPTIME + rb"\] ?)?"
_KERNEL_TAG = rb"[^\s:\[\]]{1,255} kernel(?:\[\d{1,10}\])?: "
_MARKER = rb"-- (?:Boot (?P<boot>[0-9a-f]{32})|(?P<reboot>Reboot)|Logs begin|Journal begins|No entries)"
_WEEKDAY = rb"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)"
# A node's name has a letter and a digit, or is an address: `kernel: [12.5]` is a tag without a host.
_SHELL_NODE = rb"(?P<node>(?=[A-Za-z.-]*\d)(?=[\d-]*[A-Za-z.])[A-Za-z0-9][A-Za-z0-9.-]{1,252}): "
SHELL_NODE = re.compile(_SHELL_NODE)
KERNEL_TAG = b"kernel"
EXPORT_START = re.compile(rb"(?:__CURSOR|__REALTIME_TIMESTAMP)=")


@dataclass(frozen=True)
class Envelope:
    """One way to write the head of a line; groups: stamp, month, uptime (s), uptime_us, host, tag."""

    name: str
    head: bytes
    quality: TimeQuality
    read_stamp: stamps.Stamp | None = None
    sign: bytes | None = None  # what a line must also begin with before this envelope is chosen

    @cached_property
    def pattern(self) -> re.Pattern[bytes]:
        """Matches the head of a line of this envelope."""
        return re.compile(self.head)

    @cached_property
    def choice(self) -> re.Pattern[bytes]:
        """Matches a line that tells this envelope from the others."""
        return re.compile(self.sign or self.head)

    @cached_property
    def has_host(self) -> bool:
        """True where a line names its node."""
        return "host" in self.pattern.groupindex

    @cached_property
    def has_tag(self) -> bool:
        """True where a line names who wrote it: the kernel or a program."""
        return "tag" in self.pattern.groupindex

    @cached_property
    def _has_uptime(self) -> bool:
        return "uptime" in self.pattern.groupindex

    def uptime_s(self, head: re.Match[bytes]) -> float | None:
        """Seconds since the boot, where the head tells."""
        if self._has_uptime:
            text = head["uptime"]
            return None if text is None else float(text)
        return int(head["uptime_us"]) / 1e6 if self.name == "kmsg" else None

    @cached_property
    def is_yearless(self) -> bool:
        """True where the year must be inferred."""
        return self.quality == TimeQuality.YEAR_INFERRED


# The first whose sign a line has is chosen, so that the more telling ones stand first.
_OWN = (
    Envelope(
        "dmesg_iso", _PRIORITY + rb"(?P<stamp>" + _ISO_CLOCK + rb",\d{1,9}" + _OFFSET + rb") " + _CALLER,
        TimeQuality.UPTIME, stamps.iso,
    ),
    Envelope(
        "dmesg_ctime",
        _PRIORITY + rb"\[(?P<stamp>" + _WEEKDAY + rb" [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4})"
        rb"(?: <[ \d.]+>)?\] ?" + _CALLER,
        TimeQuality.UPTIME, stamps.ctime,
    ),
    Envelope(
        "syslog_5424",
        rb"<\d{1,3}>1 (?P<stamp>-|" + _ISO_CLOCK + rb"(?:\.\d{1,9})?" + _OFFSET
        + rb") (?P<host>\S{1,255}) (?P<tag>\S{1,255}) \S{1,255} \S{1,255} (?:-|(?:\[(?:[^\]\\]|\\.)*\])+) ?"
        + rb"(?:\xef\xbb\xbf)?(?:\[ *" + _UPTIME + rb"\] ?)?",
        TimeQuality.STAMPED, stamps.iso,
    ),
    Envelope(
        "iso_host", _PRIORITY + rb"(?P<stamp>" + _ISO_CLOCK + rb"(?:\.\d{1,9})?" + _OFFSET + rb") " + _HOST_TAG,
        TimeQuality.STAMPED, stamps.iso,
    ),
    Envelope(
        "syslog", _PRIORITY + rb"(?P<stamp>" + _MONTH_DAY + rb"(?:\.\d{1,9})?) " + _HOST_TAG,
        TimeQuality.YEAR_INFERRED, stamps.month_day,
    ),
    Envelope(
        "journal_full",
        rb"(?P<stamp>" + _WEEKDAY + rb" \d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,6})? [A-Z+\-\d]{1,8}) " + _HOST_TAG,
        TimeQuality.LOCAL, stamps.full,
    ),
    Envelope("journal_unix", rb"(?P<stamp>\d{9,10}\.\d{6}) " + _HOST_TAG, TimeQuality.STAMPED, stamps.unix),
    Envelope(
        "journal_monotonic", rb"\[ *" + _UPTIME + rb"\] " + _HOST_TAG.replace(rb"(?:\[ *" + _UPTIME + rb"\] ?)?", b""),
        TimeQuality.UPTIME, sign=rb"\[ *\d{1,10}\.\d{6}\] " + _KERNEL_TAG,
    ),
    Envelope("dmesg", _PRIORITY + rb"\[ *" + _UPTIME + rb"\] ?" + _CALLER, TimeQuality.UPTIME),
    Envelope("kmsg", rb"\d{1,4},\d{1,19},(?P<uptime_us>\d{1,17}),[^;\n]{1,200};", TimeQuality.UPTIME),
    Envelope(
        "dmesg_delta", _PRIORITY + rb"\[(?: *\+[\d.]+|<[ \d.]+>|[A-Z][a-z]{2}[ \d]\d \d\d:\d\d)\] ?" + _CALLER,
        TimeQuality.NONE,
    ),
)  # fmt: skip


def _by_shell(envelope: Envelope) -> Envelope:
    """The same from many nodes at once, by pdsh or clush: `gpu071: ` before each line, the node where none follows."""
    before = _SHELL_NODE if envelope.has_host else _SHELL_NODE.replace(rb"(?P<node>", rb"(?P<host>")
    sign = before + (envelope.sign or envelope.head)
    return Envelope(f"pdsh_{envelope.name}", before + envelope.head, envelope.quality, envelope.read_stamp, sign)


_SENT_TO_MANY = {"dmesg_iso", "dmesg_ctime", "iso_host", "syslog", "journal_full", "journal_unix", "journal_monotonic"}
ENVELOPES = (*_OWN, *(_by_shell(each) for each in _OWN if each.name in {*_SENT_TO_MANY, "dmesg"}))
# Messages alone (dmesg -t, journalctl -o cat): any line that is not indented begins one.
BARE = Envelope("bare", _PRIORITY + rb"(?=\S)", TimeQuality.NONE, sign=rb"NVRM: |nvidia-nvswitch\d+: |Linux version ")
MARKER = re.compile(_MARKER)
MONOTONIC = next(envelope for envelope in ENVELOPES if envelope.name == "journal_monotonic")


def envelope_of(line: bytes) -> Envelope | None:
    """The envelope that a line's head belongs to; null where it has none.

    >>> envelope_of(b"[10700.000000] NVRM: ...").name, envelope_of(b"[10700.000000] gpu071 kernel: NVRM: ...").name
    ('dmesg', 'journal_monotonic')
    """
    return next((envelope for envelope in ENVELOPES if envelope.choice.match(line)), None)


def first_envelope(lines: Iterable[bytes]) -> Envelope | None:
    """The envelope of the first line that has one; messages alone only where no line has."""
    sample = list(lines)
    found = next((envelope for envelope in map(envelope_of, sample) if envelope), None)
    if found is not None and found.name == "dmesg" and any(map(MONOTONIC.choice.match, sample)):
        return MONOTONIC  # a line of a program is not told from one of dmesg
    return found or (BARE if any(map(BARE.choice.match, sample)) else None)
