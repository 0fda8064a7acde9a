"""Samples of Prometheus and VictoriaMetrics in every form that their tools export, told by content.

Every form ends as batches of one series' samples. What is no sample (alerts, targets, metadata, a database's own
folders) is refused with the command that exports samples.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from gangline.sources.files import UTF8_BOM, InputFile
from gangline.sources.kernel_hosts import node_in_name
from gangline.sources.prometheus_api import read_api
from gangline.sources.prometheus_csv import read_csv
from gangline.sources.prometheus_export import is_export, read_export
from gangline.sources.prometheus_grafana import is_grafana, read_grafana
from gangline.sources.prometheus_grid import are_of_grid, is_grid
from gangline.sources.prometheus_mountstats import is_mountstats, read_mountstats
from gangline.sources.prometheus_text import is_promtool_query, read_text
from gangline.sources.read_log import ReadLog, SourceOptions, SourceRefusedError
from gangline.sources.samples import SampleBatch
from gangline.vocabulary import SourceKind

__all__ = ["KIND", "VERSION", "files", "has_export_lines", "read", "told_by_name"]

KIND = SourceKind.PROMETHEUS
VERSION = 3
HEAD_BYTES = 1 << 16
LINES_TRIED = 3
BINARY_BYTES, CONTROLS_MAX = 256, 4
SHOWN_BYTES = 60
INDEX_MAGIC, CHUNKS_MAGIC = b"\xba\xaa\xd7\x00", b"\x85\xbd\x40\xdd"
BLOCK_META = "meta.json"
_BLOCK_META = re.compile(rb'"ulid"\s*:')
_TEXT_LINE = re.compile(rb"#|[^\s{,;]*\{|[A-Za-z_:][\w:.]*\s*(?:\{|\s[-+\d.NIni])")
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f]")

DUMP_COMMAND = "promtool tsdb dump {} > dump.txt"
EXPORT_COMMAND = "curl -s 'http://HOST:8428/api/v1/export' -d 'match[]={__name__!=\"\"}' > export.jsonl"


def files(match: Path) -> list[Path]:
    """The files that a match of the config's glob stands for: of a database's folder its `meta.json` files only."""
    if match.is_file():
        return [match]
    blocks = sorted(match.glob(f"*/{BLOCK_META}")) or sorted(match.glob(BLOCK_META))
    return blocks[:1]


def told_by_name(path: Path) -> str | None:
    """The node that a file's name tells, where its content does not: of mountstats alone."""
    return node_in_name(path) if is_mountstats(_head(InputFile(path))) else None


def read(file: InputFile, options: SourceOptions, log: ReadLog) -> Iterator[SampleBatch]:
    """Yields the samples of a file by series.

    Raises
    ------
    SourceRefusedError
        Where the file is no export of samples, mixes units of time, or an option that it needs is missing.
    """
    head = _head(file)
    _refuse_databases(file, head)
    if is_grafana(head):
        return read_grafana(file, options, log)
    if is_mountstats(head):
        return read_mountstats(file, options, log)
    if is_export(head):
        return read_export(file, log)
    if not head.strip() or (options.format is None and _is_text(head) and not _is_binary(head)):
        return _read_text(file, head, options, log)
    if head.lstrip().startswith((b"{", b"[")) and not _is_text(head):
        return read_api(file, _is_gridded(file, options), log)
    return _read_after_damage(file, head, options, log)


def _read_text(file: InputFile, head: bytes, options: SourceOptions, log: ReadLog) -> Iterator[SampleBatch]:
    """What `promtool query` prints is an API answer: instants, a grid's points, or a range selector's samples."""
    if not is_promtool_query(head.lstrip()):
        return read_text(file, options.exported_at, log)
    if options.api_points:
        return read_text(file, None, log, is_gridded=options.api_points == "grid")
    are_instants = all(batch.times_ms.size == 1 for batch in read_text(file, None, ReadLog()))
    return read_text(file, None, log, is_gridded=are_instants or are_of_grid(read_text(file, None, ReadLog())))


def _read_after_damage(file: InputFile, head: bytes, options: SourceOptions, log: ReadLog) -> Iterator[SampleBatch]:
    """A file whose first line tells nothing: the lines after it do, else it is CSV, or nothing of ours."""
    rests = _later_lines(head)
    if any(is_export(rest) for rest in rests):
        return read_export(file, log)
    _refuse_binary(file, head)
    if options.format is None and any(_is_text(rest) for rest in rests):
        return read_text(file, options.exported_at, log)
    if options.format is None:
        _refuse_other(file, head)
    return read_csv(file, options.format, log)


def has_export_lines(file: InputFile) -> bool:
    """True for VictoriaMetrics' export lines, which stand for themselves, so that a file of them may be cut."""
    head = _head(file)
    return is_export(head) and not is_grafana(head)


def _head(file: InputFile) -> bytes:
    with file.open() as stream:
        return stream.read(HEAD_BYTES).removeprefix(UTF8_BOM).lstrip(b"\0")


def _later_lines(head: bytes) -> list[bytes]:
    """Rests of the head from the lines after the first, which may be the end of what was cut off."""
    rests = [head.lstrip()]
    while len(rests) < LINES_TRIED and (end := rests[-1].find(b"\n") + 1):
        rests.append(rests[-1][end:].lstrip())
    return rests[1:]


def _is_text(head: bytes) -> bool:
    """True for lines of samples: `{__name__="up"} 1 1795972358877` begins like JSON, but its keys are bare."""
    first = next((line for line in head.splitlines() if line.strip()), b"")
    if first.lstrip().startswith((b"{", b"[")):
        return re.match(rb'\s*\{\s*(?:[A-Za-z_]\w*\s*=|"[^"]*"\s*[,}])', first) is not None
    return _TEXT_LINE.match(first) is not None


def _is_gridded(file: InputFile, options: SourceOptions) -> bool:
    return options.api_points == "grid" if options.api_points else is_grid(file)


def _refuse_databases(file: InputFile, head: bytes) -> None:
    folder = file.path.parent
    database = folder.parent.name
    if head.startswith((INDEX_MAGIC, CHUNKS_MAGIC)) or (file.path.name == BLOCK_META and _BLOCK_META.search(head)):
        raise SourceRefusedError(
            f"{file.path.name}: part of a Prometheus database ({folder.name}); export its samples with"
            f" `{DUMP_COMMAND.format(database + '/')}` (a snapshot first needs `mkdir {database}/wal`)"
        )


def _is_binary(head: bytes) -> bool:
    """Whether there are control characters all over its beginning; holes of NULs are damage to text."""
    return len(_CONTROL.findall(head[:BINARY_BYTES].replace(b"\0\0", b""))) > CONTROLS_MAX


def _refuse_binary(file: InputFile, head: bytes) -> None:
    if _is_binary(head):
        raise SourceRefusedError(
            f"{file.path.name}: binary, such as VictoriaMetrics' native export; export lines with `{EXPORT_COMMAND}`"
        )


def _refuse_other(file: InputFile, head: bytes) -> None:
    """What cannot even be a CSV: a web page, say, or what a command said instead of writing an export."""
    first = head.strip().partition(b"\n")[0].strip()
    if b"," not in first or first.startswith(b"<"):
        shown = first[:SHOWN_BYTES].decode("utf-8", "replace")
        raise SourceRefusedError(
            f"{file.path.name}:1: no form of an export begins with {shown!r}; export it again (README, Telemetry)"
        )
