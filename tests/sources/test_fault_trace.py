"""Fault traces: pairing, ids, damage, and the published trace's known answers."""

import json
import math
import random
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import quantiles
from typing import Any

import polars as pl
import pytest

from gangline.sources import incidents
from gangline.sources.files import InputFile
from gangline.sources.records import INCIDENT_RECORDS, SCHEMAS, ReadLog, SourceOptions

EPOCH = datetime(2024, 3, 30, tzinfo=UTC)
ECC = {"Level": "Hardware Failure", "Class": "GPU", "Desc": "ECC"}
NIC = {"Level": "Hardware Failure", "Class": "NIC", "Desc": "NIC Lost"}
PUBLISHED_NODES = 400


def event(kind: str, days: object, node: str = "n1", fault: object = ECC) -> dict[str, Any]:
    return {"node_id": node, "event_time": days, "event_type": f"fault_{kind}", "fault_type": fault}


def read(path: Path, log: ReadLog) -> pl.DataFrame:
    batches = list(incidents.read(InputFile(path), SourceOptions("incidents", epoch=EPOCH), log))
    assert log.is_balanced()
    return pl.concat([SCHEMAS[INCIDENT_RECORDS].to_frame(), *(batch.frame for batch in batches)])


def spans(found: pl.DataFrame) -> list[tuple[str, float, float | None]]:
    """Node, start and end in days since the epoch."""
    day = timedelta(days=1)
    rows = found.select("node", "started_at", "ended_at").rows()
    return [(node, (start - EPOCH) / day, None if end is None else (end - EPOCH) / day) for node, start, end in rows]


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    return tmp_path / "trace.json"


def test_pairs_by_node_and_fault_type_in_time_order(trace: Path) -> None:
    events = [
        event("end", 3.0),
        event("start", 2.0),
        event("start", 1.0, "n2"),
        event("start", 2.5, fault=NIC),
        event("end", 2.75, fault=NIC),
        event("start", 4.0),
    ]
    trace.write_text(json.dumps(events), encoding="utf-8")
    log = ReadLog()
    found = read(trace, log)
    assert spans(found) == [("n2", 1.0, None), ("n1", 2.0, 3.0), ("n1", 2.5, 2.75), ("n1", 4.0, None)]
    assert found["line"].to_list() == [3, 2, 4, 6]
    assert found.select("kind", "class", "detail").row(2) == ("NIC", "Hardware Failure", "NIC Lost")
    assert (log.records, log.loaded, log.oddities) == (6, 6, {})


def test_a_fault_of_length_zero_is_one_fault(trace: Path) -> None:
    trace.write_text(json.dumps([event("end", 2.0), event("start", 2.0)]), encoding="utf-8")
    log = ReadLog()
    assert spans(read(trace, log)) == [("n1", 2.0, 2.0)]
    assert log.oddities == {"zero_length": (1, 2)}


def test_an_end_without_its_start_is_rejected(trace: Path) -> None:
    trace.write_text(json.dumps([event("end", 1.0), event("start", 2.0)]), encoding="utf-8")
    log = ReadLog()
    assert spans(read(trace, log)) == [("n1", 2.0, None)]
    assert [(reject.line, reject.text) for reject in log.rejects] == [
        (1, "n1 Hardware Failure / GPU / ECC 2024-03-31T00:00:00+00:00")
    ]


def test_ids_do_not_depend_on_the_order_of_the_file(trace: Path) -> None:
    events = [event(kind, day, node) for day in (1.0, 1.0, 2.5) for node in ("n1", "n2") for kind in ("start", "end")]
    events += [event("start", 1.0), event("end", 7.0), event("start", 9.0, fault=NIC)]
    seen = set()
    for seed in range(5):
        random.Random(seed).shuffle(events)
        trace.write_text(json.dumps(events), encoding="utf-8")
        found = read(trace, ReadLog())
        assert found["incident_id"].n_unique() == found.height == 8
        seen.add(str(sorted(found.drop("line").rows(), key=str)))
    assert len(seen) == 1


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (event("start", math.nan), "event_time is 'nan': it must be a number of days"),
        (event("start", True), "event_time is 'True': it must be a number of days"),
        (event("start", "3.5"), "event_time is '3.5': it must be a number of days"),
        (event("start", 1e300), "event_time is '1e+300': no calendar reaches that far"),
        (event("pause", 1.0), "event_type is 'fault_pause': it must be fault_start or fault_end"),
        (event("start", 1.0, ""), "no node_id: a fault event is an object"),
        (event("start", 1.0, fault="ECC"), "fault_type must be an object with the texts Level, Class and Desc"),
        (event("start", 1.0, fault={"Level": "x"}), "fault_type must be an object"),
        ([1], "no node_id"),
        (None, "no node_id"),
    ],
)
def test_events_that_cannot_be_read_cost_only_themselves(trace: Path, broken: object, reason: str) -> None:
    trace.write_text(json.dumps([event("start", 1.0), broken, event("end", 2.0)]), encoding="utf-8")
    log = ReadLog()
    assert spans(read(trace, log)) == [("n1", 1.0, 2.0)]
    assert [reject.line for reject in log.rejects] == [2]
    assert log.rejects[0].reason.startswith(reason)


def test_a_trace_cut_off_gives_what_is_before(trace: Path) -> None:
    trace.write_text(json.dumps([event("start", 1.0), event("end", 2.0), event("start", 3.0)])[:-60], encoding="utf-8")
    log = ReadLog()
    assert spans(read(trace, log)) == [("n1", 1.0, 2.0)]
    assert (log.records, log.loaded, log.rejected) == (3, 2, 1)


def hours_by_node(found: pl.DataFrame) -> list[float]:
    """Hours out of order per node, overlapping faults counted once, over all published nodes."""
    hours = [0.0] * PUBLISHED_NODES
    for position, (_, faults) in enumerate(found.group_by("node")):
        reach = EPOCH
        for start, end in sorted(faults.select("started_at", "ended_at").rows()):
            hours[position] += max((end - max(start, reach)).total_seconds(), 0.0) / 3600
            reach = max(reach, end)
    return sorted(hours)


def test_the_published_trace(shared_data: Path) -> None:
    """Known answers of InfiniteHBD-Trace (arXiv 2502.03885), recomputed here by plain loops."""
    log = ReadLog()
    found = read(shared_data / "public" / "stepfun_infinitehbd" / "fault_trace.json", log)
    durations = [(end - start).total_seconds() / 3600 for start, end in found.select("started_at", "ended_at").rows()]
    hours = hours_by_node(found)
    exposure_days = (log.latest_at or EPOCH) - EPOCH
    ranks = sum((2 * rank - PUBLISHED_NODES - 1) * value for rank, value in enumerate(hours, start=1))
    assert (found.height, log.records, log.rejects) == (584, 1168, [])
    assert found["node"].n_unique() == 231
    assert found["incident_id"].n_unique() == 584
    assert log.oddities["zero_length"][0] == 14
    assert round(584 / (exposure_days / timedelta(days=1) * PUBLISHED_NODES) * 1000, 2) == 4.18
    lower, median, upper = quantiles(durations, n=4, method="inclusive")
    assert (round(lower, 2), round(median, 1), round(upper, 1)) == (2.05, 20.4, 75.9)
    assert round(sum(hours[-PUBLISHED_NODES // 20 :]) / sum(hours), 3) == 0.477
    assert round(ranks / (PUBLISHED_NODES * sum(hours)), 3) == 0.829
