"""A postmortem's page and the notebook behind it: rendered as often as one likes, what its author wrote stays."""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import nbformat

from gangline.config import Config
from gangline.postmortem.story import Story
from gangline.postmortem.subjects import Subject
from gangline.report import authored, index, notebooks
from gangline.report.leftovers import facts_of
from gangline.report.publishing import Publisher, publish_figures, write_whole
from gangline.report.runner import CELL_LIMIT_S, Listener, PageResult, folder_of, printed, rendering, run_all
from gangline.report.wiki import write
from gangline.warehouse import connect

NAME = "11_postmortem"
FOLDER = index.POSTMORTEMS


@dataclass(frozen=True, slots=True)
class PostmortemPaths:
    """Where a postmortem's files are: `notebook` is the one to write in."""

    folder: Path

    @property
    def notebook(self) -> Path:
        """The executed notebook with the author's text."""
        return self.folder / f"{NAME}.ipynb"

    @property
    def failed(self) -> Path:
        """What a rendering that failed left beside it; an author may mend it there."""
        return self.folder / f"{NAME}.failed.ipynb"

    @property
    def markdown(self) -> Path:
        """The same for a wiki."""
        return self.folder / "postmortem.md"


def paths_of(config: Config, subject: Subject, out: Path | None = None) -> PostmortemPaths:
    """`<reports>/<cluster>/postmortems/<instant>_<what>/`."""
    return PostmortemPaths(folder_of(config, out) / FOLDER / subject.slug)


def render_postmortem(
    config: Config,
    subject: Subject,
    out: Path | None = None,
    *,
    cell_limit_s: int = CELL_LIMIT_S,
    listener: Listener = lambda thing, done, total: None,
    browser: Path | None = None,
    now: datetime | None = None,
) -> PageResult:
    """Render a subject's page, printed too where a browser is given; the author's cells are taken over first.

    Raises
    ------
    AuthoredError
        If the earlier rendering cannot be read: nothing is rendered over it.
    WarehouseError
        If another run is writing this cluster's pages.
    """
    place, paths = folder_of(config, out), paths_of(config, subject, out)
    with rendering(place):
        publisher = Publisher(paths.folder, now or datetime.now(UTC))
        written = authored.latest(paths.notebook, paths.failed)
        notebook = authored.merged(notebooks.FOLDER / f"{NAME}.ipynb", written)
        with publisher.work_folder() as work:
            source = work / f"{NAME}.ipynb"
            nbformat.write(notebook, source)  # type: ignore[no-untyped-call]
            window, values = subject.window(config.cluster.time_zone), {source: dict[str, object](subject.named)}
            (result,) = run_all(config, window, publisher, place, values, 1, cell_limit_s, listener)
        result = printed(result, browser, publisher)
        publish_figures(paths.folder, config.cluster.name, window)
        index.write(place / FOLDER, paths.folder.name, f"{config.cluster.name}: postmortems", publisher.now)
        index.write_cluster(place, config.cluster.name, publisher.now)
    return result


def write_markdown(config: Config, subject: Subject, out: Path | None = None) -> Path:
    """Write what the page tells as Markdown beside it, the author's text included."""
    paths = paths_of(config, subject, out)
    texts = authored.texts(paths.notebook) if paths.notebook.is_file() else {}
    summary = next((page.answer for page in facts_of(paths.folder)), "")
    with connect(config) as con:
        write_whole(paths.markdown, write(Story(con, config, subject), texts, summary))
    return paths.markdown
