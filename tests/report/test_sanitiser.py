"""Markup from elsewhere: payloads are gone, tables and headings stay."""

from html.parser import HTMLParser

import pytest

from gangline.report.sanitiser import clean

PAYLOADS = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)><script>alert(1)</script></svg>",
    '<a href="javascript:alert(1)">x</a>',
    '<a href="JaVaScRiPt&colon;alert(1)">x</a>',
    '<a href="\tjava\nscript:alert(1)">x</a>',
    '<a href="data:text/html;base64,PHNjcmlwdD4=">x</a>',
    '<a href="vbscript:x">x</a>',
    '<iframe srcdoc="<script>alert(1)</script>"></iframe>',
    '<object data="x.swf"></object><embed src="x">',
    '<form action="http://a.example"><input><button formaction="javascript:x">x</button></form>',
    '<div style="background:url(http://a.example/x)" onclick="alert(1)" class="banner" id="content">x</div>',
    '<style>@import "http://a.example/x.css"</style>',
    '<link rel="stylesheet" href="http://a.example/x.css"><meta http-equiv="refresh" content="0;url=http://a.example">',
    '<base href="http://a.example/">',
    "<math><mtext><script>alert(1)</script></mtext></math>",
    "<!--<script>--><script>alert(1)</script>",
    '<img src="http://a.example/x.png">',
    '<img src="//a.example/x.png" srcset="//a.example/y.png 2x">',
    '<img src="data:text/html;base64,PHNjcmlwdD4=">',
    "<template><script>alert(1)</script></template>",
    '<p title="a&quot; onmouseover=&quot;alert(1)">x</p>',
    "</main><script>alert(1)",
    '<video src="http://a.example/x" poster="http://a.example/y"></video>',
]
RUNNING = {"script", "style", "iframe", "svg", "object", "embed", "link", "meta", "base", "math", "template", "video"}
BANNED = RUNNING | {"form", "input", "button", "main", "textarea"}
ELSEWHERE = {"srcset", "poster", "style", "class", "id", "action", "formaction", "srcdoc"}


class Harm(HTMLParser):
    """Reads markup as a browser would and notes every tag or attribute that could do something."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in BANNED:
            self.found.append(f"<{tag}>")
        self.found.extend(f"{tag} {name}={value}" for name, value in attrs if self._is_harmful(name, value or ""))

    @staticmethod
    def _is_harmful(name: str, value: str) -> bool:
        scheme = value.strip().lower()
        if name == "src":
            return not scheme.startswith("data:image/")
        if name == "href":
            return not scheme.startswith(("http://", "https://", "mailto:", "#"))
        return name in ELSEWHERE or name.startswith("on")


def harm(markup: str) -> list[str]:
    parser = Harm()
    parser.feed(markup)
    parser.close()
    return parser.found


@pytest.mark.parametrize("payload", PAYLOADS)
def test_payloads_are_gone(payload: str) -> None:
    cleaned = clean(f"<p>before</p>{payload}<p>after</p>")
    assert harm(cleaned) == []
    assert "<p>before</p>" in cleaned


@pytest.mark.parametrize("payload", PAYLOADS)
def test_the_check_itself_can_fail(payload: str) -> None:
    assert harm(payload) or "title=" in payload


def test_headings_tables_and_lists_stay() -> None:
    markup = (
        '<h2>Head</h2><table><caption>c</caption><thead><tr><th scope="col">a</th></tr></thead>'
        '<tbody><tr><td colspan="2">1</td></tr></tbody></table><ul><li><b>x</b> <code>y</code></li></ul>'
    )
    assert clean(markup) == markup


@pytest.mark.parametrize("address", ["https://a.example/x?y=1#z", "#figure-1", "mailto:a@b.example", "08_nodes.html#x"])
def test_links_stay_without_a_way_back(address: str) -> None:
    assert clean(f'<a href="{address}">x</a>') == f'<a href="{address}" rel="noopener noreferrer">x</a>'


def test_embedded_pictures_stay() -> None:
    picture = '<img src="data:image/png;base64,iVBORw0KGgo=" alt="a">'
    assert clean(picture) == picture
