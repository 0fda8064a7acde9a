"""What an author wrote is never lost by rendering again."""

from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from gangline.report.authored import AuthoredError, merged, texts


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
