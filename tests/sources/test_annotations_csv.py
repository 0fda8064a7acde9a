"""Annotations as a plain table."""

from datetime import UTC, datetime
from pathlib import Path

import polars as pl

from gangline.sources import annotations_csv
from gangline.sources.files import InputFile
from gangline.sources.records import ReadLog, SourceOptions

TABLE = """\
target,from,to,cause,planned,note
gpu007,2026-03-02T09:00,,board swap,yes,"ordered,
not here yet"
4102,,,data loader,,
gpu007,2026-03-03,2026-03-02,?,no,
,,,nobody,no,
gpu008,,,x,perhaps,
"""


def test_annotations_and_what_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.csv").write_text(TABLE, encoding="utf-8")
    log = ReadLog()
    options = SourceOptions("annotations_csv", time_zone="Asia/Seoul")
    batches = list(annotations_csv.read(InputFile(tmp_path / "notes.csv"), options, log))
    annotations = pl.concat([batch.frame for batch in batches])
    assert annotations.rows() == [
        (2, "gpu007", datetime(2026, 3, 2, tzinfo=UTC), None, "board swap", True, "ordered,\nnot here yet"),
        (4, "4102", None, None, "data loader", None, None),
    ]
    assert [(reject.line, reject.reason.split(":")[0]) for reject in log.rejects] == [
        (5, "to 2026-03-02 is before from 2026-03-03"),
        (6, "target is empty"),
        (7, "planned is 'perhaps'"),
    ]
    assert log.is_balanced()
    assert log.latest_at is None
