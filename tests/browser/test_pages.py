"""Pages in a browser that has no network."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import Visit
from tests.report.making import HOSTILE

pytestmark = pytest.mark.browser
Open = Callable[..., Visit]
LOADED = "() => [...document.images].every(image => image.complete && image.naturalWidth > 0)"
NO_OVERFLOW = "() => document.documentElement.scrollWidth <= document.documentElement.clientWidth"
PAPER = "() => getComputedStyle(document.body).backgroundColor"


def outside(visited: Visit) -> list[str]:
    return [url for url in visited.requests if not url.startswith(("data:", "blob:", "file:"))]


def test_nothing_is_asked_for_and_nothing_is_wrong(visit: Open, full_page: Path) -> None:
    visited = visit()
    visited.page.wait_for_function(LOADED)
    assert visited.page.evaluate("() => document.images.length") > 2
    assert outside(visited) == []
    assert [url for url in visited.requests if url.startswith("file:")] == [full_page.as_uri()]
    assert visited.messages == []
    assert visited.dialogs == []


def test_hostile_names_are_text_that_can_be_read(visit: Open) -> None:
    page = visit().page
    cells = page.locator("section.table").first.locator("tbody th")
    shown = cells.all_inner_texts()
    assert shown[0] == "<script>alert(1)</script>"
    assert shown[2] == "two↵lines"
    assert shown[6] == "x" * 43 + "…"
    assert shown[8] == "\\u{202e}gnp.exe"
    assert cells.nth(4).inner_text() == HOSTILE[4]
    assert page.evaluate("() => document.scripts.length") == 2


@pytest.mark.parametrize("width", [1280, 420])
def test_no_horizontal_scroll(visit: Open, width: int) -> None:
    page = visit(viewport={"width": width, "height": 900}).page
    page.wait_for_function(LOADED)
    assert page.evaluate(NO_OVERFLOW)


def test_contents_stick_at_the_side_and_stand_above_on_a_phone(visit: Open) -> None:
    wide = visit().page.locator(".toc")
    assert wide.evaluate("e => getComputedStyle(e).position") == "sticky"
    narrow = visit(viewport={"width": 420, "height": 900}).page
    assert narrow.locator(".toc").bounding_box()["y"] < narrow.locator(".answer").bounding_box()["y"]


def test_dark_follows_the_machine_and_the_button(visit: Open) -> None:
    light, dark = visit(color_scheme="light").page, visit(color_scheme="dark").page
    assert light.evaluate(PAPER) == "rgb(255, 255, 255)"
    assert dark.evaluate(PAPER) == "rgb(15, 21, 32)"
    dark.click("button.theme")
    assert dark.evaluate(PAPER) == "rgb(255, 255, 255)"
    assert dark.locator(".plot img").first.evaluate("e => getComputedStyle(e).colorScheme") == "light"
    light.click("button.theme")
    assert light.evaluate(PAPER) == "rgb(15, 21, 32)"
    light.reload()
    assert light.evaluate(PAPER) == "rgb(15, 21, 32)"


def test_interactive_draws_every_chart_without_a_message(visit: Open) -> None:
    visited = visit()
    page = visited.page
    buttons = page.locator("button.interactive")
    assert buttons.count() == 2
    for position in range(2):
        buttons.nth(position).click()
        page.locator("figure").nth(position).locator(".vega-embed svg.marks").wait_for(timeout=20_000)
        page.locator("figure").nth(position).locator("img").first.wait_for(state="hidden")
    assert visited.messages == []
    assert outside(visited) == []
    buttons.first.click()
    assert page.locator("figure").first.locator("img").is_visible()
    assert buttons.first.inner_text() == "Interactive"


def test_tooltips_show_hostile_names_as_text(visit: Open) -> None:
    visited = visit()
    visited.page.locator("button.interactive").first.click()
    bars = visited.page.locator("figure").first.locator(".vega-embed svg .mark-rect path")
    bars.first.wait_for(timeout=20_000)
    for position in range(len(HOSTILE)):
        visited.page.mouse.move(0, 0)
        bars.nth(position).hover(force=True)
        visited.page.locator("#vg-tooltip-element.visible").wait_for(timeout=5_000)
    assert visited.dialogs == []
    assert visited.messages == []


@pytest.mark.parametrize(
    ("caption", "name", "first"),
    [
        ("Nodes", "08_node_exclusions-nodes.csv", "node,excluded_h\n<script>alert(1)</script>,1.0\n"),
        ("Many rows", "08_node_exclusions-many-rows.csv", "step,at\n0,2025-10-05T15:00:00Z\n"),
    ],
)
def test_csv_downloads(visit: Open, caption: str, name: str, first: str) -> None:
    visited = visit()
    section = visited.page.locator("section.table", has=visited.page.get_by_text(caption, exact=False)).first
    with visited.page.expect_download() as told:
        section.locator("a.button").click()
    assert told.value.suggested_filename == name
    assert Path(told.value.path()).read_text("utf-8").startswith(first)
    assert visited.messages == []


def test_without_scripts_everything_still_shows(visit: Open) -> None:
    page = visit(java_script_enabled=False).page
    assert page.locator(".plot img").first.is_visible()
    assert page.locator("button.interactive").first.is_hidden()
    assert page.locator("button.theme").is_hidden()
    assert page.locator("section.table a.button").first.is_visible()
    page.locator("label[for=show-code]").click()
    assert page.locator("pre.code").first.is_visible()


def test_code_is_hidden_until_it_is_asked_for(visit: Open) -> None:
    page = visit().page
    assert page.locator("pre.code").first.is_hidden()
    page.locator("label[for=show-code]").click()
    assert page.locator("pre.code").first.is_visible()


def test_print_leaves_out_what_paper_cannot_do(visit: Open) -> None:
    page = visit(color_scheme="dark").page
    page.emulate_media(media="print")
    assert page.locator(".toc").is_hidden()
    assert page.locator("a.button").first.is_hidden()
    assert page.evaluate(PAPER) == "rgb(255, 255, 255)"


def test_scripts_of_others_do_not_run_even_uncleaned(visit: Open, full_page: Path, tmp_path: Path) -> None:
    """The policy alone holds, were the cleaning to fail."""
    payload = "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
    broken = tmp_path / "broken.html"
    broken.write_text(
        full_page.read_text("utf-8").replace('<main id="content">', f'<main id="content">{payload}'), "utf-8"
    )
    visited = visit(broken)
    visited.page.wait_for_timeout(200)
    assert visited.page.title() != "owned"
    assert any("Content Security Policy" in message for message in visited.messages)


def test_every_part_has_a_name_for_those_who_cannot_see_it(visit: Open) -> None:
    page: Any = visit().page
    assert page.evaluate("() => [...document.images].every(image => image.alt.length > 0)")
    assert page.evaluate("() => [...document.querySelectorAll('table')].every(table => table.caption || table.rows)")
    assert page.evaluate("() => [...document.querySelectorAll('section.table th')].every(head => head.scope)")
