"""Writes the rest of what a plan's exporters give (`--full`): parts of days, beside the default's files."""

import shutil
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from gangline.simulate.exporter_days import DayPart, ExporterDays, day_parts
from gangline.simulate.exporter_instances import instances_of
from gangline.simulate.exporter_metrics import exporter_metrics
from gangline.simulate.plan import Plan
from gangline.simulate.scrape_grid import ScrapeGrid
from gangline.simulate.telemetry_files import Listener, Writer, write_parts
from gangline.simulate.vm_lines import write_export

BYTES_PER_SAMPLE = 0.75  # measured on a whole day of a free cluster that trains
ROOM_SHARE = 1.1  # of the estimate that must be free: it is one


class NoRoomError(ValueError):
    """The disk has too little room for all metrics."""


@dataclass(frozen=True)
class FullSize:
    """How much all further metrics of a plan are, where every scrape is answered."""

    metrics: int
    series_per_node: int
    samples: int
    files: int

    @property
    def estimated_bytes(self) -> int:
        """About what the files will take, compressed."""
        return round(self.samples * BYTES_PER_SAMPLE)

    def __str__(self) -> str:
        """Counts and size, for people.

        >>> print(FullSize(722, 5000, 49_896_000_000, 220))
        722 metrics, 5,000 series a node, 49.9 G samples, about 37.4 GB in 220 files
        """
        return (
            f"{self.metrics} metrics, {self.series_per_node:,} series a node, {self.samples / 1e9:,.3g} G samples,"
            f" about {self.estimated_bytes / 1e9:,.3g} GB in {self.files} files"
        )


def size_of(plan: Plan) -> FullSize:
    """How much `write_full` will write of a plan."""
    cluster, rows = plan.cluster, exporter_metrics()
    kinds = Counter(row.instances for row in rows)
    series = sum(len(instances_of(name, "", cluster.gpus_per_node)) * count for name, count in kinds.items())
    samples = series * len(cluster.nodes) * ScrapeGrid.of(plan).count
    return FullSize(len({row.metric for row in rows}), series, samples, len(day_parts(plan)))


def check_room(folder: Path, plan: Plan, is_begun: bool) -> None:
    """Refuses where the folder's disk has no room for what is still to be written.

    Parameters
    ----------
    is_begun
        Whether the files that are there are this plan's; others are replaced.

    Raises
    ------
    NoRoomError
        With what is needed, what is free and the mend.
    """
    size, parts = size_of(plan), day_parts(plan)
    left = [part for part in parts if not (is_begun and path_of(folder, part, plan).exists())]
    due = sum(len(part.nodes) * part.day.count for part in left)
    needed = due * size.series_per_node * BYTES_PER_SAMPLE * ROOM_SHARE
    standing = next(above for above in (folder, *folder.absolute().parents) if above.exists())
    free = shutil.disk_usage(standing).free
    if needed > free:
        raise NoRoomError(
            f"{folder}: all metrics need about {needed / 1e9:,.3g} GB and {free / 1e9:,.3g} GB are free there:"
            " make room, choose another --out, or simulate free with fewer --nodes or --days"
        )


def write_full(folder: Path, plan: Plan, listener: Listener, workers: int | None = None) -> int:
    """Writes the parts that are not there yet, each whole or not at all; gives the samples that were written."""
    parts = [(part, path_of(folder, part, plan)) for part in day_parts(plan)]
    return write_parts(parts, plan, part_writer, listener, workers)


def path_of(folder: Path, part: DayPart, plan: Plan) -> Path:
    """The file of a part: its day and the first of its nodes."""
    return folder / f"full_{part.day.day.isoformat()}_{plan.cluster.nodes[part.nodes[0]]}.jsonl.zst"


def part_writer(plan: Plan) -> Writer[DayPart]:
    """What writes one part of a plan to a file and gives its samples."""
    days = ExporterDays(plan)
    return lambda part, path: write_export(path, days.targets(part.day), days.blocks(part))
