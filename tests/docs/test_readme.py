"""The README says what is there: its pages are the notebooks, its commands and links exist."""

import json
import re
from pathlib import Path

from gangline.config import load
from gangline.vocabulary import SourceKind
from tests.conftest import ROOT
from tests.docs.commands import calls, problem

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


def test_every_command_would_be_taken() -> None:
    found = calls(ROOT / "README.md")
    assert [problem(call) for call in found if problem(call)] == []
    assert {call.split()[0] for call in found} >= {"report", "postmortem", "lab", "init", "doctor", "describe"}


def test_the_config_of_ten_lines_is_read(tmp_path: Path) -> None:
    (block,) = re.findall(r"^```toml\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
    (tmp_path / "cluster.toml").write_text(block, "utf-8")
    assert load(tmp_path / "cluster.toml").cluster.name == "orion"
    assert len(block.splitlines()) <= 11


def test_every_kind_of_source_has_its_export() -> None:
    assert set(re.findall(r"`(\w+)`", README)) >= {str(kind) for kind in SourceKind}


def test_every_make_target_exists() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"\bmake ([a-z]+)", "\n".join(re.findall(r"`{1,3}[^`]+`{1,3}", README)))) <= targets
