"""Every notebook runs to its end and says why it has nothing to say: on the sample, on nothing, on hostile names."""

import types
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import nbformat
import pytest

from gangline.config import Config
from gangline.report import exporter, history, outputs
from tests.fleets import at, sample, written
from tests.report.making import HOSTILE, collecting
from tests.test_notebooks import FOLDER

NAMES = ("00_capture_quality", "01_fleet_overview", "04_incidents", "08_node_exclusions")
NO_USE = "not measured: no GPU use is exported"
SESSIONS = '[[sources]]\nkind = "sessions_csv"\npath = "sessions.csv"\n'
ANNOTATIONS = '[[sources]]\nkind = "annotations_csv"\npath = "annotations.csv"\n'
INCIDENTS = '[[sources]]\nkind = "incidents"\npath = "incidents.csv"\n'
SESSION_HEAD = ["session_id", "job_name", "owner", "nodes", "started_at", "ended_at", "end_reason"]
INCIDENT_HEAD = ["incident_id", "node", "started_at", "ended_at", "kind"]


def run(
    name: str, config: Config, start: str = "", end: str = "", **parameters: object
) -> tuple[nbformat.NotebookNode, list[dict[str, Any]]]:
    """A notebook with the outputs that its cells leave in this process, and all that they left."""
    notebook = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    cells = types.ModuleType("notebook").__dict__
    left: list[dict[str, Any]] = []
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        with collecting() as bundles:
            exec(compile(cell.source, f"{name}:{cell.id}", "exec"), cells)
        if "parameters" in cell.metadata.get("tags", []):
            cells |= {"config": str(config.path), "start": start, "end": end} | parameters
        cell.outputs = [nbformat.v4.new_output("display_data", data=bundle) for bundle in bundles]
        left += bundles
    assert outputs.DONE in left[-1]
    return notebook, left


def said(left: Sequence[dict[str, Any]]) -> str:
    return "\n".join(bundle.get("text/plain", "") for bundle in left)


@pytest.fixture(autouse=True)
def no_pages_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(history.FOLDER, str(tmp_path))


@pytest.fixture(scope="module")
def nothing() -> Config:
    """A cluster whose config names no source."""
    return written("nothing", "")


@pytest.fixture(scope="module")
def hostile() -> Config:
    """The cluster of `hostile_cluster`."""
    return hostile_cluster()


@cache
def hostile_cluster() -> Config:
    """Gangs that leave out two of eight nodes, everything named by those who mean no good."""
    rows = [SESSION_HEAD]
    for place, name in enumerate(HOSTILE):
        free = f"n{place % 8}"
        rest = ";".join(f"n{node}" for node in range(8) if node not in {place % 8, (place + 1) % 8})
        rows.append(
            [f"g{name[:40]}{place}", name, HOSTILE[place - 1], rest, at(10 * place), at(10 * place + 8), name[:50]]
        )
        rows.append([f"s{place}", HOSTILE[place - 2], name, free, at(10 * place + 1), at(10 * place + 3), "failed"])
    incidents = [INCIDENT_HEAD]
    incidents += [
        [f"i{place}", f"n{place % 8}", at(9 * place), at(9 * place + 2), kind] for place, kind in enumerate(HOSTILE)
    ]
    remarks = [
        ["target", "from", "to", "cause", "note"],
        *([f"n{place % 8}", "", "", *2 * [n]] for place, n in enumerate(HOSTILE)),
    ]
    sources = SESSIONS + INCIDENTS + ANNOTATIONS
    return written("hostile", sources, sessions=rows, incidents=incidents, annotations=remarks)


@pytest.mark.parametrize("name", NAMES)
def test_the_sample_fills_every_figure_and_table(name: str) -> None:
    _, left = run(name, sample())
    has_all = name != "04_incidents"  # the sample has no kernel log: tests/test_notebook_failures.py
    assert ("not measured" not in said(left).replace(NO_USE, "")) == has_all
    assert ": no rows" not in said(left)
    assert (name == "00_capture_quality") == ("What people noted" not in said(left))


@pytest.mark.parametrize("name", NAMES[1:])
def test_where_nobody_noted_anything_nothing_is_said_of_it(name: str) -> None:
    _, left = run(name, sample(), "2026-02-09", "2026-02-16")
    assert "What people noted" not in said(left)


@pytest.mark.parametrize("name", NAMES)
def test_a_week_is_compared_with_the_week_before(name: str) -> None:
    _, left = run(name, sample(), "2026-03-09", "2026-03-16")
    figures = [figure for bundle in left for figure in bundle.get(outputs.FIGURES, {}).get("figures", [])]
    assert (name == "00_capture_quality") == (not figures)
    assert all(figure["previous"] is not None for figure in figures if figure["id"].endswith(("sessions", "count")))


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("00_capture_quality", "no configured source gave a record"),
        ("01_fleet_overview", "A session file is needed"),
        ("04_incidents", "Incidents of files: not measured: an incident file is needed"),
        ("08_node_exclusions", "No gang session starts in this window"),
    ],
)
def test_no_source_at_all_is_said(name: str, sentence: str, nothing: Config) -> None:
    notebook, left = run(name, nothing)
    assert sentence in said(left)
    assert "<title>" in exporter.page(notebook, name)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("00_capture_quality", "could not be read"),
        ("01_fleet_overview", "No session started in this window"),
        ("04_incidents", "No incident of an incident file starts in this window"),
        ("08_node_exclusions", "No gang session starts in this window"),
    ],
)
def test_a_window_without_data_is_said(name: str, sentence: str) -> None:
    _, left = run(name, sample(), "2025-03-03", "2025-03-10")
    assert sentence in said(left)


@pytest.mark.parametrize("name", NAMES)
def test_hostile_names_are_text(name: str, hostile: Config) -> None:
    notebook, _ = run(name, hostile)
    page = exporter.page(notebook, name)
    assert "alert(1)</script>" not in page
    assert "onerror=alert" not in page.replace("&lt;img src=x onerror=alert", "")


def test_no_spare_nodes_are_said() -> None:
    rows = [SESSION_HEAD, ["g", "train", "ana", "n[1-4]", at(0), at(5), "completed"]]
    _, left = run("08_node_exclusions", written("no-spare", "gang_min_nodes = 4\n" + SESSIONS, sessions=rows))
    assert "No spare nodes: each of 1 session of this window took every candidate node" in said(left)


def test_a_fleet_of_few_gangs_has_a_banner() -> None:
    rows = [SESSION_HEAD, ["g", "train", "ana", "n[1-4]", at(0), at(1), "completed"]]
    rows += [[f"s{place}", "probe", "bo", f"n{place % 4 + 1}", at(2), at(9), "completed"] for place in range(4)]
    config = written("few-gangs", "gang_min_nodes = 4\n" + SESSIONS, sessions=rows)
    for name in ("01_fleet_overview", "08_node_exclusions"):
        _, left = run(name, config)
        (banner,) = [bundle[outputs.BANNER]["text"] for bundle in left if outputs.BANNER in bundle]
        assert "<strong>12.5 %</strong> of the GPU-hours" in banner
