"""Weights & Biases: offline run folders read from their `.wandb` logs, and exports, without the wandb package.

A log is one process of a run; a run that was resumed has several, and an export may hold it again. Rows are kept as
they are logged: which of two rows of a step counts is decided by their wall-clock time, in SQL.
"""

from collections.abc import Iterator

from gangline.sources.files import InputFile
from gangline.sources.records import Batch, ReadLog, SourceOptions
from gangline.sources.wandb_exports import read_json, read_parquet
from gangline.sources.wandb_log import FILE_HEADER
from gangline.sources.wandb_names import LOG_NAME, files
from gangline.sources.wandb_names import run_id_in as told_by_name
from gangline.sources.wandb_records import read_log
from gangline.sources.wandb_tables import read_csv
from gangline.vocabulary import SourceKind

__all__ = ["KIND", "VERSION", "files", "read", "told_by_name"]

KIND = SourceKind.WANDB
VERSION = 1
PARQUET_MAGIC = b"PAR1"
HEAD_BYTES = 4_096


def read(file: InputFile, options: SourceOptions, log: ReadLog) -> Iterator[Batch]:
    """Reads one W&B file: its kind is told by its content, and a `.wandb` log also by its name.

    Yields batches of `run_step_records` and `console_records`, and at the end of `run_records`.

    Raises
    ------
    SourceRefusedError
        If the file as a whole is none of W&B's.
    """
    with file.open() as stream:
        head = stream.read(HEAD_BYTES)
    # A log that is empty or damaged in its first bytes must not be taken for a table.
    if LOG_NAME.search(file.path.name) or head.startswith(FILE_HEADER[:4]):
        return read_log(file, log)
    if head.startswith(PARQUET_MAGIC):
        return read_parquet(file, log)
    if head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"{", b"["):
        return read_json(file, log)
    return read_csv(file, options, log)
