"""The notebook that `gangline lab` opens: it runs, it is committed without outputs, and it holds no code of its own."""

import ast

import nbformat
import pytest
from nbclient import NotebookClient

from gangline.config import Config
from tests.test_notebooks import FOLDER, known_parameters

PATH = FOLDER / "20_explore.ipynb"


def test_it_is_committed_without_outputs_and_holds_no_definitions() -> None:
    for cell in nbformat.read(PATH, as_version=4).cells:
        if cell.cell_type == "code":
            assert (cell.outputs, cell.execution_count) == ([], None)
            if not cell.source.startswith("%"):
                assert not any(
                    isinstance(node, ast.FunctionDef | ast.ClassDef) for node in ast.walk(ast.parse(cell.source))
                )


def test_its_parameters_are_those_of_every_notebook() -> None:
    assert known_parameters(PATH) == {"config": "str", "start": "str", "end": "str"}


def test_it_runs_to_its_end_and_draws(built: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GANGLINE_CONFIG", str(built.path))
    notebook = NotebookClient(nbformat.read(PATH, as_version=4), kernel_name="python3", timeout=120).execute()
    bundles = [output.data for cell in notebook.cells for output in cell.get("outputs", []) if "data" in output]
    assert any("application/vnd.vegalite.v5+json" in bundle for bundle in bundles)
    assert any("application/vnd.jupyter.widget-view+json" in bundle for bundle in bundles)
