"""What a cluster's exporters give besides the metrics of the default: a table, `exporter_metrics.csv`, and its rows.

Names and labels are those of dcgm-exporter's fields, of node_exporter's collectors as its own end-to-end output lists
them, of all-smi's list of metrics and of Backend.AI's agent; how they move is made up. No metric of the default is
among them, so that no role that the default's exports play changes its source, nor gains a series.
"""

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path

TABLE = Path(__file__).with_name("exporter_metrics.csv")
MOTIONS = ("never", "slowly", "always")
KINDS = ("gauge", "counter")


@dataclass(frozen=True)
class ExporterMetric:
    """A row: series of one metric that move alike.

    Attributes
    ----------
    job
        The exporter, as its target is named.
    labels
        What all of them have, as `name=value` with `;` between; `instances` names what they differ in.
    moves
        `never`, `slowly` (every ten minutes) or `always` (at every scrape).
    idle, busy
        Of a gauge the level, of a counter the increase a scrape step, while the node trains and while it does not.
    spread
        Up to which a number is drawn and added. A counter's is no larger than its smaller increase: it never falls.
    decimals
        `idle`, `busy` and `spread` are in units of the last of them.
    """

    job: str
    metric: str
    labels: str
    instances: str
    kind: str
    moves: str
    idle: int
    busy: int
    spread: int
    decimals: int

    @property
    def own_labels(self) -> dict[str, str]:
        """The labels that all its series have.

        >>> ExporterMetric("node", "node_udp_queues", "ip=v4;queue=rx", "node", "gauge", "never", 0, 0, 0, 0).own_labels
        {'ip': 'v4', 'queue': 'rx'}
        """
        pairs = (text.partition("=") for text in self.labels.split(";") if text)
        return {name: value for name, _, value in pairs}


@cache
def exporter_metrics() -> tuple[ExporterMetric, ...]:
    """All rows, in the table's order."""
    with TABLE.open(newline="", encoding="utf-8") as lines:
        return tuple(_row(row) for row in csv.DictReader(lines))


def _row(row: dict[str, str]) -> ExporterMetric:
    texts = (row[name] for name in ("job", "metric", "labels", "instances", "kind", "moves"))
    job, metric, labels, instances, kind, moves = texts
    idle, busy, spread, decimals = (int(row[name]) for name in ("idle", "busy", "spread", "decimals"))
    return ExporterMetric(job, metric, labels, instances, kind, moves, idle, busy, spread, decimals)
