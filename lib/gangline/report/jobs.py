"""What the runner hands to the process of a notebook, and what it gets back."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Job:
    """A notebook to run.

    Attributes
    ----------
    notebook : Path
        The notebook; it is only read.
    work : Path
        An empty folder of its own, for `page.html` and `page.ipynb`.
    environment : mapping
        What the kernel finds in its environment beside ours.
    """

    notebook: Path
    work: Path
    parameters: Mapping[str, Any]
    environment: Mapping[str, str]
    limit_s: int
    folder: Path


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a job: a problem in one line (empty where the page is whole), notes for the log, the time."""

    problem: str
    notes: tuple[str, ...]
    seconds: float
