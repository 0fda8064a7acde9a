"""docs/figures.md lists every figure of the catalogue, and nothing else."""

import re

from gangline.report.catalogue import CATALOGUE
from tests.conftest import ROOT

ROW = re.compile(r"^\| `([a-z0-9_.]+)` \| (.+?) \| (.+?) \|$", re.MULTILINE)


def test_the_page_lists_the_catalogue() -> None:
    listed = {
        name: (label, meaning) for name, label, meaning in ROW.findall((ROOT / "docs" / "figures.md").read_text())
    }
    assert listed == {name: (entry.label, entry.definition) for name, entry in CATALOGUE.items()}, (
        "run: .venv/bin/python -m tests.docs.figures"
    )
