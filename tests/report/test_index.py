"""Files of a window's folder and the indexes over them, without a kernel."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import nbformat

from gangline.estimates import Estimate
from gangline.report import Figure, index, outputs
from gangline.report.publishing import Publisher, publish_figures, write_whole
from gangline.windows import Window
from tests.report.making import code, text

WEEK = Window.week("2025-W41", "Asia/Seoul")
NOW = datetime(2025, 10, 14, 6, tzinfo=UTC)
FIRST = NOW.replace(day=13)


def put(folder: Path, problem: str, value: float, at: datetime = NOW, banner: str = "") -> None:
    """Publish a page as a run would, with one figure."""
    publisher = Publisher(folder, at)
    bundles: list[dict[str, Any]] = [
        {outputs.PAGE: {"window": "2025-W41", "generated_at": at.isoformat()}},
        {outputs.FIGURES: {"figures": [Figure("fleet.sessions", Estimate(value, "sessions", 177)).row()]}},
    ]
    bundles += [{outputs.BANNER: {"text": banner}}] if banner else []
    cell, answer = code("x"), code("page.answer(...)", "answer")
    cell.outputs = [nbformat.v4.new_output("display_data", data=bundle) for bundle in bundles]
    answer.outputs = [nbformat.v4.new_output("display_data", data={"text/plain": f"<{value}> sessions ran."})]
    notebook = nbformat.v4.new_notebook(cells=[text("# What <ran>?"), cell, answer])
    notebook.metadata["gangline"] = {"problem": problem}
    with publisher.work_folder() as work:
        nbformat.write(notebook, work / "page.ipynb")
        (work / "page.html").write_text(f"page {value}", "utf-8")
        publisher.publish("00_good", work, problem)
    publish_figures(folder, "orion", WEEK)


def window_page(folder: Path) -> str:
    window = index.read_window(folder)
    assert window is not None
    return index.window_page(window, "orion", NOW)


def test_a_failed_page_never_replaces_a_good_one(tmp_path: Path) -> None:
    put(tmp_path, "", 1.0, FIRST)
    put(tmp_path, "It <broke>.", 2.0)
    assert (tmp_path / "00_good.html").read_text("utf-8") == "page 1.0"
    assert (tmp_path / "00_good.failed.html").read_text("utf-8") == "page 2.0"
    assert json.loads((tmp_path / "figures.json").read_text("utf-8"))["figures"][0]["value"] == 1.0
    page = window_page(tmp_path)
    assert '<h2><a href="00_good.html">What &lt;ran&gt;?</a></h2>' in page
    assert 'href="00_good.failed.html">Failed</a> in the last run: It &lt;broke&gt;.' in page
    assert "The page of 2025-10-13 06:00 UTC still stands." in page
    assert "&lt;1.0&gt; sessions ran." in page


def test_a_good_page_takes_the_failed_one_away(tmp_path: Path) -> None:
    put(tmp_path, "It broke.", 1.0)
    assert "still stands" not in window_page(tmp_path)
    put(tmp_path, "", 2.0)
    assert sorted(path.name for path in tmp_path.glob("00_*")) == ["00_good.html", "00_good.ipynb"]


def test_a_page_that_broke_before_it_was_written_is_still_a_page(tmp_path: Path) -> None:
    publisher = Publisher(tmp_path, NOW)
    with publisher.work_folder() as work:
        page = publisher.publish("00_good", work, "The process that ran it ended with code -9.")
    assert page.name == "00_good.failed.html"
    publish_figures(tmp_path, "orion", WEEK)
    assert "00_good" in window_page(tmp_path)


def test_a_warning_of_every_page_stands_on_the_index(tmp_path: Path) -> None:
    put(tmp_path, "", 1.0, banner="<b>Simulated data</b>")
    assert '<p class="banner" role="note"><b>Simulated data</b></p>' in window_page(tmp_path)


def test_work_of_a_run_that_was_killed_is_removed(tmp_path: Path) -> None:
    (tmp_path / ".work-999999999-x").mkdir(parents=True)
    with Publisher(tmp_path, NOW).work_folder() as work:
        assert [path.name for path in tmp_path.iterdir()] == [work.name]


def test_files_are_replaced_whole(tmp_path: Path) -> None:
    write_whole(tmp_path / "a.json", "one")
    write_whole(tmp_path / "a.json", "two")
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]
    assert (tmp_path / "a.json").stat().st_mode & 0o777 == 0o644


def test_windows_are_listed_newest_first(tmp_path: Path) -> None:
    for folder, start, end in (
        ("2025-W40", "2025-09-28T15:00:00+00:00", "2025-10-05T15:00:00+00:00"),
        ("2025-W41", "2025-10-05T15:00:00+00:00", "2025-10-12T15:00:00+00:00"),
        ("2025-09-01_2025-11-13", "2025-09-01T00:00:00+00:00", "2025-11-12T00:00:00+00:00"),
    ):
        (tmp_path / folder).mkdir()
        figures = [{"id": "fleet.sessions", "value": 5.0, "unit": "sessions"}]
        content = {"schema": 1, "window": {"start": start, "end": end}, "figures": figures}
        (tmp_path / folder / "figures.json").write_text(json.dumps(content), "utf-8")
    page = index.cluster_page(index.read_windows(tmp_path), "orion", NOW)
    assert re.findall(r'href="([^"]*)/index.html"', page) == ["2025-09-01_2025-11-13", "2025-W41", "2025-W40"]
    assert page.count("<polyline") == 1


def test_what_every_page_warns_of_stands_on_the_cluster_s_index(tmp_path: Path) -> None:
    put(tmp_path / "2025-W41", "", 1.0, banner="<b>Simulated data</b>")
    said = '<p class="banner" role="note"><b>Simulated data</b></p>'
    assert index.cluster_page(index.read_windows(tmp_path), "orion", NOW).count(said) == 1
    put(tmp_path / "2025-W42", "", 1.0)
    assert said not in index.cluster_page(index.read_windows(tmp_path), "orion", NOW)


def test_the_cluster_s_index_leads_to_its_postmortems(tmp_path: Path) -> None:
    put(tmp_path / "2025-W41", "", 1.0)
    index.write(tmp_path, "2025-W41", "orion", NOW)
    assert "postmortems/index.html" not in (tmp_path / "index.html").read_text("utf-8")
    put(tmp_path / index.POSTMORTEMS / "2025-10-08T0310_n1", "", 1.0)
    index.write(tmp_path / index.POSTMORTEMS, "2025-10-08T0310_n1", "orion: postmortems", NOW)
    index.write_cluster(tmp_path, "orion", NOW)
    assert '<a href="postmortems/index.html">Postmortems</a>' in (tmp_path / "index.html").read_text("utf-8")


def test_a_week_has_its_days_and_a_printed_page_its_pdf(tmp_path: Path) -> None:
    put(tmp_path / "2025-W41", "", 1.0)
    path = tmp_path / "2025-W41" / "00_good.ipynb"
    path.write_text(path.read_text("utf-8").replace('"window": "2025-W41"', '"window": "2025-W41", "days": "<days>"'))
    (tmp_path / "2025-W41" / "00_good.pdf").write_bytes(b"%PDF-")
    index.write(tmp_path, "2025-W41", "orion", NOW)
    page = (tmp_path / "index.html").read_text("utf-8")
    assert '2025-W41</a><span class="days">&lt;days&gt;</span>' in page
    window = (tmp_path / "2025-W41" / "index.html").read_text("utf-8")
    assert '<a href="00_good.pdf" aria-label="What &lt;ran&gt;? as PDF">PDF</a>' in window
