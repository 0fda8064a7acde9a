"""Kernel logs: what the GPU driver and the kernel said on a node, from dmesg, journalctl or syslog.

Which of their formats a file has is told by its content. Lines that are no event are ignored and counted; what each
file covers of each node and boot is kept, so that silence can be told from absence.
"""

import re
from collections.abc import Iterator

from gangline.sources.files import InputFile
from gangline.sources.kernel_envelopes import EXPORT_START
from gangline.sources.kernel_hosts import node_in_name as told_by_name
from gangline.sources.kernel_json import FieldLog
from gangline.sources.kernel_reading import KernelReading
from gangline.sources.kernel_text import TextLog
from gangline.sources.records import Batch, ReadLog, SourceOptions
from gangline.vocabulary import SourceKind

__all__ = ["KIND", "VERSION", "read", "told_by_name"]

KIND = SourceKind.KERNEL_LOG
VERSION = 2

_PEEK_BYTES = 4_096
_JSON = re.compile(rb"(?:\xef\xbb\xbf)?[\s\x1e]*(?:\{|\[\s*\{)")


def read(file: InputFile, options: SourceOptions, log: ReadLog) -> Iterator[Batch]:
    """Yields batches of `kernel_event_records`, and at the end of `kernel_log_records`.

    Parameters
    ----------
    options
        `node` for lines that name none (else the file's name), `boot_at` as the anchor of relative times, `time_zone`
        for clocks without an offset, `exported_at` for times without a year, `node_strip`.

    Raises
    ------
    SourceRefusedError
        If no line is one of dmesg, journalctl or syslog.
    """
    with file.open() as stream:
        start = stream.read(_PEEK_BYTES)
    reading = KernelReading(file, options, log)
    if _JSON.match(start):
        yield from FieldLog(reading).read_json(file)
    elif EXPORT_START.match(start):
        yield from FieldLog(reading).read_export(file)
    else:
        yield from TextLog(file, reading).read()
    yield from reading.rest()
