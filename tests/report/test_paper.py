"""Printing: what the browser is told, and what is said where there is none or it fails."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from gangline.cli.options import browser_for
from gangline.report import paper
from gangline.report.publishing import Publisher
from gangline.report.runner import PageResult, printed

WRITES = """for argument; do case $argument in --print-to-pdf=*) echo %PDF > "${argument#*=}";; esac; done"""


def browser(folder: Path, script: str) -> Path:
    path = folder / "a browser"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def page(folder: Path) -> Path:
    path = folder / "10_weekly.html"
    path.write_text("<!DOCTYPE html><title>week</title>")
    return path


def test_a_page_is_printed_beside_itself(tmp_path: Path) -> None:
    said = browser(tmp_path, f'printf "%s\\n" "$@" > "{tmp_path}/said"\n{WRITES}')
    assert paper.print_page(page(tmp_path), said) == ""
    assert (tmp_path / "10_weekly.pdf").read_text() == "%PDF\n"
    told = (tmp_path / "said").read_text().splitlines()
    assert "--host-resolver-rules=MAP * ~NOTFOUND" in told
    assert told[-1] == page(tmp_path).as_uri()
    assert not list(tmp_path.glob("*.printing*"))


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("echo noise >&2; echo no display >&2; exit 3", "exit code 3: no display"),
        ("exit 0", "it wrote nothing"),
        ("exit 1", "exit code 1: it says no more"),
        (f"{WRITES}; exit 9", "exit code 9: it says no more"),
        ("sleep 30", "it took longer than 1 s"),
    ],
)
def test_what_goes_wrong_is_one_line_and_an_old_pdf_stays(tmp_path: Path, script: str, said: str) -> None:
    (tmp_path / "10_weekly.pdf").write_text("old")
    failing = browser(tmp_path, script)
    assert paper.print_page(page(tmp_path), failing, 1) == f"10_weekly.pdf was not printed by {failing}: {said}"
    assert (tmp_path / "10_weekly.pdf").read_text() == "old"
    assert not list(tmp_path.glob("*.printing*"))


def test_a_browser_that_cannot_be_started_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("")
    assert "Permission denied" in paper.print_page(page(tmp_path), tmp_path / "text")


def test_none_on_the_machine_is_one_line_and_no_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv(paper.BROWSER_KEY, raising=False)
    assert browser_for(is_pdf=True) is None
    assert capsys.readouterr().err == f"gangline: {paper.NO_BROWSER}\n"
    assert browser_for(is_pdf=False) is None
    assert capsys.readouterr().err == ""
    monkeypatch.setenv(paper.BROWSER_KEY, str(browser(tmp_path, WRITES)))
    assert browser_for(is_pdf=True) == tmp_path / "a browser"


def test_a_page_that_failed_is_not_printed_and_a_failed_print_is_told(tmp_path: Path) -> None:
    publisher = Publisher(tmp_path, datetime(2025, 10, 14, tzinfo=UTC))
    failing = browser(tmp_path, "exit 7")
    failed = PageResult("00_x", page(tmp_path), "It broke.", 1.0)
    assert printed(failed, failing, publisher) is failed
    whole = PageResult("10_weekly", page(tmp_path), "", 1.0)
    assert printed(whole, None, publisher) is whole
    told = printed(whole, failing, publisher)
    assert told.is_complete
    assert told.sentence().endswith("exit code 7: it says no more")
    assert "exit code 7" in (tmp_path / "run.log").read_text()


def test_a_page_rendered_again_takes_its_old_pdf_away(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (tmp_path / "10_weekly.pdf").write_text("of last time")
    (work / "page.html").write_text("new")
    Publisher(tmp_path, datetime(2025, 10, 14, tzinfo=UTC)).publish("10_weekly", work, "")
    assert not (tmp_path / "10_weekly.pdf").exists()
