"""What a Prometheus reader makes of bytes or of a file, as plain lists."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gangline.sources import prometheus
from gangline.sources.files import InputFile
from gangline.sources.records import ReadLog, SourceOptions
from gangline.sources.samples import SampleBatch

SampleMap = dict[tuple[str, ...], dict[int, float]]


@dataclass(frozen=True)
class Read:
    """All batches of a file and its log, with the balance already checked."""

    batches: list[SampleBatch]
    log: ReadLog

    def values(self) -> list[list[float]]:
        return [batch.values.tolist() for batch in self.batches]

    def times(self) -> list[list[int]]:
        return [batch.times_ms.tolist() for batch in self.batches]

    def labels(self) -> list[dict[str, str]]:
        return [dict(batch.labels) for batch in self.batches]

    def samples(self, leave_out: tuple[str, ...] = ()) -> SampleMap:
        """Numbers by time and by series (its label texts, sorted); NaN and stale markers left out."""
        series: SampleMap = {}
        for batch in self.batches:
            key = tuple(sorted(f"{name}={value}" for name, value in batch.labels.items() if name not in leave_out))
            is_number = ~np.isnan(batch.values)
            pairs = zip(batch.times_ms[is_number].tolist(), batch.values[is_number].tolist(), strict=True)
            series.setdefault(key, {}).update(pairs)
        return series


def read_file(path: Path, **options: object) -> Read:
    log = ReadLog()
    batches = list(prometheus.read(InputFile(path), SourceOptions("prometheus", **options), log))  # type: ignore[arg-type]
    assert log.is_balanced()
    return Read(batches, log)


def read_bytes(folder: Path, content: bytes, name: str = "export", **options: object) -> Read:
    path = folder / name
    path.write_bytes(content)
    return read_file(path, **options)
