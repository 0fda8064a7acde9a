"""Files of samples into the store and the ledger: read by two processes where that is worth it, recorded in order."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import duckdb

from gangline.ingest.finding import FoundFile
from gangline.ingest.loading import FileOutcome, record_samples, unreadable
from gangline.sources.metering import Meter
from gangline.store.filling import Filled, fill, joined
from gangline.store.readers import fill_all, is_worth_a_helper
from gangline.store.shares import Share, is_cut, shares_of

PACKED_TIMES = 4  # text is about this much longer than what is packed of it


@dataclass(frozen=True)
class SampleFile:
    """A file to load; its hash where that is known before it is read, or why it cannot be read."""

    found: FoundFile
    size_bytes: int
    sha256: str | None = None
    problem: OSError | None = None


def load_sample_files(
    con: duckdb.DuckDBPyConnection,
    files: list[SampleFile],
    is_strict: bool,
    telemetry: Path,
    tell: Callable[[FoundFile], None] = lambda found: None,
    meter: Meter = lambda done, total: None,
) -> Iterator[FileOutcome]:
    """Yields what became of each file, in order, once its samples count.

    Parameters
    ----------
    tell : told each file as its turn comes
    meter : told, while that file is read, how many of its bytes are and how many it has
    """
    is_helped = _are_several_shares(files) and is_worth_a_helper(sum(_text_bytes(file) for file in files))
    filled = fill_all(_shares(files, telemetry), is_helped, meter)
    for file in files:
        tell(file.found)
        whole = _whole_of(filled, file, telemetry, meter)
        if whole.problem is not None:
            yield unreadable(file.found, whole.problem)
        else:
            yield record_samples(con, file.found, whole, is_strict)


def _shares(files: list[SampleFile], telemetry: Path) -> Iterator[Share]:
    for file in files:
        if file.problem is not None:
            yield replace(_uncut(file, telemetry), problem=file.problem)
        else:
            yield from shares_of(file.found.path, file.found.options, telemetry, file.sha256)


def _whole_of(filled: Iterator[tuple[Share, Filled]], file: SampleFile, telemetry: Path, meter: Meter) -> Filled:
    return joined(_pieces_of(filled, file, meter)) or fill(_uncut(file, telemetry), meter)


def _pieces_of(filled: Iterator[tuple[Share, Filled]], file: SampleFile, meter: Meter) -> Iterator[Filled]:
    """What came of a file's shares, up to its last one."""
    for share, piece in filled:
        yield piece
        if share.is_last:
            return
        meter(share.read_bytes, file.size_bytes)


def _uncut(file: SampleFile, telemetry: Path) -> Share:
    return Share(file.found.path, file.found.options, telemetry, file.found.path, sha256=file.sha256)


def _are_several_shares(files: list[SampleFile]) -> bool:
    return len(files) > 1 or any(is_cut(file.found.input, file.size_bytes) for file in files if file.problem is None)


def _text_bytes(file: SampleFile) -> int:
    is_packed = file.problem is None and file.found.input.is_packed()
    return file.size_bytes * (PACKED_TIMES if is_packed else 1)
