"""A telemetry export of any size, as VictoriaMetrics writes it: a line a series and day, times shared by target."""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

NODES, GPUS = 63, 8
DAY_STEPS, STEP_MS = 2_880, 30_000
START_MS = 1_772_323_200_000  # 2026-03-01T00:00:00Z
LINE_SAMPLES = NODES * GPUS * DAY_STEPS  # of a metric's day
CONFIG = """
[cluster]
name = "bench"
time_zone = "UTC"
nodes = ["n[001-063]"]
[[sources]]
kind = "prometheus"
path = "raw/export*"
"""


def write_config(folder: Path) -> Path:
    """Writes the config beside `raw/`; gives its path."""
    (folder / "raw").mkdir(parents=True, exist_ok=True)
    (folder / "cluster.toml").write_text(CONFIG)
    return folder / "cluster.toml"


def write_export(path: Path, metric_days: int, metrics: int = 4, seed: int = 1) -> int:
    """Writes `metric_days` days of metrics of 504 series each (1.45 M samples); gives how many samples."""
    with path.open("w") as out:
        for line in _lines(metric_days, metrics, np.random.default_rng(seed)):
            out.write(line)
    return metric_days * LINE_SAMPLES


def write_query_range(path: Path, series: int) -> int:
    """Writes one query_range document of `series` series, a day of 30 s steps each; gives how many samples."""
    numbers = np.random.default_rng(2)
    with path.open("w") as out:
        out.write('{"status":"success","data":{"resultType":"matrix","result":[')
        for place in range(series):
            values = _power(numbers).tolist()
            points = ",".join(f'[{START_MS // 1000 + 30 * step},"{value}"]' for step, value in enumerate(values))
            labels = json.dumps({"__name__": "gauge", "instance": f"n{place:05d}:9100"})
            out.write(f'{"," if place else ""}{{"metric":{labels},"values":[{points}]}}')
        out.write("]}}")
    return series * DAY_STEPS


def _lines(metric_days: int, metrics: int, numbers: np.random.Generator) -> Iterator[str]:
    kinds = (_power, _counter, _use, _temperature)
    for place in range(metric_days):
        metric, day = place % metrics, place // metrics
        for node in range(1, NODES + 1):
            times = _times(day, node)
            for gpu in range(GPUS):
                labels = {"__name__": f"bench_{metric}", "Hostname": f"n{node:03d}", "gpu": str(gpu)}
                values = ",".join(map(str, kinds[metric % len(kinds)](numbers).tolist()))
                yield f'{{"metric":{json.dumps(labels)},"values":[{values}],"timestamps":[{times}]}}\n'


def _times(day: int, node: int) -> str:
    """Each target is scraped at an offset of its own."""
    start = START_MS + day * DAY_STEPS * STEP_MS + node * 317
    return ",".join(str(start + STEP_MS * step) for step in range(DAY_STEPS))


def _power(numbers: np.random.Generator) -> NDArray[np.float64]:
    return np.round(numbers.normal(700.0, 40.0, DAY_STEPS), 3)


def _counter(numbers: np.random.Generator) -> NDArray[np.int64]:
    return 10**9 + np.cumsum(numbers.integers(0, 60_000, DAY_STEPS))


def _use(numbers: np.random.Generator) -> NDArray[np.int64]:
    return numbers.integers(90, 101, DAY_STEPS)


def _temperature(numbers: np.random.Generator) -> NDArray[np.int64]:
    return 60 + np.cumsum(numbers.integers(-1, 2, DAY_STEPS)) % 20
