"""One notebook run and turned into its page, in a process of its own that has papermill imported already."""

import os
import shutil
import tempfile
import time
import traceback
from pathlib import Path

import nbformat
import papermill
from nbclient.exceptions import DeadKernelError

from gangline.report import exporter
from gangline.report.arrangement import alert, read_notebook
from gangline.report.jobs import Job, Outcome
from gangline.report.kernels import FileKernelManager, PortKernelManager
from gangline.report.notebooks import literal_path
from gangline.report.verdicts import MOST_PAGE_BYTES, find_problem, has_started, largest_output

START_LIMIT_S = 60


def run(job: Job) -> Outcome:
    """Run a notebook and write its page, also after a failure; nothing is raised but what no page could tell."""
    started_s = time.monotonic()
    notes: list[str] = []
    executed = job.work / "page.ipynb"
    with _Surroundings(job):
        error = _execute(job, executed, notes)
    notebook = read_notebook(executed if executed.is_file() else job.notebook)
    problem = find_problem(notebook, error, job.limit_s) or largest_output(notebook)
    if error is not None:
        notes.append("".join(traceback.format_exception_only(error)).strip())
    written = exporter.page(notebook, job.notebook.stem, alert(problem, notebook) if problem else None)
    if not problem and len(written.encode()) > MOST_PAGE_BYTES:
        problem = f"The page takes {len(written.encode()) / 1e6:.1f} MB, the limit is 5 MB; show fewer rows."
        written = exporter.page(notebook, job.notebook.stem, alert(problem, notebook))
    (job.work / "page.html").write_text(written, "utf-8")
    notebook.metadata["gangline"] = {"problem": problem}
    nbformat.write(notebook, executed)  # type: ignore[no-untyped-call]
    return Outcome(problem, tuple(notes), time.monotonic() - started_s)


def _execute(job: Job, executed: Path, notes: list[str]) -> BaseException | None:
    error = _attempt(job, executed, FileKernelManager)
    if _is_start_failure(error, executed):
        notes.append(f"the kernel did not start ({_line(error)}); tried once more, over ports")
        error = _attempt(job, executed, PortKernelManager)
    return error


def _attempt(job: Job, executed: Path, manager: type[PortKernelManager]) -> BaseException | None:
    """Run the notebook once; what went wrong is returned, as the page is written after a failure too."""
    try:
        papermill.execute_notebook(
            literal_path(job.notebook), literal_path(executed), parameters=dict(job.parameters),
            kernel_name="python3", language="python",
            progress_bar=False, start_timeout=START_LIMIT_S, execution_timeout=job.limit_s,
            kernel_manager_class=manager,
        )  # fmt: skip
    except Exception as error:  # noqa: BLE001 - every failure of a notebook becomes a page that tells it
        return error
    return None


def _is_start_failure(error: BaseException | None, executed: Path) -> bool:
    if not isinstance(error, RuntimeError | OSError | DeadKernelError) or not executed.is_file():
        return False
    return not has_started(read_notebook(executed))


def _line(error: BaseException | None) -> str:
    return " ".join(str(error).split())[:200]


class _Surroundings:
    """The process's surroundings for a kernel: folders of its own for Jupyter and IPython, the job's environment.

    The user's own start-up files must not change a report, and paths of sockets must stay short.
    """

    def __init__(self, job: Job) -> None:
        self.job = job
        self.place = tempfile.mkdtemp(prefix="gangline-")

    def __enter__(self) -> None:
        own = {"JUPYTER_RUNTIME_DIR": self.place, "IPYTHONDIR": self.place, "TZ": "UTC", "PYTHONHASHSEED": "0"}
        os.environ.update(own | dict(self.job.environment))
        os.chdir(self.job.folder)

    def __exit__(self, *failure: object) -> None:
        shutil.rmtree(self.place, ignore_errors=True)
