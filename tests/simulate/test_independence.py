"""No analysis knows of the simulator: what it finds, it found in exports as anyone's."""

import ast
from pathlib import Path

import pytest

from tests.conftest import ROOT

PACKAGE = ROOT / "lib" / "gangline"
OUTSIDE = sorted(
    path for path in PACKAGE.rglob("*.py") if path.relative_to(PACKAGE).parts[0] not in ("simulate", "cli")
)
TRUTH = "truth.json"


def _imported(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


@pytest.mark.parametrize("path", OUTSIDE, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_nothing_but_the_command_line_imports_the_simulator(path: Path) -> None:
    assert not any(name.startswith("gangline.simulate") for name in _imported(path))


def test_the_whole_import_graph_of_the_pages_is_free_of_it() -> None:
    # through whatever they import, too: the command line alone reaches the simulator
    graph = {str(path.relative_to(PACKAGE).with_suffix("")).replace("/", "."): _imported(path) for path in OUTSIDE}
    seen, open_modules = set[str](), {name for name in graph if name.startswith("report")}
    while open_modules:
        name = open_modules.pop()
        seen.add(name)
        imported = {
            other.removeprefix("gangline.") for other in graph.get(name, set()) if other.startswith("gangline.")
        }
        open_modules |= (imported & set(graph)) - seen
    assert len(seen) > 20
    assert not any(name.startswith(("simulate", "cli")) for name in seen)


@pytest.mark.parametrize("folder", ["lib", "sql", "notebooks"])
def test_no_analysis_reads_the_truth(folder: str) -> None:
    paths = (path for path in (ROOT / folder).rglob("*") if path.suffix in (".py", ".sql", ".yml", ".ipynb"))
    readers = [path for path in paths if TRUTH in path.read_text(errors="replace")]
    assert {path.relative_to(ROOT).parts[:3] for path in readers} <= {("lib", "gangline", "simulate")}
