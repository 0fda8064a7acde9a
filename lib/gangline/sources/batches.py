"""Rows gathered into batches, for sources that fill several raw tables from one file."""

from collections.abc import Iterator

from gangline.sources.records import Batch, frame_of

BATCH_ROWS = 20_000

Records = list[tuple[str, dict[str, object]]]  # raw table, row by column name


class Batches:
    """Holds rows per raw table until there are `BATCH_ROWS` of them.

    Examples
    --------
    >>> from gangline.sources.records import SESSION_STATUS_RECORDS
    >>> batches = Batches()
    >>> batches.add([(SESSION_STATUS_RECORDS, {"line": 1, "status": "RUNNING"})])
    >>> list(batches.full()), [batch.frame.height for batch in batches.rest()]
    ([], [1])
    """

    def __init__(self, batch_rows: int = BATCH_ROWS) -> None:
        self._batch_rows = batch_rows
        self._rows: dict[str, list[dict[str, object]]] = {}

    def add(self, records: Records) -> None:
        """Takes the rows that one record of the file became."""
        for table, row in records:
            self._rows.setdefault(table, []).append(row)

    def full(self) -> Iterator[Batch]:
        """The batches that are full, which are then forgotten."""
        for table, rows in self._rows.items():
            if len(rows) >= self._batch_rows:
                yield Batch(table, frame_of(table, rows))
                self._rows[table] = []

    def rest(self) -> Iterator[Batch]:
        """What is left at the file's end."""
        for table, rows in self._rows.items():
            if rows:
                yield Batch(table, frame_of(table, rows))
        self._rows = {}
