"""Every file that is not in the ledger yet, loaded in the order of the config."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

import duckdb

from gangline.ingest.finding import FoundFile
from gangline.ingest.ledger import Ledger, regular_status
from gangline.ingest.loading import FileOutcome, file_id_of, load_file, unreadable
from gangline.ingest.sample_files import SampleFile, load_sample_files
from gangline.sources.metering import Meter
from gangline.vocabulary import SourceKind

Listener = Callable[[str, int, int], None]


@dataclass
class NewFiles:
    """What is done, and what of it was new.

    Attributes
    ----------
    ledger : what the warehouse held before
    listener : told the file at work, how many are done and how many there are
    meter : told, while a file is read, how many of its bytes are and how many it has
    """

    con: duckdb.DuckDBPyConnection
    ledger: Ledger
    telemetry: Path
    is_strict: bool
    listener: Listener = lambda path, done, total: None
    meter: Meter = lambda done, total: None
    outcomes: list[FileOutcome] = field(default_factory=list)
    known: int = 0
    _seen: set[str] = field(default_factory=set)

    def load(self, files: list[FoundFile]) -> None:
        """Loads what is new among files."""
        for is_samples, group in groupby(files, lambda file: file.kind == SourceKind.PROMETHEUS):
            if is_samples:
                self._load_samples(list(group), len(files))
            else:
                self._load_rows(list(group), len(files))
        self.listener("", len(files), len(files))

    def _tell(self, file: FoundFile, total: int) -> None:
        self.listener(file.shown_path, self.known + len(self.outcomes), total)

    def _load_rows(self, files: list[FoundFile], total: int) -> None:
        for file in files:
            self._tell(file, total)
            try:
                sha256 = self.ledger.digest_of(file)
            except OSError as error:
                self.outcomes.append(unreadable(file, error))
                continue
            if not self._is_known(file, sha256):
                self.outcomes.append(load_file(self.con, file, sha256, self.is_strict, self.meter))

    def _load_samples(self, files: list[FoundFile], total: int) -> None:
        """Their hashes are taken while they are read, but where the content may be known by its length."""
        new = list(self._new_samples(files))
        for outcome in load_sample_files(
            self.con, new, self.is_strict, self.telemetry, lambda file: self._tell(file, total), self.meter
        ):
            self.outcomes.append(outcome)

    def _new_samples(self, files: list[FoundFile]) -> Iterator[SampleFile]:
        lengths = [_length_of(file) for file in files]
        times = Counter(length for length in lengths if isinstance(length, int))
        for file, length in zip(files, lengths, strict=True):
            if isinstance(length, OSError):
                yield SampleFile(file, 0, problem=length)
                continue
            try:
                may_be_known = times[length] > 1 or self.ledger.has_size(file, length)
                sha256 = self.ledger.digest_of(file) if may_be_known else None
            except OSError as error:
                yield SampleFile(file, 0, problem=error)
                continue
            if sha256 is None or not self._is_known(file, sha256):
                yield SampleFile(file, length, sha256)

    def _is_known(self, file: FoundFile, sha256: str) -> bool:
        """True where the content is loaded already, or stood in a file before this one."""
        file_id = file_id_of(sha256, file.kind)
        is_seen = file_id in self._seen
        self._seen.add(file_id)
        if not is_seen and self.ledger.is_loaded(file, file_id):
            self.ledger.note_place(self.con, file, file_id)
            is_seen = True
        self.known += is_seen
        return is_seen


def _length_of(file: FoundFile) -> int | OSError:
    """How long a file is, or why it cannot be read."""
    try:
        status = regular_status(file)
        with file.path.open("rb"):
            return status.st_size
    except OSError as error:
        return error
