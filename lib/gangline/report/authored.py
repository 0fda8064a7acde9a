"""What an author wrote into a rendered notebook, kept when it is rendered again."""

from pathlib import Path

from nbformat import NotebookNode

from gangline.report.arrangement import read_notebook
from gangline.report.verdicts import PAPERMILL_TAGS

AUTHOR = "author"
PREFIX = "author-"


class AuthoredError(ValueError):
    """A rendered notebook cannot be read: what its author wrote would be lost, so nothing is rendered over it."""


def merged(template: Path, written: Path) -> NotebookNode:
    """The template with the author's cells of an earlier rendering in their places.

    Cells of the template tagged `author` take the author's text; cells that the author added stand behind the cell
    that they stood behind; the template's other cells are as they are now.

    Raises
    ------
    AuthoredError
        If the earlier rendering is no notebook.
    """
    fresh = read_notebook(template)
    if not written.is_file():
        return fresh
    try:
        earlier = read_notebook(written)
        cells = [cell for cell in earlier.cells if not PAPERMILL_TAGS & set(cell.metadata.get("tags", []))]
    except Exception as error:
        raise AuthoredError(f"{written}: no notebook any more ({error}); move it away, or mend it") from error
    return _with(fresh, cells)


def texts(notebook: Path) -> dict[str, str]:
    """What stands in the author's cells of a notebook, by name (their ids less `author-`)."""
    cells = read_notebook(notebook).cells
    return {cell.id.removeprefix(PREFIX): cell.source for cell in cells if AUTHOR in cell.metadata.get("tags", [])}


def _with(fresh: NotebookNode, cells: list[NotebookNode]) -> NotebookNode:
    known = {cell.id for cell in fresh.cells}
    own = {cell.id: cell.source for cell in cells if AUTHOR in cell.metadata.get("tags", [])}
    behind: dict[str, list[NotebookNode]] = {}
    place = fresh.cells[0].id
    for cell in cells:
        if cell.id in known:
            place = cell.id
        else:
            behind.setdefault(place, []).append(_bare(cell))
    placed = []
    for cell in fresh.cells:
        if AUTHOR in cell.metadata.get("tags", []) and cell.id in own:
            cell.source = own[cell.id]
        placed += [cell, *behind.get(cell.id, [])]
    fresh.cells = placed
    return fresh


def _bare(cell: NotebookNode) -> NotebookNode:
    if cell.cell_type == "code":
        cell.outputs, cell.execution_count = [], None
    return cell
