"""Whether a metric counts up or is a level, where the export does not say."""

_COUNTER_SUFFIXES = ("_total", "_count", "_sum", "_bucket")
_GAUGES = {"DCGM_EXP_XID_ERRORS_COUNT"}
_DCGM_COUNTERS = (
    "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION",
    "DCGM_FI_DEV_PCIE_REPLAY_COUNTER",
    "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS",
    "DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS",
)
_DCGM_COUNTER_ENDS = ("_ERROR_COUNT_TOTAL", "_BANDWIDTH_TOTAL", "_VIOLATION", "_VOL_TOTAL", "_AGG_TOTAL")


def kind_of_metric(metric: str, said: str | None = None) -> str:
    """What the export says, else counter or gauge by the name (Prometheus' naming, dcgm-exporter's own list).

    >>> kind_of_metric("node_network_receive_bytes_total"), kind_of_metric("DCGM_FI_DEV_GPU_UTIL")
    ('counter', 'gauge')
    """
    if said is not None:
        return said
    if metric in _GAUGES:
        return "gauge"
    is_dcgm_counter = metric in _DCGM_COUNTERS or (metric.startswith("DCGM_") and metric.endswith(_DCGM_COUNTER_ENDS))
    return "counter" if is_dcgm_counter or metric.endswith(_COUNTER_SUFFIXES) else "gauge"
