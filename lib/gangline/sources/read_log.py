"""What a reader of a file is told, and what it tells: options, the account of every record, the refusal of the whole.

It stands apart from the tables, so that a process which reads nothing but samples starts without polars.
"""

from dataclasses import dataclass, field
from datetime import datetime

REJECT_TEXT_CHARS = 500
REJECTS_LISTED = 10_000  # of a file; junk of millions of lines must not fill the memory


@dataclass(frozen=True)
class Reject:
    """A record that could not be read: where, why (with the mend), and its first characters."""

    line: int | None
    reason: str
    text: str


@dataclass(frozen=True)
class SourceOptions:
    """What a `[[sources]]` entry, or the cluster, says about how its files are to be read."""

    kind: str
    time_zone: str = "UTC"
    delimiter: str | None = None
    epoch: datetime | None = None
    source_cluster: str | None = None
    format: str | None = None
    node: str | None = None
    boot_at: datetime | None = None
    api_points: str | None = None
    exported_at: datetime | None = None  # prometheus: of a scrape without timestamps; logs: of times without a year
    node_labels: tuple[str, ...] = ()  # prometheus: which labels name the node
    node_strip: tuple[str, ...] = ()  # prometheus and logs: patterns cut from a node's name


@dataclass
class ReadLog:
    """Accounts for a file: records = loaded + ignored + rejected, checked when the file is done.

    `records` is counted where records are split from the file, the other three where each is judged, so that a
    record that falls between them shows.
    """

    records: int = 0
    loaded: int = 0
    ignored: dict[str, int] = field(default_factory=dict)
    rejected: int = 0
    rejects: list[Reject] = field(default_factory=list)
    oddities: dict[str, tuple[int, int | None]] = field(default_factory=dict)
    first_at: datetime | None = None
    latest_at: datetime | None = None

    def split(self, count: int = 1) -> None:
        """Counts records as they are cut from the file."""
        self.records += count

    def load(self, count: int = 1) -> None:
        """Counts records that became rows."""
        self.loaded += count

    def ignore(self, what: str, count: int = 1) -> None:
        """Counts records that are no rows by design (job steps, say)."""
        self.ignored[what] = self.ignored.get(what, 0) + count

    def reject(self, line: int | None, reason: str, text: str = "") -> None:
        """Keeps a record that cannot be read; of very many, the later ones are counted only."""
        self.rejected += 1
        if self.rejected > REJECTS_LISTED:
            self.odd("rejects_not_listed", line)
        else:
            self.rejects.append(Reject(line, reason, text[:REJECT_TEXT_CHARS]))

    def odd(self, kind: str, line: int | None = None, count: int = 1) -> None:
        """Counts something read but strange; the first line is kept as the example."""
        seen, first = self.oddities.get(kind, (0, line))
        self.oddities[kind] = (seen + count, first)

    def saw(self, *instants: datetime | None) -> None:
        """Widens the file's span of start, end, submit, sample or message instants (never limits or forecasts)."""
        for at in instants:
            if at is not None:
                self.first_at = at if self.first_at is None else min(self.first_at, at)
                self.latest_at = at if self.latest_at is None else max(self.latest_at, at)

    def is_balanced(self) -> bool:
        """True where every record that was split off was loaded, ignored or rejected."""
        return self.records == self.loaded + sum(self.ignored.values()) + self.rejected


class SourceRefusedError(ValueError):
    """The whole file cannot be read as this kind: one line that says what, file:line, and the mend."""
