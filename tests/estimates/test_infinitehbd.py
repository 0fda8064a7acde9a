"""The estimators together on a real trace of 400 servers: the CHECK values of section 8."""

import json
from collections import defaultdict
from pathlib import Path

import pytest

from gangline.estimates.concentration import gini, top_fraction_share
from gangline.estimates.quantiles import median, quantiles
from gangline.estimates.rates import per_1000_node_days
from gangline.estimates.survival import kaplan_meier
from gangline.estimates.weibull import event_gaps, weibull

SERVERS, DAYS = 400, 348.9798


@pytest.fixture(scope="module")
def faults(shared_data: Path) -> list[tuple[str, float, float]]:
    """Node, start and end in days; a start pairs with the next end of its node and fault type."""
    events = json.loads((shared_data / "public/stepfun_infinitehbd/fault_trace.json").read_text())
    open_since: dict[tuple[str, str], list[float]] = defaultdict(list)
    pairs = []
    for event in sorted(events, key=lambda event: (event["event_time"], event["event_type"] == "fault_end")):
        key = event["node_id"], json.dumps(event["fault_type"], sort_keys=True)
        if event["event_type"] == "fault_start":
            open_since[key].append(event["event_time"])
        else:
            pairs.append((event["node_id"], open_since[key].pop(0), event["event_time"]))
    return pairs


def test_rate_and_durations(faults: list[tuple[str, float, float]]) -> None:
    rate = per_1000_node_days(len(faults), SERVERS * DAYS * 24)
    assert (rate.n, round(rate.value or 0, 2), round(rate.low or 0, 2), round(rate.high or 0, 2)) == (
        584,
        4.18,
        3.85,
        4.54,
    )
    hours = [(end - start) * 24 for _, start, end in faults]
    assert median(hours, "h").value == pytest.approx(20.4, abs=0.05)
    assert quantiles(hours).values == pytest.approx((2.05, 20.4, 75.9), abs=0.05)
    assert kaplan_meier(hours, [True] * len(hours)).median("h").value == pytest.approx(20.4, abs=0.05)


def test_concentration(faults: list[tuple[str, float, float]]) -> None:
    held = dict.fromkeys(range(SERVERS), 0.0)
    names = {node: position for position, node in enumerate(sorted({node for node, _, _ in faults}))}
    for node, start, end in faults:
        held[names[node]] += end - start
    assert len(names) == 231
    assert top_fraction_share(list(held.values()), 0.05).value == pytest.approx(0.477, abs=5e-4)
    assert gini(list(held.values())).value == pytest.approx(0.829, abs=5e-4)


def test_gaps_between_faults_bunch(faults: list[tuple[str, float, float]]) -> None:
    starts: dict[str, list[float]] = defaultdict(list)
    for node, start, _ in faults:
        starts[node].append(start * 24)
    gaps = event_gaps(starts, DAYS * 24)
    assert gaps.durations.size + gaps.merged == 584
    assert (~gaps.is_ended).sum() == 231
    fit = weibull(gaps.durations, gaps.is_ended, "h")
    assert fit.shape.high is not None
    assert fit.shape.high < 1
