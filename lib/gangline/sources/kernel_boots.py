"""The boots of a node in a kernel log: what each covers, and the instants that anchor its uptime."""

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from gangline.sources.kernel_envelopes import Envelope
from gangline.sources.kernel_stamps import since_epoch
from gangline.sources.table_times import YEARS
from gangline.vocabulary import TimeQuality

Head = tuple[int, re.Match[bytes], int, Envelope]  # line, head as matched, year where the line has none, envelope

STEP_BACK_S = 10.0  # messages of several processors come a little out of order; a boot begins at 0
_CLOCK_SET = re.compile(r"setting system clock to .{1,40} \((\d{9,10})\)")
_AUDIT = re.compile(r"audit: type=2000 audit\((\d{9,10})\.(\d{3}):\d+\)")


@dataclass
class Boot:
    """One boot of a node, as far as the log shows it."""

    line: int
    boot_id: str | None
    envelope: str
    boot_at: datetime | None = None
    lines: int = 0
    events: int = 0
    first_at: datetime | None = None
    latest_at: datetime | None = None
    first_uptime_s: float | None = None
    latest_uptime_s: float | None = None
    quality: TimeQuality = TimeQuality.NONE
    gpu_uuids: dict[str, str] = field(default_factory=dict)
    first_head: Head | None = None
    latest_head: Head | None = None

    def saw_head(self, head: Head, uptime_s: float | None) -> None:
        """Counts a record of lines; times of the first and the latest are read when all is over."""
        self.lines += 1
        self.latest_head = head
        if self.first_head is None:
            self.first_head, self.first_uptime_s = head, uptime_s
        if uptime_s is not None:
            self.latest_uptime_s = uptime_s

    def saw_record(self, at: datetime | None, uptime_s: float | None, quality: TimeQuality) -> None:
        """Counts a record of named fields."""
        self.lines += 1
        self.saw(at)
        if at is not None:
            self.quality = quality
        if uptime_s is not None:
            self.first_uptime_s = uptime_s if self.first_uptime_s is None else self.first_uptime_s
            self.latest_uptime_s = uptime_s

    def at_uptime(self, uptime_s: float | None) -> datetime | None:
        """The instant of an uptime, where the boot's own is known."""
        return None if uptime_s is None or self.boot_at is None else _later(self.boot_at, uptime_s)

    def is_beyond_calendar(self, uptime_s: float | None) -> bool:
        """True of an uptime that no boot reaches."""
        return uptime_s is not None and self.boot_at is not None and self.at_uptime(uptime_s) is None

    def saw(self, at: datetime | None) -> None:
        """Widens what the boot covers."""
        if at is not None:
            self.first_at = at if self.first_at is None else min(self.first_at, at)
            self.latest_at = at if self.latest_at is None else max(self.latest_at, at)

    def close(self) -> None:
        """Works out, from a clock beside an uptime or the reverse, what no line said outright."""
        if self.boot_at is None and self.first_at is not None and self.first_uptime_s is not None:
            self.boot_at = _later(self.first_at, -self.first_uptime_s)
        elif self.quality == TimeQuality.NONE and self.boot_at is not None and self.first_uptime_s is not None:
            self.saw(self.at_uptime(self.first_uptime_s))
            self.saw(self.at_uptime(self.latest_uptime_s))
            self.quality = TimeQuality.UPTIME


@dataclass
class NodeLog:
    """All boots of one node; the current one is the last that a line told or an uptime began anew."""

    node: str | None
    evidence: str
    envelope: str
    boot_at: datetime | None = None  # of the first boot, as the config says
    boots: dict[str | None, Boot] = field(default_factory=dict)
    current: Boot | None = None
    count: int = 0

    def boot(self, line: int, uptime_s: float | None = None, told_id: str | None = None) -> Boot:
        """The boot that a record belongs to."""
        current = self.current
        if told_id is not None:
            if current is None or current.boot_id != told_id:
                current = self.boots.get(told_id) or self._begin(line, told_id)
        elif current is None:
            current = self.begin(line, has_order=uptime_s is not None)
        elif uptime_s is not None and uptime_s < (current.latest_uptime_s or 0.0) - STEP_BACK_S:
            current = self.begin(line)
        self.current = current
        return current

    def begin(self, line: int, has_order: bool = True) -> Boot:
        """A boot that the log shows without naming it; the first has no id unless boots can be told apart."""
        self.count += 1
        return self._begin(line, f"boot:{self.count}" if has_order else None)

    def _begin(self, line: int, boot_id: str | None) -> Boot:
        boot = Boot(line, boot_id, self.envelope, self.boot_at if not self.boots else None)
        self.boots[boot_id] = self.current = boot
        return boot


def anchor_of(text: str, uptime_s: float | None) -> datetime | None:
    """The boot's instant, from a message in which the kernel tells an absolute time beside its uptime.

    >>> anchor_of("rtc_cmos rtc_cmos: setting system clock to 2026-12-31T21:00:03 UTC (1798750803)", 3.0).isoformat()
    '2026-12-31T21:00:00+00:00'
    """
    if uptime_s is None:
        return None
    clock_set, audited = _CLOCK_SET.search(text), _AUDIT.match(text)
    if clock_set:
        return _later(since_epoch(int(clock_set[1]) * 1_000_000), -uptime_s)
    return _later(since_epoch(int(audited[1] + audited[2]) * 1_000), -uptime_s) if audited else None


def _later(at: datetime, seconds: float) -> datetime | None:
    """Null where no clock that was set shows it."""
    try:
        later = (at + timedelta(seconds=seconds)).astimezone(UTC)
    except OverflowError:
        return None
    return later if later.year in YEARS else None
