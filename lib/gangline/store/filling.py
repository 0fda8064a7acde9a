"""A share of a file read into parts: what was read, what was written, what was strange. It needs no warehouse."""

from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field

from gangline.sources import prometheus
from gangline.sources.encodings import refuse_utf16
from gangline.sources.files import InputFile
from gangline.sources.metering import Meter, metered
from gangline.sources.prometheus_export import read_lines
from gangline.sources.prometheus_times import Clock
from gangline.sources.read_log import REJECTS_LISTED, ReadLog, Reject, SourceOptions, SourceRefusedError
from gangline.sources.samples import SampleBatch
from gangline.store.identity import NodeRule
from gangline.store.shares import Share
from gangline.store.sink import SampleSink, Written


@dataclass
class Filled:
    """What reading a share, or all shares of a file, came to.

    Attributes
    ----------
    line_count
        Lines of the share; a rejected line's number counts from its start.
    unit
        Of its timestamps, where it is one of several shares.
    refusal
        Why the rest of it is not read.
    damage
        Where it breaks off.
    problem
        Why the file could not be fetched.
    """

    log: ReadLog = field(default_factory=ReadLog)
    written: Written = field(default_factory=Written)
    line_count: int = 0
    unit: str | None = None
    refusal: str | None = None
    damage: tuple[str, ...] = ()
    sha256: str | None = None
    problem: OSError | None = None


def fill(share: Share, meter: Meter = lambda done, total: None) -> Filled:
    """Reads a share into parts of the store, which count once they are recorded.

    Raises
    ------
    OSError
        Where a part cannot be written.
    """
    if share.problem is not None:
        return Filled(problem=share.problem)
    return _fill_whole(share, meter) if share.end is None else _fill_lines(share)


def joined(pieces: Iterable[Filled]) -> Filled | None:
    """All shares of a file, in its order, as one; null where only reading it in one go tells what is wrong with it.

    Each is taken in as it comes, so that of a file of any length only the series seen are held.
    """
    whole, is_sound = None, True
    for piece in pieces:
        if whole is None:
            whole = piece
        else:
            is_sound = is_sound and _fit(whole, piece)
            _append(whole, piece)
    return whole if is_sound or (whole is not None and whole.problem) else None


def _fit(whole: Filled, piece: Filled) -> bool:
    has_one_unit = whole.unit is None or piece.unit is None or whole.unit == piece.unit
    return has_one_unit and whole.refusal is None and piece.refusal is None


def _append(whole: Filled, piece: Filled) -> None:
    _take_log(whole.log, piece.log, whole.line_count)
    whole.written.join(piece.written)
    whole.line_count += piece.line_count
    whole.unit = whole.unit or piece.unit
    whole.damage, whole.sha256, whole.problem = piece.damage, piece.sha256, piece.problem


def _fill_lines(share: Share) -> Filled:
    filled, clock = Filled(damage=share.damage, sha256=share.sha256), Clock(share.path.name)
    with closing(_sink(share)) as sink:
        try:
            for batch in read_lines(_counted(share, filled), clock, filled.log):
                sink.take(batch)
        except SourceRefusedError as error:
            filled.refusal = str(error)
        filled.written = sink.finish()
    filled.unit = clock.unit
    return filled


def _counted(share: Share, filled: Filled) -> Iterator[tuple[int, bytes]]:
    for number, line in share.lines():
        filled.line_count = number
        yield number, line


def _fill_whole(share: Share, meter: Meter) -> Filled:
    """The hash is taken beside the reading, which follows it through the same pages."""
    file = InputFile(share.path)
    with ThreadPoolExecutor(1, thread_name_prefix="digest") as pool:
        digest = pool.submit(file.digest) if share.sha256 is None else None
        try:
            filled = _read_whole(share, file, meter)
        except OSError:
            if (problem := _problem(digest)) is None:
                raise
            return Filled(problem=problem)
        if (problem := _problem(digest)) is not None:
            return Filled(problem=problem)
    filled.sha256 = digest.result() if digest else share.sha256
    return filled


def _problem(digest: "Future[str] | None") -> OSError | None:
    error = digest.exception() if digest else None
    if error is not None and not isinstance(error, OSError):
        raise error
    return error


def _read_whole(share: Share, file: InputFile, meter: Meter) -> Filled:
    """A file refused as a whole keeps the samples that were read before it broke."""
    filled = Filled()
    with closing(_sink(share)) as sink:
        try:
            for batch in metered(_batches(file, share.options, filled.log), file, meter):
                sink.take(batch)
        except SourceRefusedError as error:
            filled.refusal = str(error)
        filled.written = sink.finish()
    filled.damage = tuple(file.damage)
    return filled


def _batches(file: InputFile, options: SourceOptions, log: ReadLog) -> Iterator[SampleBatch]:
    refuse_utf16(file)
    yield from prometheus.read(file, options, log)


def _sink(share: Share) -> SampleSink:
    return SampleSink(share.telemetry, NodeRule(share.options.node_labels, share.options.node_strip))


def _take_log(log: ReadLog, other: ReadLog, lines_before: int) -> None:
    """Adds the log of the lines that follow, as if one reader had gone on."""
    room = max(0, REJECTS_LISTED - log.rejected)
    log.rejects += [Reject(_moved(each.line, lines_before), each.reason, each.text) for each in other.rejects[:room]]
    if unlisted := other.rejects[room:]:
        log.odd("rejects_not_listed", _moved(unlisted[0].line, lines_before), len(unlisted))
    for kind, (count, line) in other.oddities.items():
        log.odd(kind, _moved(line, lines_before), count)
    log.records, log.loaded, log.rejected = (
        log.records + other.records,
        log.loaded + other.loaded,
        log.rejected + other.rejected,
    )
    log.saw(other.first_at, other.latest_at)


def _moved(line: int | None, lines_before: int) -> int | None:
    return None if line is None else line + lines_before
