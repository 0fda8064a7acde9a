"""The weekly run: notebooks under papermill side by side, then pages, figures and indexes in their folders."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from gangline.config import Config
from gangline.report import index, notebooks, paper, provenance, shares
from gangline.report.jobs import Job, Outcome
from gangline.report.processes import Pool
from gangline.report.publishing import Publisher, publish_figures
from gangline.warehouse.locking import holding
from gangline.windows import Window

ROOT = Path(__file__).resolve().parents[3]
CELL_LIMIT_S = 600
LOCK = ".rendering.lock"
Listener = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class PageResult:
    """What became of one notebook.

    Attributes
    ----------
    notebook : str
        Its file name without the ending.
    page : Path
        The page that was written: `NN_name.html`, or `NN_name.failed.html` where it is not complete.
    problem : str
        Why it is not complete, in one line; empty where it is.
    print_problem : str
        Why it was not printed though it was to be; empty where all went well.
    """

    notebook: str
    page: Path
    problem: str
    seconds: float
    print_problem: str = ""

    @property
    def folder(self) -> Path:
        """The window's folder."""
        return self.page.parent

    @property
    def is_complete(self) -> bool:
        """Whether the page is a whole report."""
        return not self.problem

    def sentence(self) -> str:
        """Say it in one line."""
        if self.is_complete:
            unprinted = f"; NOT PRINTED: {self.print_problem}" if self.print_problem else ""
            return f"{self.notebook}: {self.page} ({self.seconds:.1f} s){unprinted}"
        return f"{self.notebook}: FAILED: {self.problem} See {self.page}"


def render(
    config: Config,
    window: Window,
    only: Sequence[str] = (),
    parameters: Mapping[str, str] | None = None,
    *,
    jobs: int | None = None,
    out: Path | None = None,
    cell_limit_s: int = CELL_LIMIT_S,
    listener: Listener = lambda thing, done, total: None,
    folder: Path = notebooks.FOLDER,
    browser: Path | None = None,
    now: datetime | None = None,
) -> list[PageResult]:
    """Render a window's pages into `<out>/<cluster>/<window>/` and bring its index and the cluster's up to date.

    A page that fails is written as `NN_name.failed.html` beside the good one of an earlier run, which stays; the other
    pages are not held up by it.

    Parameters
    ----------
    only : sequence of str
        Notebooks by name, with or without their number; by default those of the weekly run.
    parameters : mapping of str to str
        Parameters as typed; each goes to the notebooks that know it.
    jobs : int, optional
        Notebooks at once; by default one a core.
    out : Path, optional
        The folder of all reports; by default `reports/` of the clone.
    folder : Path
        Where the notebooks are.
    browser : Path, optional
        The Chromium that prints each complete page; without one there is no PDF.
    now : datetime, optional
        The instant that pages name as theirs.

    Raises
    ------
    ParameterError
        If a notebook or a parameter is not known, or a value is not of its type; before anything is run.
    WarehouseError
        If another run is writing this cluster's pages.
    """
    chosen = notebooks.choose(folder, only, window, config)
    values = notebooks.parameters_for(chosen, parameters or {})
    place = folder_of(config, out)
    publisher = Publisher(place / window.folder, now or datetime.now(UTC))
    with rendering(place):
        results = run_all(config, window, publisher, place, values, jobs, cell_limit_s, listener)
        results = [printed(result, browser, publisher) for result in results]
        publish_figures(place / window.folder, config.cluster.name, window)
        index.write(place, window.folder, config.cluster.name, publisher.now)
    return results


def folder_of(config: Config, out: Path | None = None) -> Path:
    """The folder of a cluster's reports: in `out`, by default in `reports/` of the clone."""
    return (out or ROOT / "reports") / config.cluster.name


@contextmanager
def rendering(place: Path) -> Iterator[None]:
    """Hold a cluster's folder of reports, so that two runs at once do not write into each other.

    Raises
    ------
    WarehouseError
        If another run holds it.
    """
    place.mkdir(parents=True, exist_ok=True)
    with holding(place / LOCK, f"{place}: process {{holder}} is rendering into it"):
        yield


def run_all(
    config: Config,
    window: Window,
    publisher: Publisher,
    place: Path,
    values: Mapping[Path, Mapping[str, object]],
    jobs: int | None = None,
    cell_limit_s: int = CELL_LIMIT_S,
    listener: Listener = lambda thing, done, total: None,
) -> list[PageResult]:
    """Run notebooks with their parameters and publish their pages; results by name. `place` is the cluster's folder."""
    size = min(jobs or shares.cores(), max(1, len(values)))
    with publisher.work_folder() as work:
        run = _Run(config, window, publisher, cell_limit_s, _environment(place, size, publisher.now), work)
        results = run.all([run.job(path, given) for path, given in values.items()], size, listener)
    return sorted(results, key=lambda result: result.notebook)


def printed(result: PageResult, browser: Path | None, publisher: Publisher) -> PageResult:
    """Print a complete page where there is a browser; what went wrong stands in the result and the log."""
    if browser is None or not result.is_complete:
        return result
    if problem := paper.print_page(result.page, browser):
        publisher.log(f"{result.notebook}: {problem}")
    return replace(result, print_problem=problem)


def _environment(place: Path, size: int, now: datetime) -> dict[str, str]:
    told = {
        provenance.GENERATED_AT: now.isoformat(timespec="seconds"),
        provenance.COMMIT: provenance.read_commit(),
        "GANGLINE_REPORTS": str(place.absolute()),
    }
    return shares.environment(size) | told


@dataclass(frozen=True, slots=True)
class _Run:
    config: Config
    window: Window
    publisher: Publisher
    limit_s: int
    environment: Mapping[str, str]
    work: Path

    def job(self, notebook: Path, values: Mapping[str, object]) -> Job:
        work = self.work / notebook.stem
        work.mkdir()
        start, end = self.window.edges
        usual = {"config": str(self.config.path), "start": start, "end": end}
        return Job(notebook.absolute(), work.absolute(), usual | dict(values), self.environment, self.limit_s, ROOT)

    def all(self, jobs: list[Job], size: int, listener: Listener) -> list[PageResult]:
        results: list[PageResult] = []
        begun = {job.notebook.stem: time.monotonic() for job in jobs}

        def started(job: Job) -> None:
            begun[job.notebook.stem] = time.monotonic()
            listener(job.notebook.stem, len(results), len(jobs))
            self.publisher.log(f"{job.notebook.stem}: started with {dict(job.parameters)}")

        for job, outcome in Pool(size).run(jobs, started):
            results.append(self._published(job, outcome, time.monotonic() - begun[job.notebook.stem]))
            listener("", len(results), len(jobs))
        return results

    def _published(self, job: Job, outcome: Outcome | int, seconds: float) -> PageResult:
        name = job.notebook.stem
        if isinstance(outcome, int):
            outcome = Outcome(f"The process that ran it ended with code {outcome}.", (), seconds)
        problem = outcome.problem
        page = self.publisher.publish(name, job.work, problem)
        for note in outcome.notes:
            self.publisher.log(f"{name}: {note}")
        self.publisher.log(f"{name}: {'FAILED: ' + problem if problem else 'complete'} ({seconds:.1f} s)")
        return PageResult(name, page, problem, seconds)
