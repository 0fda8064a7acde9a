"""Whole runs with real kernels: what passes for a report, what does not, and what is left on disk."""

import csv
import json
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gangline.config import Config
from gangline.report.parameters import ParameterError
from gangline.report.runner import LOCK, PageResult, render
from gangline.warehouse import WarehouseError
from gangline.warehouse.locking import holding
from gangline.windows import Window
from tests.report.making import make_cluster, write_notebook

WEEK = Window.week("2025-W41", "Asia/Seoul")
NOW = datetime(2025, 10, 14, 6, tzinfo=UTC)
FIGURE = (
    "from gangline.estimates import Estimate",
    'page.headline([report.Figure("fleet.sessions", Estimate(177.0, "sessions", 177), 160.0, "Sessions")])',
)
Results = dict[str, PageResult]


@pytest.fixture(scope="module")
def rendered(orion: Config, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Results]:
    """One run over notebooks that break in every way beside two that do not."""
    notebooks, out = tmp_path_factory.mktemp("notebooks"), tmp_path_factory.mktemp("reports")
    write_notebook(notebooks, "00_good", *FIGURE, question="What ran?")
    write_notebook(notebooks, "01_raises", "x = 1", "1 / 0", question="Does it break?")
    write_notebook(notebooks, "02_exits", "import sys", "sys.exit(0)")
    write_notebook(notebooks, "03_dies", "import os", "os._exit(137)")
    write_notebook(notebooks, "04_hangs", "import time", "time.sleep(60)")
    write_notebook(notebooks, "05_no_mark", end="pass")
    write_notebook(notebooks, "06_prints", "print('x' * 3_000_000)")
    write_notebook(notebooks, "07_also_good")
    results = render(orion, WEEK, [], {"nodes": "5"}, jobs=2, out=out, cell_limit_s=12, folder=notebooks, now=NOW)
    return out / "orion" / "2025-W41", {result.notebook: result for result in results}


def test_a_good_notebook_leaves_its_page_and_itself(rendered: tuple[Path, Results]) -> None:
    folder, results = rendered
    assert results["00_good"].is_complete
    assert results["00_good"].page == folder / "00_good.html"
    page = (folder / "00_good.html").read_text("utf-8")
    assert "<h1>What ran?</h1>" in page
    assert "<strong>5</strong> nodes stood out." in page
    assert "generated 2025-10-14 06:00 UTC" in page
    assert (folder / "00_good.ipynb").is_file()
    assert not list(folder.glob("00_good.failed*"))


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("01_raises", "ZeroDivisionError: division by zero. The last finished cell is code cell 4 of 6: “x = 1”"),
        ("02_exits", "SystemExit: 0. The last finished cell is code cell 4 of 6: “import sys”"),
        ("03_dies", "The kernel died, as it does when memory runs out (a lower GANGLINE_MEMORY_LIMIT may help). "
                    "The last finished cell is code cell 4 of 6: “import os”"),
        ("04_hangs", "Code cell 5 took longer than its 12 s (--cell-limit): “time.sleep(60)”. "
                     "The last finished cell is code cell 4 of 6: “import time”"),
        ("05_no_mark", "The notebook ran to its end without page.done() in its last cell."),
        ("06_prints", "Code cell 4 leaves 3.0 MB in one output, the limit is 1 MB; show fewer rows."),
    ],
)  # fmt: skip
def test_what_does_not_pass_for_a_report(rendered: tuple[Path, Results], name: str, problem: str) -> None:
    folder, results = rendered
    assert results[name].problem == problem
    assert not results[name].is_complete
    assert not (folder / f"{name}.html").exists()
    assert 'role="alert"' in (folder / f"{name}.failed.html").read_text("utf-8")
    assert (folder / f"{name}.failed.ipynb").is_file()


def test_the_others_are_not_held_up(rendered: tuple[Path, Results]) -> None:
    folder, results = rendered
    assert results["07_also_good"].is_complete
    assert "in the window of code cell" not in results["07_also_good"].sentence()
    assert results["01_raises"].sentence().startswith("01_raises: FAILED: ZeroDivisionError")
    assert results["01_raises"].sentence().count("\n") == 0
    assert len(results) == len(list(folder.glob("0*.html")))


def test_figures_json_holds_the_figures_of_good_pages(rendered: tuple[Path, Results]) -> None:
    folder, _ = rendered
    assert json.loads((folder / "figures.json").read_text("utf-8")) == {
        "schema": 1,
        "cluster": "orion",
        "window": {"start": "2025-10-05T15:00:00+00:00", "end": "2025-10-12T15:00:00+00:00"},
        "figures": [
            {"id": "fleet.sessions", "value": 177.0, "unit": "sessions", "n": 177, "low": None, "high": None,
             "level": None, "method": "", "reason": None, "previous": 160.0}
        ],
    }  # fmt: skip
    rows = list(csv.DictReader((folder / "figures.csv").read_text("utf-8").splitlines()))
    assert [(row["id"], row["value"], row["low"]) for row in rows] == [("fleet.sessions", "177.0", "")]


def test_the_log_tells_the_run(rendered: tuple[Path, Results]) -> None:
    log = (rendered[0] / "run.log").read_text("utf-8")
    assert re.search(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ 00_good: complete \(", log, re.MULTILINE)
    assert "03_dies: FAILED: The kernel died" in log


def test_nothing_else_is_left(rendered: tuple[Path, Results]) -> None:
    folder, _ = rendered
    assert [path.name for path in folder.iterdir() if path.name.startswith(".")] == []


def test_the_window_s_index_marks_what_failed(rendered: tuple[Path, Results]) -> None:
    page = (rendered[0] / "index.html").read_text("utf-8")
    assert '<h2><a href="00_good.html">What ran?</a></h2>' in page
    assert "<h2>Does it break?</h2>" in page
    assert 'href="01_raises.html"' not in page
    assert '<a class="is-failed" href="01_raises.failed.html">Failed</a> in the last run: ZeroDivisionError' in page
    assert "5 nodes stood out." in page


def test_the_cluster_s_index_lists_the_window(rendered: tuple[Path, Results]) -> None:
    page = (rendered[0].parent / "index.html").read_text("utf-8")
    assert '<a href="2025-W41/index.html">2025-W41</a>' in page
    assert '<span class="is-failed">6 failed</span>, 2 complete' in page
    assert '<td class="number"><span class="pair">177</span></td>' in page


def test_an_unknown_parameter_stops_before_anything_runs(orion: Config, tmp_path: Path) -> None:
    write_notebook(tmp_path / "notebooks", "00_good")
    with pytest.raises(ParameterError, match="unknown parameter nods; did you mean nodes"):
        render(orion, WEEK, [], {"nods": "5"}, out=tmp_path / "reports", folder=tmp_path / "notebooks")
    assert not (tmp_path / "reports").exists()


def test_braces_in_folders_are_no_parameters(tmp_path: Path) -> None:
    """Papermill fills braces in a path from the parameters."""
    cluster = make_cluster(tmp_path / "{nodes} {{}} {0}")
    notebooks, out = tmp_path / "{note}books", tmp_path / "{start}"
    write_notebook(notebooks, "00_good", *FIGURE, question="What ran?")
    (result,) = render(cluster, WEEK, [], {"nodes": "5"}, out=out, folder=notebooks, now=NOW)
    assert result.problem == ""
    assert result.page == out / "orion" / "2025-W41" / "00_good.html"
    assert result.page.is_file()


def test_no_notebooks_is_an_empty_index(orion: Config, tmp_path: Path) -> None:
    assert render(orion, WEEK, out=tmp_path / "reports", folder=tmp_path) == []
    assert "No page has been rendered yet" in (tmp_path / "reports/orion/2025-W41/index.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            ["-p", "start", "20251006"],
            "start is text, but arrived as the number 20251006; use -r start 20251006",
        ),
        (
            ["-r", "strat", "2025-10-06"],
            "parameter strat; did you mean start? known: config, end, nodes, start",
        ),
    ],
)
def test_plain_papermill_stops_at_what_it_lets_pass(orion: Config, tmp_path: Path, given: list[str], said: str) -> None:
    """A date that became a number, and a misspelt name, which papermill only logs."""
    notebook = write_notebook(tmp_path, "00_good")
    command = [sys.executable, "-m", "papermill", str(notebook), str(tmp_path / "out.ipynb"), "--no-progress-bar"]
    usual = ["-r", "config", str(orion.path), "-r", "end", "2025-10-13"]
    done = subprocess.run([*command, *usual, *given], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert said in done.stderr


def test_rendering_imports_no_papermill_itself() -> None:
    source = "import sys, gangline.report.runner; print('papermill' in sys.modules, 'altair' in sys.modules)"
    assert (
        subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True).stdout
        == "False False\n"
    )


def test_a_second_run_of_the_same_cluster_is_refused_while_one_renders(orion: Config, tmp_path: Path) -> None:
    notebooks, place = tmp_path / "notebooks", tmp_path / "reports" / "orion"
    notebooks.mkdir()
    place.mkdir(parents=True)
    write_notebook(notebooks, "00_good")
    with holding(place / LOCK, "never said"), pytest.raises(WarehouseError, match="is rendering into it") as refused:
        render(orion, WEEK, out=tmp_path / "reports", folder=notebooks, now=NOW)
    assert refused.value.exit_code == 4
    assert not list(place.glob("*/*.html"))
