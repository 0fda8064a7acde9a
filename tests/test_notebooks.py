"""Every notebook is built alike (style 8; docs/reports.md says why), and its outputs are not committed."""

import ast
import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat import NotebookNode

from gangline.report.notebooks import known_parameters

FOLDER = Path(__file__).parents[1] / "notebooks"
NOTEBOOKS = sorted(set(FOLDER.glob("*.ipynb")) - {FOLDER / "20_explore.ipynb"})  # tests/lab holds that one
PARAMETER = re.compile(r"[a-z_]+: [\w\[\], .\"]+ = .+  # .+")
SECTIONS = ("What a row is", "Caveats", "Data quality", "Provenance")
FORBIDDEN_CALLS = {"Markdown", "HTML", "Markup", "display", "print", "eval", "exec", "open", "fmt_markdown", "to_html"}
MOST_LINES = 2
KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}


def faults(notebook: NotebookNode, name: str) -> list[str]:
    """What a notebook does otherwise than all others, in a line each."""
    return [*_frame(notebook, name), *_sections(notebook), *_stripped(notebook), *_code(notebook)]


def _frame(notebook: NotebookNode, name: str) -> list[str]:
    title, parameters, opening, *_, last = notebook.cells
    found = []
    if not re.fullmatch(r"\d\d_[a-z]+(_[a-z]+)*", name):
        found.append("the file's name is not NN_noun")
    if notebook.metadata.get("kernelspec", {}).get("name") != "python3":
        found.append("the kernel is not python3")
    if title.cell_type != "markdown" or not re.fullmatch(r"# [^\n]+\?", title.source.strip().splitlines()[0]):
        found.append("the first cell is not a title that asks a question")
    if "parameters" not in parameters.metadata.get("tags", []):
        found.append("the second cell is not tagged parameters")
    if not all(PARAMETER.fullmatch(line) for line in parameters.source.splitlines()):
        found.append("a parameter is not written as `name: type = default  # help`")
    if f'page = report.open_page(config, start, end, notebook="{name}"' not in opening.source:
        found.append("the third cell does not open the page under the notebook's own name")
    if last.source.strip() != "page.done()":
        found.append("the last cell is not page.done()")
    return found


def _sections(notebook: NotebookNode) -> list[str]:
    text = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    heads = [line.removeprefix("## ") for line in text.splitlines() if line.startswith("## ")]
    found = [f"there is no section {section!r}" for section in SECTIONS if section not in heads]
    if not any("answer" in cell.metadata.get("tags", []) for cell in notebook.cells):
        found.append("no cell is tagged answer")
    sources = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    found += [f"{call} is missing" for call in ("page.quality()", "page.provenance()") if call not in sources]
    return found


def _stripped(notebook: NotebookNode) -> list[str]:
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return [f"output is committed: {cell.source[:40]!r}" for cell in code if cell.outputs or cell.execution_count]


def _code(notebook: NotebookNode) -> list[str]:
    found = []
    for cell in notebook.cells:
        if cell.cell_type != "code" or "parameters" in cell.metadata.get("tags", []):
            continue
        lines = [line for line in cell.source.splitlines() if line.strip()]
        if not 1 <= len(lines) <= MOST_LINES:
            found.append(f"a code cell has {len(lines)} lines: {lines[:1]}")
        found += [f"{fault}: {cell.source[:60]!r}" for fault in _statements(ast.parse(cell.source))]
    return found


def _statements(tree: ast.Module) -> list[str]:
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda | ast.Try):
            found.append(f"a {type(node).__name__} belongs into the package")
        if isinstance(node, ast.Call) and _called(node) in FORBIDDEN_CALLS:
            found.append(f"{_called(node)}() is not for pages")
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and _is_page(node.func.value):
            arguments: list[Any] = [*node.args, *(keyword.value for keyword in node.keywords)]
            if any(isinstance(argument, ast.JoinedStr) for argument in arguments):
                found.append("an f-string goes to the page; give its values beside it")
    return found


def _called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _is_page(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "page"


def read(path: Path) -> NotebookNode:
    notebook: NotebookNode = nbformat.read(path, as_version=4)
    return notebook


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_skeleton(path: Path) -> None:
    assert faults(read(path), path.stem) == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_papermill_sees_every_parameter_with_its_type(path: Path) -> None:
    known = known_parameters(path)
    assert list(known)[:3] == ["config", "start", "end"]
    assert "None" not in known.values()
    assert len(known) == len(read(path).cells[1].source.splitlines())


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_what_answers_is_tagged_so_that_it_stands_on_top(path: Path) -> None:
    answers = {cell.id for cell in read(path).cells if "page.answer(" in cell.source}
    assert answers == {cell.id for cell in read(path).cells if "answer" in cell.metadata.get("tags", [])}


def test_there_are_no_two_of_one_number() -> None:
    numbers = [path.stem[:2] for path in NOTEBOOKS]
    assert len(numbers) == len(set(numbers))


def sound() -> NotebookNode:
    markdown, code = nbformat.v4.new_markdown_cell, nbformat.v4.new_code_cell
    cells = [
        markdown("# Why?"),
        code('config: str = ""  # the TOML file\nstart: str = ""  # first\nend: str = ""  # last'),
        code('from gangline import report\npage = report.open_page(config, start, end, notebook="01_sound")'),
        code('page.answer("Because.")'),
        *(markdown(f"## {section}") for section in SECTIONS),
        code("page.quality()"),
        code("page.provenance()"),
        code("page.done()"),
    ]
    cells[1].metadata["tags"], cells[3].metadata["tags"] = ["parameters"], ["answer"]
    notebook: NotebookNode = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": KERNEL})
    return notebook


def test_a_sound_notebook_passes() -> None:
    assert faults(sound(), "01_sound") == []


@pytest.mark.parametrize(
    ("place", "source", "fault"),
    [
        (0, "# Exclusions", "the first cell is not a title that asks a question"),
        (1, "top = 3", "a parameter is not written as `name: type = default  # help`"),
        (2, "import x", "the third cell does not open the page under the notebook's own name"),
        (4, "## Rows", "there is no section 'What a row is'"),
        (3, "a = 1\nb = 2\nc = 3", "a code cell has 3 lines: ['a = 1']"),
        (3, "def f(): return 1", "a FunctionDef belongs into the package: 'def f(): return 1'"),
        (3, 'page.text(f"{x}")', "an f-string goes to the page; give its values beside it: 'page.text(f\"{x}\")'"),
        (3, 'page.chart(c, title=f"{x}")', "an f-string goes to the page; give its values beside it"),
        (3, "HTML(x)", "HTML() is not for pages: 'HTML(x)'"),
        (8, "pass", "page.quality() is missing"),
        (-1, "pass", "the last cell is not page.done()"),
    ],
)
def test_a_fault_is_found(place: int, source: str, fault: str) -> None:
    notebook = sound()
    notebook.cells[place].source = source
    assert any(found.startswith(fault) for found in faults(notebook, "01_sound"))


def test_committed_output_is_found() -> None:
    notebook = sound()
    notebook.cells[3].outputs = [nbformat.v4.new_output("stream", text="x")]
    assert faults(notebook, "01_sound") == ["output is committed: 'page.answer(\"Because.\")'"]
