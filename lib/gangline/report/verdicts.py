"""Whether an executed notebook may pass for a report, and if not, why in one line."""

from typing import Any

import nbformat

from gangline.report import outputs

PAPERMILL_TAGS = {"papermill-error-cell-tag", "injected-parameters"}
MOST_PAGE_BYTES = 5_000_000


def find_problem(notebook: nbformat.NotebookNode, error: BaseException | None, limit_s: int) -> str:
    """Say why the notebook is not a whole report; empty where it is.

    Papermill's exit alone does not tell: after `sys.exit(0)` it reports success, and after a killed kernel or a
    timeout every cell counts as completed. So every code cell must have been answered by the kernel without an error,
    and the last one must have left the end mark of `page.done()`.
    """
    cells = code_cells(notebook)
    broken = next((number for number, cell in enumerate(cells, 1) if not _is_complete(cell)), None)
    if error is None and broken is None:
        return _unfinished(cells)
    place = _place(cells, broken)
    return f"{_cause(cells, broken, error, limit_s)} {place}"


def code_cells(notebook: nbformat.NotebookNode) -> list[Any]:
    """List the notebook's own code cells, without what papermill put in, so that their numbers are the author's."""
    return [cell for cell in notebook.cells if cell.cell_type == "code" and not PAPERMILL_TAGS & _tags(cell)]


def has_started(notebook: nbformat.NotebookNode) -> bool:
    """Whether the kernel took up any cell at all."""
    return any(cell.metadata.get("execution") for cell in code_cells(notebook))


def largest_output(notebook: nbformat.NotebookNode) -> str:
    """Name the first cell that leaves an output which no page can hold; empty where none does."""
    for number, cell in enumerate(code_cells(notebook), 1):
        size = max((_size(output) for output in cell.outputs), default=0)
        if size > outputs.MOST_OUTPUT_BYTES:
            return f"Code cell {number} leaves {size / 1e6:.1f} MB in one output, the limit is 1 MB; show fewer rows."
    return ""


def _size(output: Any) -> int:
    parts = [output.get("text", ""), *output.get("data", {}).values()]
    return max(len(str(part)) for part in parts)


def _tags(cell: Any) -> set[str]:
    return set(cell.metadata.get("tags", []))


def _is_complete(cell: Any) -> bool:
    is_answered = "shell.execute_reply" in cell.metadata.get("execution", {})
    is_passed = cell.metadata.get("papermill", {}).get("status") == "completed"
    return is_answered and is_passed and not any(output["output_type"] == "error" for output in cell.outputs)


def _unfinished(cells: list[Any]) -> str:
    left = [output.get("data", {}) for output in cells[-1].outputs] if cells else []
    if any(outputs.DONE in data for data in left):
        return ""
    return "The notebook ran to its end without page.done() in its last cell."


def _place(cells: list[Any], broken: int | None) -> str:
    finished = (broken or len(cells) + 1) - 1
    if not finished:
        return "No cell was finished before."
    return f"The last finished cell is code cell {finished} of {len(cells)}: {_first_line(cells[finished - 1])}"


def _cause(cells: list[Any], broken: int | None, error: BaseException | None, limit_s: int) -> str:
    name = type(error).__name__
    if name == "DeadKernelError":
        return "The kernel died, as it does when memory runs out (a lower GANGLINE_MEMORY_LIMIT may help)."
    if name == "CellTimeoutError":
        slow = _first_line(cells[(broken or 1) - 1])
        return f"Code cell {broken} took longer than its {limit_s} s (--cell-limit): {slow}."
    raised = _raised(cells[broken - 1]) if broken else ""
    return raised or f"{name}: {str(error).strip().splitlines()[0] if str(error).strip() else 'no message'}."


def _raised(cell: Any) -> str:
    for output in cell.outputs:
        if output["output_type"] == "error":
            return f"{output['ename']}: {_one_line(output['evalue'])}".rstrip(".") + "."
    return ""


def _one_line(text: str) -> str:
    return " ".join(text.split())[:400]


def _first_line(cell: Any) -> str:
    lines = cell.source.strip().splitlines()
    return f"“{lines[0][:100]}”" if lines else "(empty)"
