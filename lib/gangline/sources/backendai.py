"""Sessions of Backend.AI, from any of its exports: the CLI, GraphQL, `admin export`, or its PostgreSQL tables.

No one form says everything: the CLI has no history, GraphQL no GPUs per kernel, the admin export no start. Each record
carries what its form has; sessions are put together from all of them in SQL, by their uuid.
"""

import json
from collections.abc import Iterator
from zoneinfo import ZoneInfo

from gangline.sources.backendai_records import RecordMaker
from gangline.sources.backendai_rows import backendai_rows
from gangline.sources.batches import Batches
from gangline.sources.files import InputFile
from gangline.sources.records import Batch, ReadLog, SourceOptions
from gangline.sources.table_rows import RowError
from gangline.vocabulary import SourceKind

KIND = SourceKind.BACKENDAI
VERSION = 1


def read(file: InputFile, options: SourceOptions, log: ReadLog) -> Iterator[Batch]:
    """Yields sessions, their kernels and their visits to statuses, in batches.

    Raises
    ------
    SourceRefusedError
        If the file is no form of Backend.AI export.
    """
    maker = RecordMaker(ZoneInfo(options.time_zone), log)
    batches = Batches()
    for row in backendai_rows(file, options, log):
        try:
            records = maker.records(row)
        except RowError as error:
            log.reject(row.line, str(error), _text(row.raw))
            continue
        if records:
            log.load()
        else:
            log.ignore("step without a new status")
        batches.add(records)
        yield from batches.full()
    yield from batches.rest()


def _text(raw: object) -> str:
    return raw if isinstance(raw, str) else json.dumps(raw, ensure_ascii=False)
