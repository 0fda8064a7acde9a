"""Which notebooks a run takes, and which parameters each of them knows."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gangline.config import Config
from gangline.report.parameters import ParameterError, nearest, read
from gangline.windows import WEEK, Window

FOLDER = Path(__file__).resolve().parents[3] / "notebooks"
NUMBERED = re.compile(r"(\d\d)_(\w+)")
WEEKLY = {*(f"{number:02d}" for number in range(9)), "91"}
WEEK_PAGE, REFERENCE_PAGE = "10", "90"
LAB = "20_explore"
REFERENCE = "reference"
OURS = {"config", "start", "end"}


def choose(folder: Path, only: Sequence[str], window: Window, config: Config) -> list[Path]:
    """List the notebooks to run: those named, else those of the weekly run, the week's own page first.

    Raises
    ------
    ParameterError
        If a name is not known, with the nearest one, or is that of the lab, which is no page.
    """
    known = {path.stem: path for path in sorted(folder.glob("*.ipynb")) if NUMBERED.fullmatch(path.stem)}
    if only:
        return [known[_full_name(name.removesuffix(".ipynb"), list(known))] for name in dict.fromkeys(only)]
    wanted = WEEKLY | ({REFERENCE_PAGE} if config.cluster.name == REFERENCE else set())
    first = [path for name, path in known.items() if _number(name) == WEEK_PAGE and WEEK.fullmatch(window.label)]
    return first + [path for name, path in known.items() if _number(name) in wanted]


def parameters_for(chosen: Sequence[Path], texts: Mapping[str, str]) -> dict[Path, dict[str, Any]]:
    """Give each notebook those of the parameters that it knows, as values of the types that it says.

    Raises
    ------
    ParameterError
        If no notebook knows a name, a value is not of its type, or the name is one that the runner sets.
    """
    if not texts:
        return {path: {} for path in chosen}
    if set_by_us := OURS & set(texts):
        raise ParameterError(f"-p {min(set_by_us)}: give the cluster by -c, the window by --from and --to, or --week")
    known = {path: known_parameters(path) for path in chosen}
    everywhere = {name: kind for kinds in known.values() for name, kind in kinds.items() if name not in OURS}
    values = read(texts, everywhere)
    return {path: {name: value for name, value in values.items() if name in known[path]} for path in chosen}


def known_parameters(path: Path) -> dict[str, str]:
    """Read name and type of a notebook's parameters as papermill finds them."""
    import papermill

    found = papermill.inspect_notebook(literal_path(path))
    return {name: str(parameter["inferred_type_name"]) for name, parameter in found.items()}


def literal_path(path: Path) -> str:
    """Write a path for papermill, which takes braces in paths for parameters."""
    return str(path).replace("{", "{{").replace("}", "}}")


def _number(name: str) -> str:
    return name.partition("_")[0]


def _full_name(name: str, known: list[str]) -> str:
    pages = [full for full in known if full != LAB]
    matching = [full for full in known if name in (full, full.partition("_")[2])]
    if len(matching) != 1:
        raise ParameterError(f"unknown notebook {name}; {nearest(name, pages)}")
    if matching[0] not in pages:
        raise ParameterError(f"{matching[0]} is no page: `gangline lab` opens it")
    return matching[0]
