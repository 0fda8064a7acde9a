"""The page for schedulers: its commands, exit codes and notebooks are those that there are."""

import re

from gangline.cli import errors
from tests.conftest import ROOT
from tests.docs.commands import calls, problem

WEEKLY = ROOT / "docs" / "weekly.md"


def test_every_command_would_be_taken() -> None:
    found = calls(WEEKLY)
    assert [problem(call) for call in found if problem(call)] == []
    assert sum(call.startswith("report --week") for call in found) >= 4
    assert any(call.startswith("report --since") for call in found)


def test_a_wrong_command_would_be_seen() -> None:
    assert problem("reprot --week") == "gangline reprot --week: no command reprot"
    assert "No such option" in problem("report --weak -c cluster.toml")


def test_every_exit_code_is_told() -> None:
    told = {int(code) for code in re.findall(r"^\| (\d) \|", WEEKLY.read_text("utf-8"), re.MULTILINE)}
    assert told == {errors.DONE, errors.FAILED, errors.USAGE, errors.REFUSED, errors.LOCKED}


def test_every_page_that_it_names_exists() -> None:
    named = set(re.findall(r"\b\d\d_[a-z_]+", WEEKLY.read_text("utf-8")))
    assert named
    assert [name for name in named if not (ROOT / "notebooks" / f"{name}.ipynb").is_file()] == []
