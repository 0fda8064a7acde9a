"""What an author wrote into a rendered notebook, kept when it is rendered again."""

from hashlib import sha256
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from gangline.report.arrangement import read_notebook
from gangline.report.verdicts import PAPERMILL_TAGS

AUTHOR = "author"
PREFIX = "author-"
GIVEN = "gangline_given"
"""Metadata of a cell that the template gave: the digest of its text, by which an edit of it is known."""


class AuthoredError(ValueError):
    """A rendered notebook cannot be read: what its author wrote would be lost, so nothing is rendered over it."""


def merged(template: Path, written: Path) -> NotebookNode:
    """The template with what the author of an earlier rendering wrote in its places.

    Cells that the author fills or edited keep the author's text; cells that the author added stand behind the cell
    that they stood behind; the template's other cells are as they are now, and one that was deleted is back.

    Raises
    ------
    AuthoredError
        If the earlier rendering is no notebook.
    """
    fresh = read_notebook(template)
    cells = _earlier(written, fresh) if written.is_file() else []
    for cell in fresh.cells:
        cell.metadata[GIVEN] = _digest(cell)
    return _with(fresh, cells)


def latest(*renderings: Path) -> Path:
    """Of a rendering and the failed one beside it, the one that was written last: there the author went on."""
    return max((path for path in renderings if path.is_file()), key=lambda path: path.stat().st_mtime_ns,
               default=renderings[0])  # fmt: skip


def texts(notebook: Path) -> dict[str, str]:
    """What the author wrote, by the names of the author's cells (their ids less `author-`).

    Text that the author added stands with the author's cell before it, or the first one.
    """
    cells = read_notebook(notebook).cells
    names = [_id(cell).removeprefix(PREFIX) for cell in cells if _id(cell).startswith(PREFIX)]
    found: dict[str, list[str]] = {name: [] for name in names}
    place = names[0] if names else ""
    is_marked = any(GIVEN in cell.metadata for cell in cells)
    for cell in cells:
        place = _id(cell).removeprefix(PREFIX) if _id(cell).startswith(PREFIX) else place
        if place in found and (_id(cell) == PREFIX + place or (is_marked and _is_added_text(cell))):
            found[place].append(cell.source)
    return {name: "\n\n".join(parts) for name, parts in found.items()}


def _earlier(written: Path, fresh: NotebookNode) -> list[NotebookNode]:
    try:
        earlier = read_notebook(written)
        cells = [cell for cell in earlier.cells if not PAPERMILL_TAGS & set(cell.metadata.get("tags", []))]
        if any("id" not in cell for cell in cells):
            nbformat.validate(earlier)
            _recognise(cells, fresh.cells)
    except Exception as error:
        said = " ".join(str(error).split())[:200]
        raise AuthoredError(f"{written}: no notebook any more ({said}); move it away, or mend it") from error
    return cells


def _recognise(cells: list[NotebookNode], given: list[NotebookNode]) -> None:
    """Give cells of an editor that keeps no ids those of the template: by their digest, the author's by their order."""
    ids = {_digest(cell): cell.id for cell in given}
    authors = iter([cell.id for cell in given if AUTHOR in cell.metadata.get("tags", [])])
    for place, cell in enumerate(cells):
        is_authors = AUTHOR in cell.metadata.get("tags", [])
        usual = ids.get(cell.metadata.get(GIVEN) or _digest(cell), f"added-{place}")
        cell.id = cell.get("id") or (next(authors, usual) if is_authors else usual)


def _with(fresh: NotebookNode, cells: list[NotebookNode]) -> NotebookNode:
    known = {cell.id for cell in fresh.cells}
    own = {cell.id: cell for cell in cells if cell.id in known and _is_own(cell)}
    behind: dict[str, list[NotebookNode]] = {}
    place = fresh.cells[0].id
    for cell in cells:
        if cell.id in known:
            place = cell.id
        else:
            behind.setdefault(place, []).append(_bare(cell))
    placed = []
    for cell in fresh.cells:
        placed += [_taken(cell, own[cell.id]) if cell.id in own else cell, *behind.get(cell.id, [])]
    fresh.cells = placed
    return fresh


def _is_own(cell: NotebookNode) -> bool:
    """Whether the author filled the cell, or edited what the template gave."""
    given = cell.metadata.get(GIVEN)
    is_edited = given is not None and given != _digest(cell) and "parameters" not in cell.metadata.get("tags", [])
    return _id(cell).startswith(PREFIX) or is_edited


def _taken(fresh: NotebookNode, own: NotebookNode) -> NotebookNode:
    """The author's cell (its kind too) in the place of the template's, marked as the template's is."""
    own = _bare(own)
    own.metadata = fresh.metadata
    return own


def _bare(cell: NotebookNode) -> NotebookNode:
    if cell.cell_type == "code":
        cell.outputs, cell.execution_count = [], None
    return cell


def _is_added_text(cell: NotebookNode) -> bool:
    return cell.cell_type == "markdown" and GIVEN not in cell.metadata and not PAPERMILL_TAGS & set(
        cell.metadata.get("tags", [])
    )  # fmt: skip


def _id(cell: NotebookNode) -> str:
    return str(cell.get("id", ""))


def _digest(cell: NotebookNode) -> str:
    return sha256(cell.source.encode()).hexdigest()[:16]
