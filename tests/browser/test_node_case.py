"""Page 09 in a browser: nothing is asked for, it fits a phone, and those who cannot see it are told all of it.

Where GANGLINE_AXE names axe-core's script (`npm install axe-core` somewhere), the page is held to its rules as well.
"""

import os
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from gangline.report import history
from gangline.report.exporter import page
from tests import failing
from tests.browser.conftest import Visit
from tests.browser.test_pages import LOADED, NO_OVERFLOW, outside
from tests.test_notebook_runs import run

pytestmark = pytest.mark.browser
Open = Callable[..., Visit]
NAME = "09_node_cases"
CASES = {"found": {}, "as_its_peers": {"node": "n03", "at": "2026-03-01T00:59"}}
LEVELS = "() => [...document.querySelectorAll('h1,h2,h3,h4,h5,h6')].map(head => Number(head.tagName[1]))"
IDS = "() => [...document.querySelectorAll('[id]')].map(each => each.id)"
UNNAMED = """() => [...document.querySelectorAll('img,button,a,table,[tabindex]')].filter(each => !(each.alt
  || each.textContent.trim() || each.getAttribute('aria-label') || each.caption)).map(each => each.outerHTML)"""
VIOLATIONS = """async () => (await axe.run(document)).violations.map(
  each => `${each.id}: ${each.help}: ${each.nodes[0].html.slice(0, 200)}`)"""


@pytest.fixture(scope="module", params=CASES)
def case(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cases")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(history.FOLDER, str(folder))
        notebook, _ = run(NAME, failing.lepus(), **CASES[request.param])
    path = folder / f"{NAME}.html"
    path.write_text(page(notebook, NAME), "utf-8")
    return path


@pytest.mark.parametrize("width", [1280, 420])
def test_it_fits_and_asks_for_nothing(visit: Open, case: Path, width: int) -> None:
    visited = visit(case, viewport={"width": width, "height": 900})
    visited.page.wait_for_function(LOADED)
    assert visited.page.evaluate(NO_OVERFLOW)
    assert (outside(visited), visited.messages, visited.dialogs) == ([], [], [])


def test_what_is_drawn_on_demand_has_names_too(visit: Open, case: Path) -> None:
    shown = visit(case).page
    shown.locator("button.interactive").first.click()
    drawn = shown.locator("figure").first.locator(".vega-embed svg.marks")
    drawn.wait_for(timeout=20_000)
    assert drawn.get_attribute("aria-label") == shown.locator("figure img").first.get_attribute("alt")
    assert shown.locator(".vega-embed summary").first.get_attribute("aria-label") == "Save the picture"
    assert shown.locator('.vega-embed [role^="graphics-"]:not([aria-label])').count() == 0
    shown.locator("label[for=show-code]").click()
    assert shown.locator("pre.code:not([tabindex='0'])").count() == 0


def test_every_part_can_be_found_and_has_a_name(visit: Open, case: Path) -> None:
    shown = visit(case).page
    levels, ids = shown.evaluate(LEVELS), shown.evaluate(IDS)
    assert levels[0] == 1
    assert all(below - above <= 1 for above, below in pairwise(levels))
    assert len(ids) == len(set(ids))
    assert shown.evaluate(UNNAMED) == []


@pytest.mark.parametrize("width", [1280, 420])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_has_nothing_to_say(visit: Open, case: Path, scheme: str, width: int) -> None:
    script = os.environ.get("GANGLINE_AXE")
    if not script:
        pytest.skip("GANGLINE_AXE names no axe-core script")
    shown = visit(case, color_scheme=scheme, viewport={"width": width, "height": 900}, bypass_csp=True).page
    shown.locator("label[for=show-code]").click()
    for button in shown.locator("button.interactive").all():
        button.click()
        button.locator("xpath=ancestor::figure").locator(".vega-embed svg.marks").wait_for(timeout=20_000)
    shown.add_script_tag(path=script)
    assert shown.evaluate(VIOLATIONS) == []
