"""What an author wrote is never lost by rendering again."""

import json
import os
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from gangline.report.authored import AuthoredError, latest, merged, texts


def _cell(name: str, text: str, *, is_authors: bool = False):
    cell = new_markdown_cell(text, id=name)
    cell.metadata["tags"] = ["author"] if is_authors else []
    return cell


@pytest.fixture
def template(tmp_path: Path) -> Path:
    cells = [
        _cell("title", "# New title?"),
        _cell("author-causes", "…", is_authors=True),
        new_code_cell("x = 2", id="code"),
    ]
    nbformat.write(new_notebook(cells=cells), tmp_path / "template.ipynb")
    return tmp_path / "template.ipynb"


def test_the_first_rendering_is_the_template(template: Path, tmp_path: Path) -> None:
    assert [cell.source for cell in merged(template, tmp_path / "none.ipynb").cells] == ["# New title?", "…", "x = 2"]


def test_the_authors_cells_and_additions_stay_and_the_rest_is_new(template: Path, tmp_path: Path) -> None:
    injected = new_code_cell("session = 'a'", id="given")
    injected.metadata["tags"] = ["injected-parameters"]
    own = new_code_cell("page.text('mine')", id="mine", outputs=[nbformat.v4.new_output("stream", text="old")])
    cells = [
        _cell("title", "# Old?"),
        injected,
        _cell("author-causes", "A cable.", is_authors=True),
        own,
        _cell("note", "More."),
    ]
    nbformat.write(new_notebook(cells=cells), tmp_path / "written.ipynb")
    found = merged(template, tmp_path / "written.ipynb").cells
    assert [cell.source for cell in found] == ["# New title?", "A cable.", "page.text('mine')", "More.", "x = 2"]
    assert found[2].outputs == []
    assert texts(tmp_path / "written.ipynb") == {"causes": "A cable."}


def test_a_damaged_notebook_is_refused_and_not_written_over(template: Path, tmp_path: Path) -> None:
    (tmp_path / "written.ipynb").write_text("{ half")
    with pytest.raises(AuthoredError, match="no notebook any more"):
        merged(template, tmp_path / "written.ipynb")
    assert (tmp_path / "written.ipynb").read_text() == "{ half"


def _sources(notebook) -> list[str]:
    return [cell.source for cell in notebook.cells]


def test_an_edit_of_what_the_template_gave_stays(template: Path, tmp_path: Path) -> None:
    notebook, path = merged(template, tmp_path / "none.ipynb"), tmp_path / "written.ipynb"
    notebook.cells[0].source, notebook.cells[2].source = "# My title?", "x = 3"
    for _ in range(2):
        nbformat.write(notebook, path)
        notebook = merged(template, path)
        assert _sources(notebook) == ["# My title?", "…", "x = 3"]


def test_a_cell_that_was_deleted_is_back_and_one_without_its_tag_stays(template: Path, tmp_path: Path) -> None:
    notebook, path = merged(template, tmp_path / "none.ipynb"), tmp_path / "written.ipynb"
    del notebook.cells[2]
    notebook.cells[1].source = "A cable."
    notebook.cells[1].metadata = {}
    nbformat.write(notebook, path)
    assert _sources(merged(template, path)) == ["# New title?", "A cable.", "x = 2"]


def test_an_editor_without_cell_ids_loses_nothing(template: Path, tmp_path: Path) -> None:
    notebook, path = merged(template, tmp_path / "none.ipynb"), tmp_path / "written.ipynb"
    notebook.cells[1].source, notebook.cells[2].source = "A cable.", "x = 3"
    notebook.cells.append(new_markdown_cell("More."))
    notebook.nbformat_minor = 4
    for cell in notebook.cells:
        del cell["id"]
    path.write_text(json.dumps(notebook))
    notebook = merged(template, path)
    nbformat.write(notebook, path)
    assert _sources(notebook) == _sources(merged(template, path)) == ["# New title?", "A cable.", "x = 3", "More."]
    assert texts(path) == {"causes": "A cable.\n\nMore."}


def test_the_failed_rendering_counts_where_it_was_written_last(tmp_path: Path) -> None:
    whole, failed = tmp_path / "a.ipynb", tmp_path / "a.failed.ipynb"
    assert latest(whole, failed) == whole
    for path, at in ((whole, 1), (failed, 2)):
        path.touch()
        os.utime(path, (at, at))
    assert latest(whole, failed) == failed
    os.utime(whole, (3, 3))
    assert latest(whole, failed) == whole
