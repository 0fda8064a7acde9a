"""Which series an exported label set belongs to: the labels that mean something, not those that come and go.

An exporter's restart changes its pod, a driver its version, dcgm-exporter renamed `Hostname`, an XID event adds
`err_code`: the series goes on. Its id is made of what stays, so that every export of it finds it again.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from gangline.sources.samples import NAME_LABEL

Labels = Mapping[str, str]
DEFAULT_NODE_LABELS = ("hostname", "Hostname", "node", "exported_instance", "instance")
NUMA_LABEL = "node"
DEFAULT_NODE_STRIP = (r":\d+$", r"^i-")

# Which scraper or replica saw it, and what dcgm-exporter says of the last XID (formats 1.2, 2.6)
_NEVER_PART = {"cluster", "replica", "prometheus_replica", "prometheus", "err_code", "err_msg"}
_SCRAPE = {"job", "instance", "exported_job", "exported_instance", "service", "endpoint"}
_POD = {
    name
    for base in ("container", "namespace", "pod", "container_name", "pod_namespace", "pod_name", "hpc_job")
    for name in (base, f"exported_{base}")
}
_GPU_INDEX, _GPU_UUID = ("gpu", "gpu_index", "minor_number"), ("UUID", "uuid", "gpu_uuid")
_GPU_WORDS = {"device", "pci_bus_id", "modelName", "model_name", "name", "driver_version", "cuda_version"}
_DCGM_LABEL = "DCGM_FI_"
# Metrics of exporters and scrapers about themselves: there the job tells one from another.
_SELF_METRIC = re.compile(r"^(up$|scrape_|process_|go_|promhttp_|python_|ALERTS|prometheus_|vm_|vmagent_)")
_NODE_METRIC = "node_"
_RECORDED = ":"  # in the name that a recording rule gives: its labels are the rule's, whatever exporter they began at


@dataclass(frozen=True)
class NodeRule:
    """Which labels name the node, first present first, and what is cut from them."""

    node_labels: tuple[str, ...] = DEFAULT_NODE_LABELS
    node_strip: tuple[str, ...] = DEFAULT_NODE_STRIP

    def node_of(self, labels: Labels) -> str | None:
        """The node as its labels name it, port and prefix cut off.

        >>> NodeRule().node_of({"instance": "10.0.0.1:9400", "Hostname": "i-gpu062"})
        'gpu062'
        """
        text = next((labels[name] for name in self.naming(labels) if labels.get(name)), None)
        return None if text is None else _stripped(text, self.node_strip)

    def naming(self, labels: Labels) -> tuple[str, ...]:
        """Which of the node's labels name the host in this set.

        node_exporter's `node="0"` of meminfo_numa and zoneinfo is a NUMA node of the host that `instance` names.
        """
        is_numa = labels.get(NUMA_LABEL, "").isdecimal() and any(
            labels.get(name) for name in self.node_labels if name != NUMA_LABEL
        )
        return tuple(name for name in self.node_labels if not (is_numa and name == NUMA_LABEL))


@dataclass(frozen=True)
class SeriesIdentity:
    """A series as the store knows it; `gpu_index` and `gpu_uuid` are null where the series is of no GPU."""

    series_id: int
    metric: str
    node_text: str | None
    gpu_index: int | None
    gpu_uuid: str | None


def identify(labels: Labels, rule: NodeRule, is_gridded: bool = False) -> SeriesIdentity:
    """The series that a label set belongs to.

    Points of a query's grid are series of their own, so that they never mix with samples.
    """
    metric, node = labels[NAME_LABEL], rule.node_of(labels)
    index, uuid = _gpu_index(labels), next((labels[name] for name in _GPU_UUID if labels.get(name)), None)
    is_gpu = index is not None or uuid is not None
    left_out = _left_out(labels, metric, node, is_gpu, rule)
    kept = sorted((name, value) for name, value in labels.items() if name not in left_out)
    content = json.dumps([metric, node, index, uuid, kept, is_gridded], ensure_ascii=False)
    digest = hashlib.blake2b(content.encode("utf-8", "replace"), digest_size=8).digest()
    return SeriesIdentity(int.from_bytes(digest, "little", signed=True), metric, node, index, uuid)


def _left_out(labels: Labels, metric: str, node: str | None, is_gpu: bool, rule: NodeRule) -> set[str]:
    left_out = {NAME_LABEL} | _NEVER_PART
    if node is None or _SELF_METRIC.match(metric):
        return left_out
    left_out |= {*rule.naming(labels)} - _SCRAPE if _RECORDED in metric else {*rule.naming(labels)} | _SCRAPE
    if is_gpu:
        left_out |= _POD | _GPU_WORDS | {*_GPU_INDEX, *_GPU_UUID}
        left_out |= {name for name in labels if name.startswith(_DCGM_LABEL)}
    elif metric.startswith(_NODE_METRIC):
        left_out |= _POD
    return left_out


def _gpu_index(labels: Labels) -> int | None:
    """all-smi writes the model's name under `gpu` and the index elsewhere."""
    text = next((labels[name] for name in _GPU_INDEX if re.fullmatch(r"\d{1,4}", labels.get(name, ""))), None)
    return None if text is None else int(text)


@lru_cache(maxsize=100_000)
def _stripped(text: str, patterns: tuple[str, ...]) -> str:
    stripped = text
    for pattern in patterns:
        stripped = re.sub(pattern, "", stripped)
    return stripped or text
