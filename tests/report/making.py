"""A small cluster and small notebooks for tests of pages, made without a kernel where none is needed."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import nbformat
from nbformat import NotebookNode

from gangline import config as configs
from gangline import warehouse
from gangline.config import Config
from gangline.report import outputs
from tests.configs import cluster_head, source_entry

HOSTILE = (
    "<script>alert(1)</script>",
    "\"quoted\" 'twice' & <b>bold</b>",
    "two\nlines",
    "pipe|and\ttab",
    "한국어 노드 이름",
    "🐕‍🦺 " * 30,
    "x" * 10_000,
    "=HYPERLINK(1)",
    "\u202egnp.exe",
    "</textarea></title><img src=x onerror=alert(1)>",
    "{0.__class__} {} %s ${x}",
    "javascript:alert(1)",
)
TOML = cluster_head("orion", zone="Asia/Seoul") + source_entry("slurm", "sacct.txt")
FILES = """
insert into meta.files (file_id, source_id, kind, path, sha256, size_bytes, options_hash, reader_version, records,
    loaded, ignored, rejected, first_at, latest_at, loaded_at)
values ('abc-slurm', 'sacct.txt', 'slurm', 'raw/sacct.txt', repeat('ab12cd34', 8), 123456, 'x', 1, 2431, 1200, 1229, 2,
    '2025-09-01 00:10:00+00', '2025-11-12 21:00:00+00', '2025-11-13 00:00:00+00')
"""


def make_cluster(folder: Path, *, is_empty: bool = False) -> Config:
    """A config beside a warehouse whose ledger holds one file (or none)."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "cluster.toml").write_text(TOML, "utf-8")
    config = configs.load(folder / "cluster.toml")
    with warehouse.writing(config) as con:
        warehouse.record_config(con, config)
        con.execute("insert or replace into meta.build values ('schema_version', ?)", [str(warehouse.SCHEMA_VERSION)])
        if not is_empty:
            con.execute(FILES)
    return config


def code(source: str, *tags: str) -> NotebookNode:
    """A code cell with tags."""
    cell: NotebookNode = nbformat.v4.new_code_cell(source)
    cell.metadata["tags"] = list(tags)
    return cell


def text(source: str) -> NotebookNode:
    """A Markdown cell."""
    cell: NotebookNode = nbformat.v4.new_markdown_cell(source)
    return cell


PARAMETERS = 'config: str = ""  # the TOML file\nstart: str = ""  # first day\nend: str = ""  # day after the last'


def write_notebook(
    folder: Path, name: str, *body: str, question: str = "What happened?", end: str = "page.done()"
) -> Path:
    """A notebook that opens a page, answers, runs the body and ends."""
    cells = [
        text(f"# {question}"),
        code(PARAMETERS + "\nnodes: int = 3  # how many to show", "parameters"),
        code(f'from gangline import report\npage = report.open_page(config, start, end, notebook="{name}")'),
        code('page.answer("**{}** nodes stood out.", nodes)', "answer"),
        *(code(source) for source in body),
        code(end),
    ]
    path = folder / f"{name}.ipynb"
    folder.mkdir(parents=True, exist_ok=True)
    kernel = {"kernelspec": {"name": "python3", "language": "python", "display_name": "Python 3"}}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=kernel), path)
    return path


@contextmanager
def collecting() -> Iterator[list[dict[str, Any]]]:
    """The bundles that a page shows meanwhile."""
    bundles: list[dict[str, Any]] = []
    with patch.object(outputs, "publish", bundles.append):
        yield bundles


def executed(cells: Sequence[tuple[NotebookNode, Callable[[], object] | None]]) -> NotebookNode:
    """A notebook as if it had run: each code cell holds what its function showed."""
    for cell, run in cells:
        if run is not None:
            with collecting() as bundles:
                run()
            cell.outputs = [nbformat.v4.new_output("display_data", data=bundle) for bundle in bundles]
    notebook: NotebookNode = nbformat.v4.new_notebook(cells=[cell for cell, _ in cells])
    return notebook
