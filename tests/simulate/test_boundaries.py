"""The analyses know nothing of the simulator: it is imported by the command alone, and its truth is read by tests."""

import ast
from pathlib import Path

import pytest

from tests.conftest import ROOT

PACKAGE = ROOT / "lib" / "gangline"
MAY_IMPORT = {"simulate", "cli"}
OTHERS = [path for path in sorted(PACKAGE.rglob("*.py")) if path.relative_to(PACKAGE).parts[0] not in MAY_IMPORT]
TEXTS = [*OTHERS, *sorted((ROOT / "sql").rglob("*.sql")), *sorted((ROOT / "notebooks").glob("*.ipynb"))]


def _modules(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


@pytest.mark.parametrize("path", OTHERS, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_analysis_imports_the_simulator(path: Path) -> None:
    assert {name for name in _modules(path) if name.startswith("gangline.simulate")} == set()


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_nothing_but_tests_reads_the_truth(path: Path) -> None:
    assert "truth.json" not in path.read_text()
