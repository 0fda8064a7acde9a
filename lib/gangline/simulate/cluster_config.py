"""The `cluster.toml` of a simulated cluster: what its exports are, and what no export tells."""

from zoneinfo import ZoneInfo

from ClusterShell.NodeSet import NodeSet

from gangline.simulate.plan import Plan
from gangline.simulate.run_logs import SAVE_TIME_KEY, STAGE_KEY
from gangline.sources.samples import instant_of_ms
from gangline.units import BYTES_PER_GB

SOURCES = (
    ("backendai", "raw/sessions/*.json"),
    ("prometheus", "raw/telemetry/*.zst"),
    ("wandb", "raw/wandb/*/*.wandb"),
    ("kernel_log", "raw/kernel/*.log"),
    ("slurm_events", "raw/node_events.txt"),
)
TOLD_UNTIL_EXPORT = ("backendai", "slurm_events")
"""Sources whose open rows go on to the export: their own latest instant lies before it."""
HEADER = """\
# A simulated cluster: `gangline simulate reference` draws its history and writes the exports below (see SIMULATED).
# The figures that it is held to: arXiv 2605.09370 (page 90).
"""


def config_text(plan: Plan) -> str:
    """The config of a plan's exports, complete."""
    cluster = plan.cluster
    nodes = str(NodeSet.fromlist(cluster.nodes))
    lines = [
        HEADER + "[cluster]",
        f'name = "{cluster.name}"',
        f'time_zone = "{cluster.time_zone}"',
        f'nodes = ["{nodes}"]',
        f"gpus_per_node = {cluster.gpus_per_node}",
        f"gang_min_nodes = {cluster.gang_nodes}",
        "",
        "[storage]",
        f"max_read_gb_per_s = {cluster.max_read_bytes_per_s / BYTES_PER_GB:g}",
        f"max_write_gb_per_s = {cluster.max_write_bytes_per_s / BYTES_PER_GB:g}",
        "",
        "[runs]",
        f'save_time_key = "{SAVE_TIME_KEY}"',
        f'stage_key = "{STAGE_KEY}"',
    ]
    for kind, path in SOURCES:
        lines += ["", "[[sources]]", f'kind = "{kind}"', f'path = "{path}"']
        if kind in TOLD_UNTIL_EXPORT:
            lines.append(f"exported_at = {_exported_at(plan)}")
    return "\n".join(lines) + "\n"


def _exported_at(plan: Plan) -> str:
    return instant_of_ms(plan.exported_ms).astimezone(ZoneInfo(plan.cluster.time_zone)).isoformat()
