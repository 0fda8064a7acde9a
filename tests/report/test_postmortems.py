"""A postmortem rendered twice with a real kernel: the page, and what its author wrote in between."""

from pathlib import Path

import nbformat

from gangline.config import Config
from gangline.postmortem import find
from gangline.report.postmortems import paths_of, render_postmortem, write_markdown
from gangline.warehouse import connect
from tests.postmortem.conftest import lynx  # noqa: F401 - a fixture


def test_rendering_again_keeps_what_the_author_wrote(lynx: Config, tmp_path: Path) -> None:  # noqa: F811
    with connect(lynx) as con:
        subject = find(con, "UTC", session="a")
    first = render_postmortem(lynx, subject, tmp_path)
    paths = paths_of(lynx, subject, tmp_path)
    assert first.is_complete, first.problem
    notebook = nbformat.read(paths.notebook, as_version=4)
    (causes,) = (cell for cell in notebook.cells if cell.id == "author-causes")
    causes.source = "## Root causes\n\nA riser card <script>alert(1)</script>."
    nbformat.write(notebook, paths.notebook)
    assert render_postmortem(lynx, subject, tmp_path).is_complete
    page = (paths.folder / "11_postmortem.html").read_text("utf-8")
    assert "A riser card" in page
    assert "<script>alert(1)" not in page
    markdown = write_markdown(lynx, subject, tmp_path).read_text("utf-8")
    assert "A riser card" in markdown
    assert " nodes ended as " in markdown.split("##")[0]
    assert "postmortems/index.html" in (paths.folder.parents[1] / "index.html").read_text("utf-8")
    assert (paths.folder.parent / "index.html").is_file()
    assert (paths.folder / "index.html").is_file()
