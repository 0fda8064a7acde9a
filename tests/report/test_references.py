"""Parameters that name something in the warehouse are held to what is there, before any page is made."""

import re
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from gangline import warehouse
from gangline.config import Config
from gangline.postmortem import SubjectError
from gangline.report import ParameterError
from gangline.report.notebooks import FOLDER, known_parameters
from gangline.report.references import CHECKS, refuse_unknown
from gangline.roles import RoleError
from gangline.windows import Window
from tests import failing, fleets, running, saving

DAY = Window.between("2026-03-01", "2026-03-02", "UTC")
NEXT_DAY = Window.between("2026-03-02", "2026-03-03", "UTC")
NAMELESS = {"config", "start", "end"}


@pytest.fixture(scope="module")
def norma(tmp_path_factory: pytest.TempPathFactory) -> Config:
    return saving.cluster(tmp_path_factory.mktemp("norma"), saving.lines())


@pytest.fixture(scope="module")
def con(norma: Config) -> Iterator[duckdb.DuckDBPyConnection]:
    with warehouse.connect(norma) as opened:
        yield opened


@pytest.mark.parametrize(
    ("window", "notebook", "given", "said"),
    [
        (DAY, "06_checkpoints", {"save": "save:g1:9"}, "parameter save: no save 'save:g1:9' starts in the window; the"),
        (NEXT_DAY, "06_checkpoints", {"save": "save:g1:2"}, "no save of the window is seen in the telemetry"),
        (
            DAY,
            "03_telemetry",
            {"nodes": "n[2-4]"},
            "gpu_util in 2026-03-01 are of 'n4'; did you mean n3? known: n1, n2, n3",
        ),
        (DAY, "03_telemetry", {"layers_of": "n7"}, "parameter layers_of: no samples of gpu_util in 2026-03-01 are of"),
        (DAY, "03_telemetry", {"nodes": "n[1-"}, "parameter nodes: not a host list"),
        (DAY, "03_telemetry", {"role": "gpu_power", "nodes": "m1"}, "did you mean n1? known: n1, n2, n3"),
        (NEXT_DAY, "03_telemetry", {"nodes": "m1"}, "did you mean n1? known: n1, n2, n3"),
    ],
)
def test_what_names_nothing_is_told_with_what_there_is(
    con: duckdb.DuckDBPyConnection, norma: Config, window: Window, notebook: str, given: dict[str, str], said: str
) -> None:
    with pytest.raises(ParameterError, match=re.escape(said)):
        refuse_unknown(con, norma, window, {Path(f"{notebook}.ipynb"): given})


def test_a_role_that_is_none_is_told(con: duckdb.DuckDBPyConnection, norma: Config) -> None:
    for role in ("gpu_utill", ""):
        with pytest.raises(RoleError, match=f"^{role} is no role"):
            refuse_unknown(con, norma, DAY, {Path("03_telemetry.ipynb"): {"role": role}})


def test_what_is_there_passes(con: duckdb.DuckDBPyConnection, norma: Config) -> None:
    given = {
        "06_checkpoints": {"save": "save:g1:2"},
        "03_telemetry": {"role": "gpu_util", "nodes": "n[1-3]", "layers_of": "n2"},
        "09_node_cases": {"node": "n1", "at": "2026-03-01T00:30", "before_h": 0.0},
        "11_postmortem": {"session": "g1", "node": ""},
        "02_runs": {"loss": ""},
        "04_incidents": {},
    }
    refuse_unknown(con, norma, DAY, {Path(f"{name}.ipynb"): values for name, values in given.items()})


def test_a_metric_is_wrong_only_where_no_run_ever_logged_it() -> None:
    """A run of many weeks may name the metric of some of them."""
    with running.cluster_with_runs() as con:
        refuse_unknown(con, fleets.sample(), NEXT_DAY, {Path("02_runs.ipynb"): {"loss": "train/loss"}})
        said = "parameter step_time: no run logs 'loss'; did you mean train/loss? known: train/loss"
        with pytest.raises(ParameterError, match=f"^{re.escape(said)}$"):
            refuse_unknown(con, fleets.sample(), DAY, {Path("02_runs.ipynb"): {"loss": "", "step_time": "loss"}})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"session": "train9"}, "no started session train9"),
        ({"incident": "inc:n9"}, "no incident inc:n9"),
        ({"session": "a", "incident": "inc:n2"}, "name one thing"),
        ({"node": "n2"}, "--node and --at go together"),
    ],
)
def test_a_postmortem_of_nothing_is_told(given: dict[str, str], said: str) -> None:
    with warehouse.connect(failing.lepus()) as con, pytest.raises(SubjectError, match=said):
        refuse_unknown(con, failing.lepus(), DAY, {Path("11_postmortem.ipynb"): given})


def test_every_notebook_whose_parameters_name_something_is_held() -> None:
    naming = {path.stem for path in FOLDER.glob("[0-9]*.ipynb") if set(known_parameters(path)) - NAMELESS}
    assert naming == set(CHECKS)
