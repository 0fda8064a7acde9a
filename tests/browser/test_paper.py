"""A page printed by the real browser."""

import re
import shutil
from pathlib import Path

import pytest

from gangline.report import paper

pytestmark = pytest.mark.browser


def test_a_whole_page_becomes_a_pdf(full_page: Path, tmp_path: Path) -> None:
    browser = paper.find_browser()
    if browser is None:
        pytest.skip("Chromium is not on this machine (Debian: apt install chromium)")
    page = tmp_path / "a week's {page}" / "08_node_exclusions.html"
    page.parent.mkdir()
    shutil.copyfile(full_page, page)
    assert paper.print_page(page, browser) == ""
    written = page.with_suffix(".pdf").read_bytes()
    assert written.startswith(b"%PDF-")
    assert len(re.findall(rb"/Type\s*/Page\b", written)) >= 2
    assert [path.name for path in page.parent.iterdir() if path.suffix not in (".pdf", ".html")] == []
