"""A figure on a page: the picture, what it means, and the chart itself packed beside it."""

import base64
import gzip
from dataclasses import dataclass
from typing import TYPE_CHECKING

from markupsafe import Markup

from gangline.estimates.wording import counted

if TYPE_CHECKING:
    import altair as alt

MOST_PACKED_BYTES = 300_000
FIGURE = Markup(
    '<figure class="figure" id="{anchor}"><div class="scroll plot" tabindex="0" role="region" aria-label="{title}">'
    '<img src="{source}" alt="{alt_text}"{size}></div><figcaption><b>{label}{title}.</b> {caption} '
    '<span class="rows">{rows}</span></figcaption>{tools}</figure>'
)
TOOLS = Markup('<p class="tools">{}{}</p>')
BUTTON = Markup('<button type="button" class="button interactive" data-chart="{}" hidden>Interactive</button>')


@dataclass(frozen=True, slots=True)
class FigureParts:
    """The values of a figure's markup."""

    anchor: str
    label: str
    title: str
    caption: str
    alt_text: str
    rows: str
    source: str
    size: Markup
    packed: str

    def whole(self, link: Markup) -> Markup:
        """Write the figure with its buttons."""
        button = BUTTON.format(self.packed) if self.packed else ""
        return self._figure(TOOLS.format(button, link))

    def picture_only(self) -> Markup:
        """Write the figure without what needs the page's script."""
        return self._figure(Markup(""))

    def _figure(self, tools: Markup) -> Markup:
        names = ("anchor", "label", "title", "caption", "alt_text", "rows", "source", "size")
        values = {name: Markup.escape(getattr(self, name)) for name in names}
        return FIGURE.format(tools=tools, **values)


def figure_parts(
    chart: "alt.TopLevelMixin", anchor: str, label: str, title: str, caption: str, alt_text: str, row_count: int
) -> FigureParts:
    """Draw a chart and pack its specification, unless that is too large to carry."""
    from gangline.charts import picture

    drawn = picture.svg(chart)
    packed = gzip.compress(picture.compact(chart), mtime=0)
    return FigureParts(
        anchor=anchor,
        label=label,
        title=title,
        caption=caption,
        alt_text=alt_text or f"{title}. {caption}",
        rows=f"{counted(row_count, 'rows')}.",
        source=picture.data_uri("image/svg+xml", drawn.encode()),
        size=_size(*picture.size(drawn)),
        packed=base64.b64encode(packed).decode("ascii") if len(packed) <= MOST_PACKED_BYTES else "",
    )


def _size(width: int, height: int) -> Markup:
    return Markup(' width="{:d}" height="{:d}"').format(width, height)
