"""`sacctmgr show event -P` to node states."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gangline.sources import slurm_events
from gangline.sources.records import NODE_STATE_RECORDS, SourceRefusedError
from tests.sources.reading import Reading, read_file, reader_of

ReadText = Callable[..., Reading]
HEAD = "Cluster|NodeName|TimeStart|TimeEnd|State|Reason|User\n"


@pytest.fixture
def read_text(tmp_path: Path) -> ReadText:
    return reader_of(slurm_events, tmp_path, "events.txt")


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def spans(reading: Reading) -> list[tuple[object, ...]]:
    columns = ("line", "node", "started_at", "ended_at", "state", "reason")
    return [tuple(row[column] for column in columns) for row in reading.rows(NODE_STATE_RECORDS)]


def test_real_events(shared_data: Path) -> None:
    reading = read_file(slurm_events, shared_data / "real" / "slurm" / "sacctmgr_event.txt")
    reason = "gres/gpu count reported lower than configured (0 < 8), Low socket*core*thread count, Low CPUs"
    begin, end = at("2026-11-29T17:16:31"), at("2026-11-29T17:16:59")
    assert spans(reading) == [
        (3, "gpu001", begin, end, "INVAL", reason),
        (4, "gpu002", begin, end, "INVAL", reason),
        (5, "gpu003", begin, end, "INVAL", reason),
        (6, "gpu003", at("2026-11-29T17:18:26"), at("2026-11-29T17:25:33"), "DOWN", "XID 79 GPU fallen off"),
        (7, "gpu004", begin, end, "INVAL", reason),
    ]
    assert {row["cluster_source"] for row in reading.rows(NODE_STATE_RECORDS)} == {"h100a"}
    assert (reading.log.records, reading.log.loaded, reading.log.ignored) == (6, 5, {"cluster_event": 1})
    assert (reading.log.first_at, reading.log.latest_at) == (begin, at("2026-11-29T17:25:33"))


def test_unknown_end_is_open_and_times_are_local(read_text: ReadText) -> None:
    text = HEAD + "c|gpu1|2026-11-30T02:00:00|Unknown|DRAIN*|bad DIMM|root(0)\n"
    assert spans(read_text(text, time_zone="Asia/Seoul")) == [
        (2, "gpu1", at("2026-11-29T17:00:00"), None, "DRAIN*", "bad DIMM")
    ]
    epoch = HEAD + "c|gpu1|1795971600|Unknown|DOWN||root(0)\n"
    assert spans(read_text(epoch, time_zone="Asia/Seoul")) == [
        (2, "gpu1", at("2026-11-29T17:00:00"), None, "DOWN", None)
    ]


def test_reasons_that_hold_anything(read_text: ReadText) -> None:
    text = HEAD + (
        "c|gpu1|2026-11-30T02:00:00|2026-11-30T03:00:00|DOWN|a|b | c|root(0)\n"
        "c|gpu2|2026-11-30T02:00:00|Unknown|DOWN|two\n\nlines|here|root(0)\n"
        "c|gpu3|2026-11-30T02:00:00|Unknown|DOWN|<script>alert(1)</script>|root(0)\n"
    )
    reading = read_text(text)
    assert [(row["line"], row["node"], row["reason"]) for row in reading.rows(NODE_STATE_RECORDS)] == [
        (2, "gpu1", "a|b | c"),
        (3, "gpu2", "two\n\nlines|here"),
        (6, "gpu3", "<script>alert(1)</script>"),
    ]


def test_other_column_sets_and_delimiters(read_text: ReadText) -> None:
    text = "NodeName^|^TimeStart^|^TimeEnd^|^State\ngpu[01-02]^|^2026-11-30T02:00:00^|^Unknown^|^DOWN\n"
    begin = at("2026-11-30T02:00:00")
    assert spans(read_text(text)) == [(2, node, begin, None, "DOWN", None) for node in ("gpu01", "gpu02")]
    trailing = HEAD.replace("\n", "|\n") + "c|gpu1|2026-11-30T02:00:00|Unknown|DOWN|why|root(0)|\n"
    assert spans(read_text(trailing)) == [(2, "gpu1", begin, None, "DOWN", "why")]


def test_only_the_cluster_asked_for_and_headers_again(read_text: ReadText) -> None:
    one = "a|gpu1|2026-11-30T02:00:00|Unknown|DOWN|why|root(0)\n"
    reading = read_text(HEAD + one + HEAD + one.replace("a|", "b|", 1), source_cluster="a")
    assert [row["cluster_source"] for row in reading.rows(NODE_STATE_RECORDS)] == ["a"]
    assert reading.log.ignored == {"other_cluster": 1}


def test_a_repeated_hour_and_one_that_never_was(read_text: ReadText) -> None:
    text = HEAD + (
        "c|gpu1|2026-11-01T00:50:00|2026-11-01T01:10:00|DOWN|fall back|root(0)\n"
        "c|gpu2|2026-03-08T02:30:00|Unknown|DOWN|never was|root(0)\n"
    )
    reading = read_text(text, time_zone="America/New_York")
    assert spans(reading) == [(2, "gpu1", at("2026-11-01T04:50:00"), at("2026-11-01T05:10:00"), "DOWN", "fall back")]
    assert reading.log.oddities == {"ambiguous_time": (1, 2)}
    assert [(reject.line, "never was" in reject.reason) for reject in reading.log.rejects] == [(3, True)]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("c|gpu1|2026-11-30T02:00:00|2026-11-30T01:00:00|DOWN|why|root(0)", "the event ends before it starts"),
        ("c|gpu1|Unknown|Unknown|DOWN|why|root(0)", "an event without a start"),
        ("c|gpu1|yesterday|Unknown|DOWN|why|root(0)", "no event: the columns do not fit"),
        ("c|gpu1|9999-12-31T00:00:00|Unknown|DOWN|why|root(0)", "'9999-12-31T00:00:00' is no time"),
        ("c|gpu1|2026-11-30T02:00:00|Unkn", "no event: the columns do not fit"),
        ("c|gpu[1-|2026-11-30T02:00:00|Unknown|DOWN|why|root(0)", ""),
    ],
)
def test_rejected(read_text: ReadText, line: str, reason: str) -> None:
    reading = read_text(HEAD + line + "\n")
    assert (reading.log.records, reading.log.rejected) == (1, 1)
    assert reading.log.rejects[0].line == 2
    assert reading.log.rejects[0].reason.startswith(reason)
    assert reading.log.rejects[0].text == line


@pytest.mark.parametrize(
    "text", ["", "\n", "   Cluster        NodeName\n------ -----\n", "Cluster|NodeName|State\n", '{"events": []}\n']
)
def test_refused(read_text: ReadText, text: str) -> None:
    with pytest.raises(SourceRefusedError, match=r"events\.txt:\d+: .*export with: sacctmgr show event -P"):
        read_text(text)


def test_a_damaged_record_is_not_taken_for_a_reasons_second_line(read_text: ReadText) -> None:
    good = "c|gpu1|2026-11-30T02:00:00|Unknown|DOWN|why|root(0)\n"
    reading = read_text(HEAD + good + good.replace("2026", "2\x0026") + good.replace("gpu1", "gpu2"))
    assert [row["node"] for row in reading.rows(NODE_STATE_RECORDS)] == ["gpu1", "gpu2"]
    assert [reject.line for reject in reading.log.rejects] == [3]


def test_lines_that_belong_nowhere_do_not_pile_up(read_text: ReadText) -> None:
    reading = read_text(HEAD + "junk\n" * 1000)
    assert (reading.log.records, reading.log.rejected) == (5, 5)
