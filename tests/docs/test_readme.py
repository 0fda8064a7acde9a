"""The README says what is there: its pages are the notebooks, its commands and links exist."""

import json
import re
import subprocess
import sys

from tests.conftest import ROOT

README = (ROOT / "README.md").read_text()


def _title(name: str) -> str:
    notebook = json.loads((ROOT / "notebooks" / f"{name}.ipynb").read_text())
    return "".join(notebook["cells"][0]["source"]).splitlines()[0].removeprefix("# ")


def test_every_notebook_has_its_question() -> None:
    listed = dict(re.findall(r"^\| (\d\d_\w+) \| (.+?) \|$", README, re.MULTILINE))
    assert listed == {path.stem: _title(path.stem) for path in sorted((ROOT / "notebooks").glob("*.ipynb"))}


def test_every_link_leads_somewhere() -> None:
    targets = re.findall(r"\]\(([^)#]+)\)", README)
    assert [target for target in targets if "://" not in target and not (ROOT / target).exists()] == []


def test_every_command_exists() -> None:
    said = set(re.findall(r"gangline (\w+)", "\n".join(re.findall(r"`{1,3}[^`]+`{1,3}", README))))
    shown = subprocess.run(
        [sys.executable, "-m", "gangline", "--help"], capture_output=True, text=True, check=True
    ).stdout
    known = set(re.findall(r"^  (\w+)  ", shown, re.MULTILINE))
    assert said <= known, said - known
    assert len(known) >= 8


def test_every_make_target_exists() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"\bmake ([a-z]+)", "\n".join(re.findall(r"`{1,3}[^`]+`{1,3}", README)))) <= targets
