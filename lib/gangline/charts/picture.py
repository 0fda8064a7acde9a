"""Charts as static pictures: SVG that follows the page's light or dark, safe inside an `<img>`."""

import base64
import json
import re
from typing import Any

import altair as alt
import vl_convert

from gangline.charts.labels import legible, unused

GEOMETRY = re.compile(r' (?:d|transform|x[12]?|y[12]?|width|height)="[^"]*"')
LONG_DIGITS = re.compile(r"-?\d+\.\d{3,}(?:e-?\d+)?")
UNSEEN = re.compile(r'<(?:path|rect|line) [^<>]*?\bopacity="0"[^<>]*/>')
MOST_COLUMNS = 40
DARK = (
    "<style>@media (prefers-color-scheme:dark){"
    "text{fill:#cbd5e1!important}"
    ".role-axis-grid path,.role-axis-grid line{stroke:#2b3648!important}"
    ".role-axis-domain line,.role-axis-tick line{stroke:#566377!important}"
    "}</style>"
)


def svg(chart: alt.TopLevelMixin) -> str:
    """Draw a chart as SVG text: rounded to a hundredth of a pixel, invisible marks left out, a style for dark pages.

    Raises
    ------
    altair.MaxRowsError
        Above 5,000 rows: reduce them first (`gangline.charts.reduction`), a picture has fewer pixels than that.
    """
    drawn: str = vl_convert.vegalite_to_svg(specification(chart))
    head, tag, body = drawn.partition(">")
    return head + tag + DARK + GEOMETRY.sub(_tidied, UNSEEN.sub("", body))


def specification(chart: alt.TopLevelMixin) -> dict[str, Any]:
    """Give the chart's Vega-Lite specification with its data inside, its names legible and of a bearable length.

    Vega itself would cut a long name in the middle of an emoji, and then cannot draw the chart at all.
    """
    written: dict[str, Any] = chart.to_dict()
    names = _legible_names(written.get("datasets", {}))
    return written if not names else _renamed(written, names)


def _legible_names(datasets: dict[str, list[dict[str, Any]]]) -> dict[str, str]:
    """Map the texts of the data that a picture cannot show as they are to what it shows, distinct ones apart."""
    values = [value for rows in datasets.values() for row in rows for value in row.values()]
    texts = dict.fromkeys(
        value for value in values if isinstance(value, str) and value and not value.startswith("data:image/")
    )
    shown: dict[str, str] = {}
    taken = {text for text in texts if legible(text, MOST_COLUMNS) == text}
    for text in texts:
        if text not in taken:
            shown[text] = unused(legible(text, MOST_COLUMNS), taken | set(shown.values()))
    return shown


def _renamed(part: Any, names: dict[str, str]) -> Any:
    if isinstance(part, dict):
        return {key: _renamed(value, names) for key, value in part.items()}
    if isinstance(part, list):
        return [_renamed(value, names) for value in part]
    return names.get(part, part) if isinstance(part, str) else part


def compact(chart: alt.TopLevelMixin) -> bytes:
    """Write the specification as JSON without blanks."""
    return json.dumps(specification(chart), separators=(",", ":"), ensure_ascii=False).encode()


def data_uri(media_type: str, content: bytes) -> str:
    """Write bytes as a `data:` address."""
    return f"data:{media_type};base64,{base64.b64encode(content).decode('ascii')}"


def _tidied(attribute: re.Match[str]) -> str:
    return LONG_DIGITS.sub(_rounded, attribute[0])


def _rounded(match: re.Match[str]) -> str:
    return f"{float(match[0]):.2f}".rstrip("0").rstrip(".")


def size(drawn: str) -> tuple[int, int]:
    """Read width and height in pixels from a drawn picture."""
    width, height = re.findall(r' (?:width|height)="(\d+)(?:\.\d+)?"', drawn[:400])[:2]
    return int(width), int(height)
