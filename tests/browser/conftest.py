"""A browser without a network, and a page that holds everything."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from gangline.report import history
from gangline.report.exporter import page
from tests.report.making import make_cluster
from tests.report.pages import full_notebook

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or "/usr/bin/chromium"
NO_NETWORK = "--host-resolver-rules=MAP * ~NOTFOUND"


@dataclass
class Visit:
    """An open page with all that went wrong or out since it was opened."""

    page: Any
    requests: list[str] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    if not Path(CHROMIUM).is_file():
        pytest.skip("Chromium is not on this machine (Debian: apt install chromium)")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", NO_NETWORK]
        )
        yield running
        running.close()


@pytest.fixture(scope="session")
def full_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with every part, hostile names everywhere."""
    folder = tmp_path_factory.mktemp("pages")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(history.FOLDER, str(folder))
        written = page(full_notebook(make_cluster(folder / "orion")), "08_node_exclusions")
    path = folder / "08_node_exclusions.html"
    path.write_text(written, "utf-8")
    return path


@pytest.fixture
def visit(browser: Any, full_page: Path) -> Iterator[Any]:
    """Opens the page with options of a browser context."""
    contexts = []

    def open_with(path: Path = full_page, **options: Any) -> Visit:
        context = browser.new_context(**({"viewport": {"width": 1280, "height": 900}} | options))
        contexts.append(context)
        visited = Visit(context.new_page())
        visited.page.on("request", lambda request: visited.requests.append(request.url))
        visited.page.on("console", lambda message: visited.messages.append(message.text))
        visited.page.on("pageerror", lambda error: visited.messages.append(str(error)))
        visited.page.on("dialog", lambda dialog: (visited.dialogs.append(dialog.message), dialog.dismiss()))
        visited.page.goto(path.as_uri())
        return visited

    yield open_with
    for context in contexts:
        context.close()
