"""Small telemetry with known saves: what nodes write and read by the second, scraped as each story has it.

Every story has a night of its own, in which one gang session runs for an hour; instants are seconds of it. Samples are
read by UTC day, with steps an hour behind: second 600, when most saves begin, is midnight or an hour before it.
"""

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import NDArray

FIRST_NIGHT = datetime(2026, 3, 1, 23, 50, tzinfo=UTC)
HOUR_S = 3600
NODES = [f"n{number:02d}" for number in range(1, 11)]
OTHERS = [f"m{number:02d}" for number in range(1, 11)]
GB = 10**9
STEP_S = 30
Samples = dict[int, float]
"""Values by second."""
Spoil = Callable[[str, Samples], Samples]
"""What becomes of a node's samples of writes."""
Paint = tuple[list[str], int, int, float]
"""Nodes, from, to, and the rate of each in GB/s."""


@dataclass(frozen=True)
class Scrapes:
    """When a node is scraped: every `step_s` seconds from `offset_s` on."""

    step_s: int = STEP_S
    offset_s: int = 0

    def seconds(self) -> list[int]:
        """From five minutes before the session to five after it."""
        return list(range(self.offset_s - 300, HOUR_S + 301, self.step_s))


def alike(scrapes: Scrapes) -> Callable[[str], Scrapes]:
    return lambda node: scrapes


EVERY_STEP = alike(Scrapes())


def as_it_is(node: str, samples: Samples) -> Samples:
    return samples


@dataclass(frozen=True)
class Story:
    """What happened in one session.

    Attributes
    ----------
    util
        Spans of GPU use in percent; 95 elsewhere.
    mounts
        Further mounts of a node's export: the node and a factor of what the first one counts.
    """

    name: str
    write: list[Paint] = field(default_factory=list)
    read: list[Paint] = field(default_factory=list)
    util: list[tuple[int, int, float]] = field(default_factory=list)
    scrapes: Callable[[str], Scrapes] = EVERY_STEP
    read_scrapes: Scrapes = Scrapes()
    util_scrapes: Scrapes = Scrapes()
    spoil: Spoil = as_it_is
    mounts: list[tuple[str, float]] = field(default_factory=list)


def everyone(start_s: int, end_s: int, gb_per_s: float = 0.3) -> Paint:
    return NODES, start_s, end_s, gb_per_s


def start_of(place: int) -> datetime:
    """When the session of a story starts."""
    return FIRST_NIGHT + timedelta(days=2 * place, hours=-(place % 2))


def lines(stories: list[Story]) -> Iterator[str]:
    """VictoriaMetrics lines of every story."""
    for place, story in enumerate(stories):
        start_s = round(start_of(place).timestamp())
        for node in [*NODES, *OTHERS]:
            for labels, samples in _series(story, node):
                if samples:
                    times = [1000 * (start_s + second) for second in samples]
                    values = [None if math.isnan(value) else value for value in samples.values()]
                    yield json.dumps({"metric": labels, "values": values, "timestamps": times})


def _series(story: Story, node: str) -> Iterator[tuple[dict[str, str], Samples]]:
    name, write, read = "node_mountstats_nfs_operations_", _counted(story.write, node), _counted(story.read, node)
    scrapes = story.scrapes(node)
    labels = {"instance": f"{node}:9100", "export": "fs:/a", "mountaddr": "10.0.0.1"}
    sent = {"__name__": f"{name}sent_bytes_total", "operation": "WRITE"} | labels
    yield sent, story.spoil(node, {second: float(write[second + 300]) for second in scrapes.seconds()})
    for number, (own, factor) in enumerate(story.mounts, start=2):
        if own == node:
            samples = {second: factor * write[second + 300] for second in scrapes.seconds()}
            yield sent | {"mountaddr": f"10.0.0.{number}"}, samples
    seconds = story.read_scrapes.seconds()
    received = {"__name__": f"{name}received_bytes_total", "operation": "READ"} | labels
    yield received, {second: float(read[second + 300]) for second in seconds}
    for gpu in ("0", "1"):
        use = {second: _use(story, second) for second in story.util_scrapes.seconds()}
        yield {"__name__": "DCGM_FI_DEV_GPU_UTIL", "Hostname": node, "gpu": gpu}, use


def _counted(paints: list[Paint], node: str) -> NDArray[np.int64]:
    """The counter by the second, from 300 s before the session."""
    rates = np.zeros(HOUR_S + 600, np.int64)
    for nodes, start_s, end_s, gb_per_s in paints:
        if node in nodes:
            rates[start_s + 300 : end_s + 300] += round(gb_per_s * GB)
    return np.concatenate([[7 * GB], 7 * GB + np.cumsum(rates)])


def _use(story: Story, second: int) -> float:
    return next((level for start_s, end_s, level in story.util if start_s <= second < end_s), 95.0)
