"""Runs that are killed, that meet, and that are wide: nothing is lost, nothing is left."""

import json
import os
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import nbformat

from gangline.config import Config
from gangline.report import outputs
from gangline.report.runner import LOCK, render
from gangline.warehouse.locking import holding
from gangline.windows import Window
from tests.fleets import sample
from tests.report.making import PARAMETERS, code, text, write_notebook

WEEK = Window.week("2025-W41", "Asia/Seoul")
NOW = datetime(2025, 10, 14, 6, tzinfo=UTC)
RENDER = """
from pathlib import Path
from gangline.config import load
from gangline.report.runner import render
from gangline.windows import Window
if __name__ == "__main__":
    week = Window.week("2025-W41", "Asia/Seoul")
    render(load({config!r}), week, ["00_good", "01_slow"], out=Path({out!r}), folder=Path({folder!r}), jobs=1)
"""


def test_a_killed_run_leaves_good_pages_and_can_be_run_again(orion: Config, tmp_path: Path) -> None:
    folder, out = tmp_path / "notebooks", tmp_path / "reports"
    place = out / "orion" / "2025-W41"
    write_notebook(folder, "00_good")
    write_notebook(folder, "01_slow", "import time", "time.sleep(60)")
    program = tmp_path / "render.py"
    program.write_text(RENDER.format(config=str(orion.path), out=str(out), folder=str(folder)), "utf-8")
    running = subprocess.Popen([sys.executable, str(program)])
    wait_for(place / "00_good.html")
    os.kill(running.pid, signal.SIGKILL)
    running.wait()
    written = (place / "00_good.html").read_bytes()
    assert b"</html>" in written[-40:]
    assert list(place.glob(".work-*"))
    write_notebook(folder, "01_slow")
    results = render(orion, WEEK, ["01_slow"], out=out, folder=folder, now=NOW)
    assert [result.problem for result in results] == [""]
    assert list(place.glob(".work-*")) == []
    assert "00_good.html" in (place / "index.html").read_text("utf-8")


def wait_for(path: Path, limit_s: float = 60) -> None:
    """Until a file is there."""
    until = time.monotonic() + limit_s
    while not path.is_file():
        assert time.monotonic() < until, f"{path} was not written"
        time.sleep(0.05)


def test_the_second_of_two_weekly_runs_says_who_is_first_and_exits_with_4(tmp_path: Path) -> None:
    place = tmp_path / "reports" / "sample"
    place.mkdir(parents=True)
    asked = [
        "report",
        "--week",
        "2026-W10",
        "--only",
        "10_weekly",
        "-c",
        str(sample().path),
        "--out",
        str(place.parent),
    ]
    with holding(place / LOCK, "never said"):
        done = subprocess.run([sys.executable, "-m", "gangline", *asked], capture_output=True, text=True, check=False)
    assert done.returncode == 4
    assert done.stderr.count("\n") == 1
    assert f"process {os.getpid()} is rendering into it; wait for it, then try again" in done.stderr
    assert [path.name for path in place.iterdir()] == [LOCK]


def test_24_notebooks_8_at_a_time_lose_no_kernel(orion: Config, tmp_path: Path) -> None:
    """bugs A6. They say where their kernel is and how much memory it may take, and import nothing."""
    names = [f"{number:02d}_wide" for number in range(24)]
    for name in names:
        put_light_notebook(tmp_path / "notebooks" / f"{name}.ipynb")
    results = render(orion, WEEK, names, jobs=8, out=tmp_path / "out", folder=tmp_path / "notebooks", now=NOW)
    assert [result.problem for result in results] == [""] * 24
    told = [json.loads(path.read_text("utf-8")) for path in (tmp_path / "out/orion/2025-W41").glob("*.ipynb")]
    left = [output for notebook in told for cell in notebook["cells"] for output in cell.get("outputs", [])]
    kernels = {"".join(output["text"]) for output in left if "text" in output}
    assert len(kernels) == 24
    limits = {int(kernel.split()[1].removesuffix("MB")) for kernel in kernels}
    assert len(limits) == 1


def put_light_notebook(path: Path) -> None:
    mark = f"from IPython.display import display\ndisplay({{{outputs.DONE!r}: True}}, raw=True)"
    told = 'import os\nprint(os.getpid(), os.environ["GANGLINE_MEMORY_LIMIT"])'
    kernel = {"kernelspec": {"name": "python3", "language": "python", "display_name": "Python 3"}}
    cells = [text("# Wide?"), code(PARAMETERS, "parameters"), code(told), code(mark)]
    path.parent.mkdir(exist_ok=True)
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=kernel), path)
