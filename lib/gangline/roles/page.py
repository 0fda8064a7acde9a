"""docs/roles.md, written from the roles themselves."""

from gangline.roles.definitions import ROLES, RoleDefinition, RoleSource

_HEAD = """# Roles

What analyses ask the telemetry for. A role is played by the first of its metrics that the warehouse has series of;
pages say which one that was. To have another one play it, name it in the config:

```toml
[roles]
gpu_util = { metric = "DCGM_FI_DEV_GPU_UTIL", labels = {} }
```

A **level** is read as it stands, a **counter** by what it counted between samples (analyses of counters never
extrapolate), an **event** by its changes. Units are those after scaling. This page is written by
`python -m gangline.roles.page > docs/roles.md`.

| role | kind | unit | meaning | metrics, best first |
| --- | --- | --- | --- | --- |
"""


def roles_page() -> str:
    """The page, in Markdown."""
    return _HEAD + "".join(_row(role, definition) for role, definition in sorted(ROLES.items()))


def _row(role: str, definition: RoleDefinition) -> str:
    metrics = "; ".join(_metric(source) for source in definition.sources)
    return f"| `{role}` | {definition.kind} | {definition.unit} | {definition.meaning} | {metrics} |\n"


def _metric(source: RoleSource) -> str:
    labels = [f'{name}="{value}"' for name, value in source.labels]
    labels += [f'{name}!="{value}"' for name, value in source.without]
    shown = f"`{source.metric}{{{', '.join(labels)}}}`" if labels else f"`{source.metric}`"
    scale = f" × {source.scale:g}" if source.scale != 1 else ""
    kind = f", a {source.kind}" if source.kind else ""
    return f"{shown}{scale} ({source.exporter}{kind})"


if __name__ == "__main__":
    import sys

    sys.stdout.write(roles_page())
