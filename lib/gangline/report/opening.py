"""Opening a page: parameters held to their types, the config, the warehouse, the window, and what every page says."""

import sys
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import duckdb

from gangline import config as configs
from gangline import warehouse
from gangline.report import outputs
from gangline.report.page import Page
from gangline.report.parameters import ParameterError, check_names, check_types, window
from gangline.report.provenance import ROOT, generated_at
from gangline.windows import INSTANT, Window

OURS = ("config", "start", "end")
NO_DATA = "**No data**: none of the configured sources gave a record."
OUTSIDE = "**The export holds nothing of this window**: its records go from {} to {}. What reads 0 below is not known."
PARTLY = "**The export covers a part of this window**: its records go from {} to {}. Counts and hours are of that part."
UNTOLD_SHARE = 0.05  # a quiet night at a window's edge is no gap of the export
SIMULATED = "**Simulated data**: this cluster was made by a program, not measured."


def open_page(config: str = "", start: str = "", end: str = "", *, notebook: str, **more: Any) -> Page:
    """Open a report's page in the second cell of its notebook.

    Every annotated parameter of the notebook is held to its type first, so a value that papermill turned into
    something else stops the run here.

    Parameters
    ----------
    config : str
        The cluster's TOML file, from the current folder or from the clone's; empty: GANGLINE_CONFIG, else the
        reference cluster, else the sample.
    start, end : str
        Dates of the cluster's zone, `end` not included; empty: from the first, to the last record of the export.
    notebook : str
        The notebook's file name without its ending.
    more
        The notebook's own parameters, to be named in the provenance.

    Raises
    ------
    ParameterError
        If a parameter is not known, has another type than the notebook says, or is no date.
    ConfigError
        If the config cannot be used.
    WarehouseError
        If there is no warehouse, or another version made it.

    Examples
    --------
    ::

        from gangline import report
        page = report.open_page(config, start, end, notebook="08_node_exclusions")
    """
    _check_annotated({"config": config, "start": start, "end": end} | more)
    loaded = configs.load_default(found_config(config))
    con = warehouse.connect(loaded)
    whole = export_window(con, loaded.cluster.time_zone)
    page = Page(loaded, con, window(start, end, whole), notebook, {"config": config, "start": start, "end": end} | more)
    _introduce(page)
    _say_coverage(page, whole)
    return page


def export_window(con: duckdb.DuckDBPyConnection, time_zone: str) -> Window:
    """Give the window of all that the warehouse holds: first record to the latest record or export time."""
    return Window.whole(*warehouse.export_span(con), time_zone)


def _check_annotated(given: Mapping[str, Any]) -> None:
    cells = sys.modules["__main__"].__dict__
    check_types({"config": str, "start": str, "end": str}, given)
    annotations = cells.get("__annotations__", {})
    check_types(annotations, cells)
    check_names(cells.get("In", []), {*OURS, *annotations})


def found_config(config: str) -> Path | None:
    """The path that a notebook's `config` names, from the current folder or from the clone's; None where empty."""
    if not config:
        return None
    path = Path(config)
    return path if path.is_absolute() or path.is_file() else ROOT / config


def _introduce(page: Page) -> None:
    window = page.window
    before = window.previous()
    outputs.leave(
        outputs.PAGE,
        {
            "notebook": page.notebook,
            "cluster": page.config.cluster.name,
            "time_zone": window.time_zone,
            "window": window.label,
            "days": window.span(),
            "start": window.start.isoformat(),
            "end": window.end.isoformat(),
            "before": before.label if before else None,
            "generated_at": generated_at().isoformat(timespec="seconds"),
        },
    )
    if page.config.is_simulated:
        page.banner(SIMULATED)
    if not window.days:
        page.banner(NO_DATA)


def _say_coverage(page: Page, whole: Window) -> None:
    """Warn where the records of all sources together leave much of the window untold."""
    window = page.window
    if not whole.days or not window.days:
        return
    first_at, latest_at = whole.start, whole.end - INSTANT
    told = max(timedelta(), min(window.end, latest_at) - max(window.start, first_at)) / (window.end - window.start)
    if told < 1 - UNTOLD_SHARE:
        edges = (f"{at:%Y-%m-%d %H:%M}" for at in (whole.local_start, whole.local_end))
        page.banner(PARTLY if told else OUTSIDE, *edges)


__all__ = ["ParameterError", "export_window", "open_page"]
