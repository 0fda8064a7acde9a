"""A plan's whole telemetry, day by day: the series of every exporter as blocks to be written."""

from collections.abc import Iterator, Sequence

import numpy as np

from gangline.simulate.activities import Activities, ActivityDays
from gangline.simulate.courses_drawn import Courses
from gangline.simulate.gpu_gauges import Gauges, XidGauge, gpu_day, rows_of
from gangline.simulate.hardware import FILESYSTEM, MOUNT, gpu_labels
from gangline.simulate.meters import Meter
from gangline.simulate.nfs_meters import nfs_meters
from gangline.simulate.node_gauges import NodeGauges
from gangline.simulate.plan import Plan
from gangline.simulate.scrape_grid import DaySlice, ScrapeGrid
from gangline.simulate.scrape_targets import ScrapeTargets
from gangline.simulate.vm_lines import Labels, SeriesBlock, Target

GPU_JOB, NODE_JOB = "dcgm-exporter", "node"
CASE_METRICS = {
    "correctable_remaps": "DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS",
    "uncorrectable_remaps": "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS",
    "remap_failure": "DCGM_FI_DEV_ROW_REMAP_FAILURE",
}
NVLINK_METRIC = "DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL"
CASE_NEIGHBOURS = 12  # nodes whose GPUs are exported beside a case's, to be compared with
TIME_METRICS = {
    "request_ms": "node_mountstats_nfs_operations_request_time_seconds_total",
    "queue_ms": "node_mountstats_nfs_operations_queue_time_seconds_total",
    "response_ms": "node_mountstats_nfs_operations_response_time_seconds_total",
}


class TelemetryDays:
    """Holds what days have in common; each day is then made by itself."""

    def __init__(self, plan: Plan) -> None:
        self.plan, self.grid = plan, ScrapeGrid.of(plan)
        self._targets = ScrapeTargets(plan, self.grid)
        self._courses = Courses(plan, self.grid)
        self._activities = ActivityDays(plan, self.grid)
        self._xids = XidGauge(plan, self.grid, self._targets.resets)
        self._nfs = nfs_meters(plan, self.grid, self._targets.resets)
        self._nodes = NodeGauges(plan, self.grid, self._targets.resets, self._courses)
        self._nodes.count(self._activities)
        # A GETATTR of an idle mount: 4 a step, so a millisecond more of each is 4 more.
        self._courses.into_meter("getattr_response_ms", self._nfs.times["GETATTR", "response_ms"], 4)
        gpus = plan.cluster.gpus_per_node
        self._nvlink = Meter(gpus * len(plan.cluster.nodes), [])
        self._courses.into_meter("nvlink_errors_per_s", self._nvlink, plan.cluster.scrape_ms / 1000, gpus)
        self._everywhere = range(len(plan.cluster.nodes))
        self._timed_from = self._first_timed()

    def targets(self, day: DaySlice) -> list[Target]:
        """Who was scraped on a day."""
        return self._targets.day(day)

    def blocks(self, day: DaySlice) -> Iterator[SeriesBlock]:
        """All series of a day."""
        activities = self._activities.day(day)
        yield from self._up(day)
        yield from self._gpu_blocks(day, activities)
        yield from self._case_blocks(day)
        yield from self._node_blocks(day, activities)
        yield from self._nfs_blocks(day)

    def _up(self, day: DaySlice) -> Iterator[SeriesBlock]:
        answered = [target.is_scraped for target in self.targets(day)]
        rows = np.stack([np.ones(day.count, np.int64) if row is None else row.astype(np.int64) for row in answered])
        yield SeriesBlock("up", range(len(rows)), [{}] * len(rows), rows, is_always=True)

    def _gpu_blocks(self, day: DaySlice, activities: Activities) -> Iterator[SeriesBlock]:
        gpus = self.plan.cluster.gpus_per_node
        drawn = gpu_day(self.plan.seed, day, activities, self._activities.stalled(day), gpus, self._courses)
        yield self._on_gpus("DCGM_FI_DEV_GPU_UTIL", drawn.util, self._everywhere)
        yield self._on_gpus("DCGM_FI_DEV_POWER_USAGE", drawn.power_w, self._everywhere)
        xids = self._courses.over_gpus("xid", day, self._xids.day(day))
        yield self._on_gpus("DCGM_FI_DEV_XID_ERRORS", xids, self._everywhere)

    def _case_blocks(self, day: DaySlice) -> Iterator[SeriesBlock]:
        """What only cases need: over their own weeks, on their nodes and those beside them."""
        nodes = self._case_nodes(day)
        if not nodes:
            return
        rows = len(self._everywhere) * self.plan.cluster.gpus_per_node
        picked = list(rows_of(nodes, self.plan.cluster.gpus_per_node))
        for measure, metric in CASE_METRICS.items():
            values = self._courses.gpu_totals(measure, day, rows)
            yield self._on_gpus(metric, values[picked], nodes)
        yield self._on_gpus(NVLINK_METRIC, self._nvlink.day(day)[picked], nodes)

    def _case_nodes(self, day: DaySlice) -> list[int]:
        places = {node: place for place, node in enumerate(self.plan.cluster.nodes)}
        found: set[int] = set()
        for case in self.plan.cases:
            first, stop = self.grid.scrape_from(case.span.from_ms), self.grid.scrape_from(case.span.to_ms)
            if first < day.stop and stop > day.first:
                around = places[case.node] + np.arange(CASE_NEIGHBOURS + 1) - CASE_NEIGHBOURS // 2
                found |= set((around % len(places)).tolist())
        return sorted(found)

    def _node_blocks(self, day: DaySlice, activities: Activities) -> Iterator[SeriesBlock]:
        for metric, values in self._nodes.day(day, activities).items():
            yield self._on_nodes(metric, values)
        yield self._on_nodes("node_intr_total", self._nodes.interrupts.day(day))
        yield self._on_nodes("node_vmstat_pgpgout", self._nodes.page_out.day(day))
        yield self._on_nodes("node_vmstat_pgpgin", self._nodes.page_in.day(day))
        shape = (len(self._everywhere), day.count)
        size = np.full(shape, self.plan.cluster.capacity_bytes, np.int64)
        yield self._on_nodes("node_filesystem_size_bytes", size, FILESYSTEM)
        free = np.broadcast_to(self._nodes.available(day), shape)
        yield self._on_nodes("node_filesystem_avail_bytes", free, FILESYSTEM)

    def _nfs_blocks(self, day: DaySlice) -> Iterator[SeriesBlock]:
        nfs, total = self._nfs, "node_mountstats_nfs_operations_{}_total"
        for metric, meters in (("sent_bytes", nfs.sent), ("received_bytes", nfs.received)):
            for operation, meter in meters.items():
                yield self._on_nodes(total.format(metric), meter.day(day), MOUNT | {"operation": operation})
        for operation, meter in nfs.requests.items():
            labels = MOUNT | {"operation": operation}
            yield from self._timed(day, self._on_nodes(total.format("requests"), meter.day(day), labels))
        for (operation, which), meter in nfs.times.items():
            labels = MOUNT | {"operation": operation}
            yield from self._timed(day, self._on_nodes(TIME_METRICS[which], meter.day(day), labels, decimals=3))
        yield self._on_nodes("node_mountstats_nfs_write_bytes_total", nfs.program["WRITE"].day(day), MOUNT)
        yield self._on_nodes("node_mountstats_nfs_read_bytes_total", nfs.program["READ"].day(day), MOUNT)
        yield self._on_nodes("node_mountstats_nfs_transport_backlog_queue_total", nfs.backlog.day(day), MOUNT)
        yield self._on_nodes("node_mountstats_nfs_transport_sends_total", nfs.sends.day(day), MOUNT)

    def _timed(self, day: DaySlice, block: SeriesBlock) -> Iterator[SeriesBlock]:
        """A block of NFS requests or their times, from the scrape on at which the exporter began to tell them."""
        skipped = self._timed_from - day.first
        if skipped < day.count:
            yield SeriesBlock(
                block.metric, block.targets, block.labels, block.values, block.decimals, first=max(skipped, 0)
            )

    def _first_timed(self) -> int:
        """The scrape at which NFS times begin: between the last save without and the first one with them."""
        saves = self.plan.saves
        untold = [save.started_ms for save in saves if save.requests is None]
        told = [save.started_ms for save in saves if save.requests is not None]
        if not untold or not told:
            return 0
        if max(untold) > min(told):
            raise ValueError("saves without NFS times must come before those with them")
        return self.grid.scrape_from((max(untold) + min(told)) // 2)

    def _on_nodes(self, metric: str, values: Gauges, labels: Labels | None = None, decimals: int = 0) -> SeriesBlock:
        first = self._targets.place(NODE_JOB, 0)
        targets = [first + node for node in self._everywhere]
        return SeriesBlock(metric, targets, [labels or {}] * len(targets), values, decimals)

    def _on_gpus(self, metric: str, values: Gauges, nodes: Sequence[int]) -> SeriesBlock:
        gpus = range(self.plan.cluster.gpus_per_node)
        targets = [self._targets.place(GPU_JOB, node) for node in nodes for _ in gpus]
        labels = [gpu_labels(self.plan.cluster.nodes[node], gpu) for node in nodes for gpu in gpus]
        return SeriesBlock(metric, targets, labels, values)
