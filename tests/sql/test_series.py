"""Series under their newest labels and their nodes' names, and how well each target was scraped."""

import json
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gangline.build import build
from gangline.sources.samples import SampleBatch
from gangline.store.identity import NodeRule
from gangline.store.recording import record_written
from gangline.store.sink import SampleSink
from gangline.store.tables import point_at_samples, publish_views
from tests.sql.given import warehouse_of

T0 = 1_772_323_200_000  # 2026-03-01T00:00:00Z
STEP = 30_000
Ask = Callable[[str], list[tuple[Any, ...]]]


def batch(steps: range | list[int], *, is_gridded: bool = False, **labels: str) -> SampleBatch:
    times = T0 + STEP * np.array(list(steps), np.int64)
    return SampleBatch({"__name__": "node_load1", **labels}, times, times * 1.0, is_gridded=is_gridded)


@pytest.fixture
def told(tmp_path: Path) -> Iterator[Callable[..., Ask]]:
    """Builds the marts over files of batches, and answers queries."""
    opened = []

    def of(nodes: list[str], *files: list[SampleBatch]) -> Ask:
        con = warehouse_of({"config": {"cluster": {"nodes": nodes}}})
        opened.append(con)
        point_at_samples(con, tmp_path / "telemetry")
        for number, batches in enumerate(files):
            sink = SampleSink(tmp_path / "telemetry", NodeRule())
            for each in batches:
                sink.take(each)
            record_written(con, f"f{number}", sink.finish())
        publish_views(con)
        build(con, only=["series", "scrape_days"])
        return lambda query: con.execute(query).fetchall()

    yield of
    for con in opened:
        con.close()


@pytest.mark.parametrize(
    ("text", "node", "is_known"),
    [
        ("gpu1:9100", "gpu1", True),
        ("gpu1.dc.example:9100", "gpu1", True),
        ("i-gpu1:9100", "gpu1", True),
        ("gpu2:9100", "gpu2.dc", True),  # sessions write the domain, telemetry does not
        (".hidden:9100", ".hidden", False),  # no name before its domain
        ("twice:9100", "twice", False),  # two nodes are called so
        ("10.0.0.7:9100", "10.0.0.7", False),
        ("other.dc:9100", "other", False),
    ],
)
def test_nodes_are_called_as_sessions_call_them(told: Callable[..., Ask], text: str, node: str, is_known: bool) -> None:
    ask = told(["gpu1", "gpu2.dc", "twice.a", "twice.b"], [batch([0], instance=text)])
    assert ask("select node, is_known_node from marts.series") == [(node, is_known)]


def test_series_without_a_node_have_none(told: Callable[..., Ask]) -> None:
    ask = told(["gpu1"], [batch([0], job="x")])
    assert ask("select node, is_known_node from marts.series") == [(None, False)]


def test_the_newest_labels_win_whatever_file_they_are_in(told: Callable[..., Ask]) -> None:
    new, old = batch([5, 6], instance="gpu1:9100", pod="new"), batch([0, 1], instance="gpu1:9100", pod="old")
    ask = told(["gpu1"], [new], [old])
    ((labels, count, first, step, kind),) = ask(
        "select labels, sample_count, epoch_ms(first_at), step_s, metric_kind from marts.series"
    )
    assert (json.loads(labels)["pod"], count, first, step, kind) == ("new", 4, T0, 30.0, "gauge")


def test_scrapes_by_day(told: Callable[..., Ask]) -> None:
    whole, half = range(2880), [*range(720), *range(2160, 2880)]
    sparse = batch(range(0, 2880, 10), instance="gpu1:9100", job="node", cpu="0")
    ask = told(
        ["gpu1", "gpu2"],
        [batch(whole, instance="gpu1:9100", job="node"), sparse, batch(half, instance="gpu2:9100", job="node")],
        [batch([2880], instance="gpu1:9100", job="node"), batch(whole, instance="gpu3:9100", is_gridded=True)],
    )
    rows = ask(
        "select node, day, step_s, sample_count, gap_count, longest_gap_s, coverage_ratio from marts.scrape_days"
    )
    assert sorted(rows) == [
        ("gpu1", date(2026, 3, 1), 30.0, 2880, 0, None, 1.0),
        ("gpu1", date(2026, 3, 2), None, 1, 0, None, None),
        ("gpu2", date(2026, 3, 1), 30.0, 1440, 1, 1440 * 30 + 30.0, 0.5),
    ]


def test_only_the_fullest_series_tells_of_gaps(told: Callable[..., Ask]) -> None:
    """A GPU that vanished while its target was scraped is no gap of the target."""
    gone = batch([0, 1, 2, 50, 51], instance="gpu1:9400", job="dcgm", gpu="1")
    whole = [batch(range(60), instance="gpu1:9400", job="dcgm", gpu=gpu) for gpu in "02"]
    ask = told(["gpu1"], [gone, *whole])
    assert ask("select sample_count, step_s, gap_count, longest_gap_s from marts.scrape_days") == [(60, 30.0, 0, None)]
