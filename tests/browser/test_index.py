"""The index pages in a browser that has no network."""

from collections.abc import Callable
from pathlib import Path

import pytest

from gangline.report import index
from tests.browser.conftest import Visit
from tests.browser.test_pages import NO_OVERFLOW, outside
from tests.report.test_index import NOW, put

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("width", [1280, 420])
def test_indexes_lead_to_the_pages_without_a_request(visit: Callable[..., Visit], tmp_path: Path, width: int) -> None:
    put(tmp_path / "2025-W40", "", 1.0)
    put(tmp_path / "2025-W41", "It <broke>.", 2.0, banner="<b>Simulated data</b>")
    put(tmp_path / "2025-W41", "", 3.0)
    for folder in ("2025-W40", "2025-W41"):
        index.write(tmp_path, folder, "<b>orion</b>", NOW)
    visited = visit(tmp_path / "index.html", viewport={"width": width, "height": 800})
    assert visited.page.locator("h1").inner_text() == "Reports of <b>orion</b>"
    assert visited.page.evaluate(NO_OVERFLOW)
    visited.page.locator('a[href^="2025-W41"]').click()
    visited.page.locator("h1", has_text="2025-W41").wait_for()
    assert visited.page.evaluate(NO_OVERFLOW)
    assert visited.page.locator("li h2").inner_text() == "What <ran>?"
    visited.page.locator("li h2 a").click()
    visited.page.get_by_text("page 3.0").wait_for()
    assert outside(visited) == []
    assert [message for message in visited.messages if "2025-W" in message] == []
