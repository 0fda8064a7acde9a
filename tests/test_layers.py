"""Imports point one way: what stands further left never imports what stands further right."""

import ast
from pathlib import Path

import pytest

from tests.conftest import ROOT

PACKAGE = ROOT / "lib" / "gangline"
LAYERS: tuple[frozenset[str], ...] = (
    frozenset({"vocabulary", "units", "intervals", "counters", "hostlists", "quoting", "windows", "estimates"}),
    frozenset({"config"}),
    frozenset({"sources"}),
    frozenset({"contracts", "definitions", "models", "checks", "descriptions", "build"})
    | frozenset({"roles", "store", "phases", "warehouse"}),
    frozenset({"ingest"}),
    frozenset(),  # the analyses: every module that stands in no other layer
    frozenset({"charts"}),
    frozenset({"report", "simulate", "lab"}),
    frozenset({"cli", "__main__"}),
)
RANKS = {name: rank for rank, layer in enumerate(LAYERS) for name in layer}
ANALYSES = next(rank for rank, layer in enumerate(LAYERS) if not layer)
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")


def _room(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def _imported(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module == "gangline":
            names |= {f"gangline.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
    return {name.split(".")[1] for name in names if name.startswith("gangline.")} - {"__version__"}


def _rank(room: str) -> int:
    return RANKS.get(room, ANALYSES)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_left(path: Path) -> None:
    own = _rank(_room(path))
    wrong = {name for name in _imported(path) if _rank(name) > own}
    assert wrong == set(), f"{_room(path)} may not import {', '.join(sorted(wrong))}"


def test_no_module_is_a_drawer() -> None:
    drawers = {"utils", "util", "helpers", "helper", "common", "misc", "tools"}
    assert {path.stem for path in MODULES} & drawers == set()
