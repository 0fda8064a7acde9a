"""No sentence says "1 nodes": a count stands before its noun by `counted`, `words` or a format such as `{n:nodes}`."""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT

NOUNS = (
    "attempts blocks chains checks days ends events fields figures files gaps GPUs hours incidents launches loads lines"
    " metrics months nodes others records retries rows runs samples saves series sessions steps times values"
    " weeks windows"
)
COUNT_FIRST = re.compile(rf"\{{[^{{}}]*\}}(?:\*\*)? (?:[a-z-]+ )?(?:{'|'.join(NOUNS.split())})\b")
MEASURED = re.compile(r":[.\d,]*[1-9]f\}|_h\}|\{[A-Z_]+(?:\.[a-z]+)?[:,]*\}")  # a length, or a constant of ours
ALLOWED = {
    "{loaded} became rows",
    "{f[retries.manual_success].brief}** of launches",
    "{f[retries.failed_chain_gpu_h]} of attempts",
    "{all} after ends",
    "{stage} saves",
    "{entry.kind} files",
    "{kind} files",
    "{top} by hours",
    "{table} values",
    "{times.size} gaps",
    "{others} other nodes",
    "{rows.height} sessions",
    "{frame.height:,} rows",
    "{self.metrics} metrics",
    "{self.files} files",
    "{self.series_per_node:,} series",
    "{len(nodes)} nodes",
}
"""No count of the noun, or one that is more than one wherever the sentence is said."""


def _texts(path: Path) -> Iterator[str]:
    if path.suffix == ".ipynb":
        cells = json.loads(path.read_text("utf-8"))["cells"]
        yield from ("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
        return
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.JoinedStr):
            yield ast.unparse(node)


FILES = [*sorted((ROOT / "notebooks").glob("*.ipynb")), *sorted((ROOT / "lib" / "gangline").rglob("*.py"))]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_one_is_told_from_many(path: Path) -> None:
    found = {match[0] for text in _texts(path) for match in COUNT_FIRST.finditer(text)}
    assert {text for text in found - ALLOWED if not MEASURED.search(text)} == set()
