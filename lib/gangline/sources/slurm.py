"""Slurm's accounting: `sacct -P` or `-p` text in any delimiter and column set, and `sacct --json` of both generations.

A session is one run of a job: one row of `sacct -D`. Each requeue, each array task and each component of a
heterogeneous job (`11+0`, `11+1`: own nodes, own times, own end) is a session of its own; steps are none.
"""

from collections.abc import Iterator
from itertools import chain
from typing import BinaryIO

from gangline.sources.clocks import ImpossibleTimeError
from gangline.sources.files import UTF8_BOM, InputFile
from gangline.sources.records import Batch, ReadLog, SourceOptions, SourceRefusedError
from gangline.sources.slurm_columns import layout_of
from gangline.sources.slurm_fields import RecordError
from gangline.sources.slurm_jobs import JobReader
from gangline.sources.slurm_json import read_json
from gangline.sources.slurm_rows import SessionRows
from gangline.sources.slurm_text import NumberedLine, Piece, Rebuilder
from gangline.sources.tables_csv import LONE_RETURNS
from gangline.vocabulary import SourceKind

KIND = SourceKind.SLURM
VERSION = 1
BLOCK_BYTES = 1 << 20
MAX_LINE_BYTES = 64 << 20


def read(file: InputFile, options: SourceOptions, log: ReadLog) -> Iterator[Batch]:
    """The sessions of one sacct export.

    Raises
    ------
    SourceRefusedError
        If the file is no sacct export, or lacks what every session needs.
    """
    with file.open() as stream:
        start = stream.read(BLOCK_BYTES)
    if start.removeprefix(UTF8_BOM).lstrip()[:1] in (b"{", b"["):
        yield from read_json(file, options, log)
    else:
        yield from _read_text(file, options, log)


def _read_text(file: InputFile, options: SourceOptions, log: ReadLog) -> Iterator[Batch]:
    sessions = SessionRows(log)
    blocks = _blocks(file, log)
    header_line, header, lines = _header(blocks, file)
    layout = layout_of(header, options.delimiter, f"{file.path}:{header_line}")
    reader, rebuilder = JobReader(layout, options, log), Rebuilder(layout)
    reader.note_columns(header_line)
    for block in chain([lines], blocks):
        _judge(rebuilder.feed(_without_header(block, header, log)), reader, sessions, log)
        yield from sessions.full()
    _judge(rebuilder.finish(), reader, sessions, log)
    yield from sessions.rest()


def _judge(pieces: Iterator[Piece], reader: JobReader, sessions: SessionRows, log: ReadLog) -> None:
    steps = 0
    for piece in pieces:
        log.split()
        if piece.fields is None:
            log.reject(piece.line, piece.reason, piece.text)
        elif reader.is_step(piece.fields):
            steps += 1
        elif reader.is_elsewhere(piece.fields):
            log.ignore("other_cluster")
        else:
            _judge_job(piece, piece.fields, reader, sessions, log)
    if steps:
        log.ignore("step", steps)


def _judge_job(piece: Piece, fields: list[str], reader: JobReader, sessions: SessionRows, log: ReadLog) -> None:
    try:
        sessions.add(reader.job(piece.line, fields))
    except (RecordError, ImpossibleTimeError) as error:
        log.reject(piece.line, str(error), piece.text)
        return
    if piece.is_rebuilt:
        log.odd("rebuilt_record", piece.line)


def _header(blocks: Iterator[list[NumberedLine]], file: InputFile) -> tuple[int, str, list[NumberedLine]]:
    for block in blocks:
        for index, (number, text) in enumerate(block):
            if "\r" in text.rstrip("\r"):
                raise SourceRefusedError(f"{file.path}:{number}: {LONE_RETURNS}")
            if text.strip():
                return number, text, block[index + 1 :]
    raise SourceRefusedError(f"{file.path}:1: the file is empty")


def _without_header(lines: list[NumberedLine], header: str, log: ReadLog) -> list[NumberedLine]:
    """The lines without further headers, which stand where several exports were put together."""
    kept = [line for line in lines if line[1] != header]
    if len(kept) < len(lines):
        log.split(len(lines) - len(kept))
        log.ignore("header", len(lines) - len(kept))
    return kept


def _blocks(file: InputFile, log: ReadLog) -> Iterator[list[NumberedLine]]:
    """Numbered lines, some thousands at a time; carriage returns are dropped where the first line has one."""
    number, is_windows = 1, False
    with file.open() as stream:
        while data := _whole_lines(stream, file, number):
            if number == 1:
                data = data.removeprefix(UTF8_BOM)
                is_windows = data.partition(b"\n")[0].endswith(b"\r")
            lines = _decoded(data.replace(b"\r\n", b"\n") if is_windows else data, number, log)
            yield list(enumerate(lines, number))
            number += len(lines)


def _whole_lines(stream: BinaryIO, file: InputFile, number: int) -> bytes:
    data = stream.read(BLOCK_BYTES)
    if data and not data.endswith(b"\n"):
        data += stream.readline(MAX_LINE_BYTES)
        if len(data) >= MAX_LINE_BYTES:
            raise SourceRefusedError(f"{file.path}:{number}: a line of over 64 MB: this is no sacct text")
    return data


def _decoded(data: bytes, number: int, log: ReadLog) -> list[str]:
    data = data.removesuffix(b"\n")
    try:
        return data.decode().split("\n")
    except UnicodeDecodeError:
        lines = data.split(b"\n")
    decoded = [line.decode(errors="replace") for line in lines]
    for offset, (line, text) in enumerate(zip(lines, decoded, strict=True)):
        if "�" in text and text.encode() != line:
            log.odd("not_utf8", number + offset)
    return decoded
