"""The finished page, read as text: nothing is fetched, nothing runs but ours, everything is in its place."""

import base64
import gzip
import hashlib
import json
import re
from pathlib import Path

import nbformat
import pytest
import vl_convert
from markupsafe import Markup

from gangline.config import Config
from gangline.report import assets, history
from gangline.report.arrangement import alert
from gangline.report.exporter import LONGEST_TEXT, page
from tests.report.making import code, text
from tests.report.pages import full_notebook
from tests.report.test_sanitiser import harm

SCRIPT = re.compile(r"<script(?P<attributes>[^>]*)>(?P<body>.*?)</script>", re.DOTALL)
FETCHING = re.compile(
    r"(?:src|href|srcset|poster|action|formaction)\s*=\s*[\"']?(?:https?:)?//|url\(\s*[\"']?http|@import"
)


@pytest.fixture(scope="module")
def written(orion: Config, tmp_path_factory: pytest.TempPathFactory) -> str:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(history.FOLDER, str(tmp_path_factory.mktemp("stored")))
        return page(full_notebook(orion), "08_node_exclusions")


def without_scripts(written: str) -> str:
    return SCRIPT.sub("", written)


def test_nothing_is_fetched(written: str) -> None:
    assert not FETCHING.search(re.sub(r"<a [^>]*>", "", without_scripts(written)))


def test_the_check_for_fetching_can_fail() -> None:
    assert FETCHING.search('<img src="//a.example/x">')
    assert FETCHING.search("<style>@import 'x'</style>")


def test_every_script_is_ours_by_its_hash(written: str) -> None:
    scripts = [match["body"] for match in SCRIPT.finditer(written) if 'type="text/plain"' not in match["attributes"]]
    assert len(scripts) == 1
    assert assets.script_hash(scripts[0]) in assets.policy()


def test_the_policy_lets_only_ours_run(written: str) -> None:
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', written)
    assert policy is not None
    assert policy[1].startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe-eval" not in policy[1]
    assert "'unsafe-inline'" not in policy[1].partition("script-src")[2].partition(";")[0]
    assert written.index(policy[0]) < written.index("<style>") < written.index("<script")


def test_the_chart_library_is_packed_once_and_whole(written: str) -> None:
    packed = re.findall(r'<script type="text/plain" id="chart-library">([^<]*)</script>', written)
    assert len(packed) == 1
    source = gzip.decompress(base64.b64decode(packed[0]))
    digest = base64.b64encode(hashlib.sha256(source).digest()).decode()
    assert f"'sha256-{digest}'" in assets.policy()


def test_the_chart_library_is_that_of_the_installed_version() -> None:
    bundle = vl_convert.javascript_bundle(None)  # type: ignore[arg-type]
    message = "make it again: gangline.report.assets.make_library()"
    assert gzip.decompress(assets.LIBRARY.read_bytes()).decode() == bundle, message


def test_a_page_without_charts_does_not_carry_the_library() -> None:
    assert "chart-library" not in page(nbformat.v4.new_notebook(cells=[text("# Why?")]), "x").partition("<script>")[0]


def test_nothing_foreign_is_left(written: str) -> None:
    ours = "section|figure|article|aside|dl|nav|footer|pre"
    foreign = re.sub(
        rf"<({ours})\b.*?</\1>", "", without_scripts(written).partition('<main id="content">')[2], flags=re.S
    )
    plain = re.sub(r' (?:class="(?:scroll|scroll plot|answer|printed|plot|cards|empty)"|id="[\w-]+")', "", foreign)
    assert "Payloads" in plain
    assert harm(plain) == []
    assert "alert(4)" not in written
    assert "(pages show no output of type text/vnd.mermaid)" in written


def test_title_answer_banner_and_contents(written: str) -> None:
    assert "<h1>Which nodes do gang sessions leave out, ?</h1>" in written
    assert written.index('class="banner"') < written.index('class="answer"') < written.index('class="cards"')
    contents = re.findall(r'<li><a href="#([^"]*)">([^<]*)</a></li>', written)
    assert contents == [("payloads", "Payloads"), ("nodes", "Nodes"), ("nodes-2", "Nodes")]
    for anchor, _ in contents:
        assert written.count(f'id="{anchor}"') == 1


def test_the_line_under_the_title(written: str) -> None:
    assert "<span>2025-W41, 2025-10-06 to 2025-10-12 (days of Asia/Seoul)</span>" in written
    assert "<span>times are UTC, in pictures Asia/Seoul</span>" in written


def test_ids_are_unique(written: str) -> None:
    ids = re.findall(r'\sid="([^"]*)"', without_scripts(written))
    assert sorted(set(ids)) == sorted(ids)


def test_the_page_is_small(written: str) -> None:
    assert len(written.encode()) < 2_000_000


def test_an_alert_stands_at_the_top() -> None:
    notebook = nbformat.v4.new_notebook(cells=[text("# Why?"), code("1/0")])
    notebook.cells[1].outputs = [
        nbformat.v4.new_output("error", ename="E", evalue="<script>", traceback=["<script>alert(1)"])
    ]
    broken = page(notebook, "x", alert("E: <script>.", notebook))
    said = '<b>This page is not complete.</b> E: &lt;script&gt;. <a href="#broken">'
    assert f'class="banner is-alert" role="alert">{said}' in broken
    assert 'id="broken">&lt;script&gt;alert(1)' in broken


def test_papermill_s_own_banner_and_the_parameters_are_not_shown() -> None:
    cells = [text("# Why?"), code("secret = 1", "parameters"), code("secret = 2", "injected-parameters")]
    cells.append(text("<span>An Exception was encountered</span>"))
    cells[-1].metadata["tags"] = ["papermill-error-cell-tag"]
    written = page(nbformat.v4.new_notebook(cells=cells), "x")
    assert "secret" not in written
    assert "Exception was encountered" not in written


def test_printed_text_is_cut_and_said() -> None:
    cell = code("print(...)")
    cell.outputs = [nbformat.v4.new_output("stream", name="stdout", text="x" * (LONGEST_TEXT + 5))]
    written = page(nbformat.v4.new_notebook(cells=[cell]), "x")
    assert "… 5 more characters in the executed notebook" in written


def test_the_notebook_stays_as_it_is(orion: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(history.FOLDER, str(tmp_path))
    notebook = full_notebook(orion)
    before = json.dumps(notebook)
    page(notebook, "x")
    assert json.dumps(notebook) == before


def test_two_exports_are_the_same_bytes(orion: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(history.FOLDER, str(tmp_path))
    notebook = full_notebook(orion)
    assert page(notebook, "x") == page(notebook, "x")


def test_a_heading_with_markup_is_named_by_its_text() -> None:
    written = page(nbformat.v4.new_notebook(cells=[text("# Why?\n\n## `gpu` & *co*")]), "x")
    assert '<li><a href="#gpu-co">gpu &amp; co</a></li>' in written
    assert Markup('<h2 id="gpu-co"><code>gpu</code> &amp; <em>co</em></h2>') in written
