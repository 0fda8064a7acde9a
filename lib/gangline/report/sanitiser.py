"""Cleaning of markup that did not come from this package: markdown cells and HTML that a notebook displayed."""

import re

import nh3

TAG_NAMES = (
    "a abbr b blockquote br caption code col colgroup dd del details div dl dt em figcaption figure h1 h2 h3 h4 h5 h6 "
    "hr i img ins kbd li mark ol p pre q s samp small span strong sub summary sup table tbody td tfoot th thead tr u "
    "ul var"
)
TAGS = set(TAG_NAMES.split())
ATTRIBUTES = {
    "*": {"title", "lang", "dir"},
    "a": {"href"},
    "img": {"src", "alt", "width", "height"},
    "td": {"colspan", "rowspan"},
    "th": {"colspan", "rowspan", "scope"},
    "ol": {"start"},
    "col": {"span"},
}
DROPPED_WITH_CONTENT = {
    "script",
    "style",
    "noscript",
    "template",
    "iframe",
    "object",
    "svg",
    "math",
    "textarea",
    "title",
}
SCHEMES = {"http", "https", "mailto", "data"}
PICTURE = re.compile(r"data:image/(?:png|jpeg|gif|svg\+xml);base64,[A-Za-z0-9+/=\s]*")
EMPTY_PICTURE = re.compile(r'<img(?:\s+(?!src=)[\w-]+="[^"]*")*>')
ADDRESS = re.compile(r"(?:https?://|mailto:|#)\S*|[\w.-]+\.html(?:#\S*)?", re.IGNORECASE)


def clean(html: str) -> str:
    """Keep text, tables, lists, headings, links and embedded pictures; drop everything else.

    Pictures must be `data:` images, which run nothing inside an `<img>`; links must go to http, https, mailto, a place
    on the page or a page beside it. Ids and classes go, so nothing can pose as a part of the page.

    Examples
    --------
    >>> clean('<b onclick="x()">gpu</b><script>alert(1)</script><img src="http://a.example/x.png">')
    '<b>gpu</b>'
    """
    kept = nh3.clean(
        html,
        tags=TAGS,
        clean_content_tags=DROPPED_WITH_CONTENT,
        attributes=ATTRIBUTES,
        attribute_filter=_kept,
        url_schemes=SCHEMES,
        link_rel="noopener noreferrer",
    )
    return EMPTY_PICTURE.sub("", kept)


def _kept(tag: str, name: str, value: str) -> str | None:
    wanted = {("img", "src"): PICTURE, ("a", "href"): ADDRESS}.get((tag, name))
    return value if wanted is None or wanted.fullmatch(value) else None
