"""A store in a folder, filled without files."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import numpy as np

from gangline.sources.samples import SampleBatch
from gangline.store.identity import NodeRule
from gangline.store.reading import SampleStore
from gangline.store.recording import record_written
from gangline.store.settling import settle
from gangline.store.sink import SampleSink
from gangline.store.tables import create_store_tables, forget_samples, point_at_samples, publish_views

T0 = 1_709_251_200_000  # 2024-03-01T00:00:00Z
DAY = 86_400_000
Points = dict[int, float]


class Stored:
    """One warehouse in memory and its folder of parts."""

    def __init__(self, folder: Path) -> None:
        self.telemetry = folder / "telemetry"
        self.con = duckdb.connect()
        self.con.execute("set TimeZone = 'UTC'")
        for schema in ("meta", "marts"):
            self.con.execute(f"create schema {schema}")
        create_store_tables(self.con)
        point_at_samples(self.con, self.telemetry)
        self.store = SampleStore(self.con, self.telemetry)

    def load(self, file_id: str, *batches: SampleBatch) -> SampleSink:
        sink = SampleSink(self.telemetry, NodeRule())
        for batch in batches:
            sink.take(batch)
        record_written(self.con, file_id, sink.finish())
        return sink

    def forget(self, file_id: str) -> None:
        forget_samples(self.con, file_id)

    def settle(self) -> None:
        settle(self.con, self.telemetry)
        publish_views(self.con)

    def raw(self, metric: str = "m") -> dict[int, Points]:
        """Everything that the store holds of a metric."""
        return {
            series_id: dict(zip(samples.times_ms.tolist(), samples.values.tolist(), strict=True))
            for series_id, samples in self.store.read(metric, 0, 2**42, is_raw=True).items()
        }

    def in_sql(self) -> list[tuple[int, int, float]]:
        rows = self.con.execute(
            """select series_id, epoch_ms("at"), value from marts.samples order by all"""
        ).fetchall()
        assert len(set(rows)) == len(rows)
        return rows


@contextmanager
def stored(folder: Path) -> Iterator[Stored]:
    made = Stored(folder)
    try:
        yield made
    finally:
        made.con.close()


def batch(points: Points | list[tuple[int, float]], metric: str = "m", **labels: str) -> SampleBatch:
    pairs = list(points.items()) if isinstance(points, dict) else points
    times = np.array([time for time, _ in pairs], np.int64)
    values = np.array([value for _, value in pairs], np.float64)
    return SampleBatch({"__name__": metric, "instance": "n1:9100"} | labels, times, values)
