"""Parts of a cluster's config, as its users write them."""


def cluster_head(
    name: str,
    nodes: str = "",
    *,
    zone: str = "UTC",
    gpus_per_node: int | None = None,
    gang_min_nodes: int | None = None,
) -> str:
    """The head of a `cluster.toml`; what is not given is left out.

    >>> print(cluster_head("lyra", "n[1-4]", gang_min_nodes=3).strip())
    [cluster]
    name = "lyra"
    time_zone = "UTC"
    nodes = ["n[1-4]"]
    gang_min_nodes = 3
    """
    lines = ["", "[cluster]", f'name = "{name}"', f'time_zone = "{zone}"']
    lines += [f'nodes = ["{nodes}"]'] * bool(nodes)
    numbers = {"gpus_per_node": gpus_per_node, "gang_min_nodes": gang_min_nodes}
    lines += [f"{key} = {number}" for key, number in numbers.items() if number is not None]
    return "\n".join([*lines, ""])


def source_entry(kind: str, path: str, exported_at: str = "") -> str:
    """One `[[sources]]` entry.

    >>> print(source_entry("prometheus", "telemetry*").strip())
    [[sources]]
    kind = "prometheus"
    path = "telemetry*"
    """
    lines = ["[[sources]]", f'kind = "{kind}"', f'path = "{path}"']
    lines += [f"exported_at = {exported_at}"] * bool(exported_at)
    return "\n".join([*lines, ""])
