"""Node incidents: ticket tables and fault traces, told apart by content."""

from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest

from gangline.sources import incidents
from gangline.sources.files import InputFile
from gangline.sources.records import INCIDENT_RECORDS, SCHEMAS, ReadLog, SourceOptions, SourceRefusedError

HEADER = "incident_id,node,started_at,ended_at,kind,class,detail\n"


class Export:
    """Reads text as incidents and keeps the log."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "incidents.txt"
        self.log = ReadLog()

    def read(self, text: str, epoch: datetime | None = None) -> pl.DataFrame:
        self.path.write_text(text, encoding="utf-8")
        options = SourceOptions("incidents", time_zone="Asia/Seoul", epoch=epoch)
        batches = list(incidents.read(InputFile(self.path), options, self.log))
        assert self.log.is_balanced()
        return pl.concat([SCHEMAS[INCIDENT_RECORDS].to_frame(), *(batch.frame for batch in batches)])


@pytest.fixture
def export(tmp_path: Path) -> Export:
    return Export(tmp_path)


def test_tickets(export: Export) -> None:
    rows = export.read(
        HEADER + 'OPS-1,gpu007,2026-03-02T09:00,2026-03-02T10:30+09:00,ECC,hardware,"Xid 94, GPU 2"\n'
        "OPS-2,gpu007,2026-03-02T10:00Z,,NVLink,,\n"
    ).rows()
    start, end = datetime(2026, 3, 2, tzinfo=UTC), datetime(2026, 3, 2, 1, 30, tzinfo=UTC)
    assert rows == [
        (2, "OPS-1", "gpu007", start, end, "ECC", "hardware", "Xid 94, GPU 2"),
        (3, "OPS-2", "gpu007", datetime(2026, 3, 2, 10, tzinfo=UTC), None, "NVLink", None, None),
    ]
    assert (export.log.first_at, export.log.latest_at) == (start, datetime(2026, 3, 2, 10, tzinfo=UTC))


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("A,n1,2026-03-02T02:00,2026-03-02T01:00,x,,", "ended_at 2026-03-02T01:00 is before started_at"),
        ("A,n1,,2026-03-02T01:00,x,,", "started_at is empty: give it a value"),
        (",n1,2026-03-02T01:00,,x,,", "incident_id is empty: give it a value"),
        ('A,"n[1-2]",2026-03-02T01:00,,x,,', "node names 2 nodes: give each node its own row"),
        ("A,n[1,2026-03-02T01:00,,x,,", "node is not a host list: 'n[1'"),
        ("A,n1,2026-03-02T01:00,tomorrow,x,,", "ended_at is 'tomorrow': write it as"),
    ],
)
def test_tickets_that_cannot_be_read(export: Export, row: str, reason: str) -> None:
    assert export.read(HEADER + row + "\n").is_empty()
    assert [reject.line for reject in export.log.rejects] == [2]
    assert export.log.rejects[0].reason.startswith(reason)


def test_a_ticket_without_kind_and_one_of_no_length_are_counted(export: Export) -> None:
    found = export.read(HEADER + "A,n1,2026-03-02T01:00,2026-03-02T01:00,,,\n")
    assert found["kind"].to_list() == ["unknown"]
    assert export.log.oddities == {"zero_length": (1, 2), "no_kind": (1, 2)}


def test_json_is_told_by_content_and_needs_an_epoch(export: Export) -> None:
    with pytest.raises(SourceRefusedError, match="set epoch = 2024-03-30T00:00:00Z"):
        export.read("\ufeff \n[]")
    assert export.read("[]", epoch=datetime(2024, 3, 30, tzinfo=UTC)).is_empty()
