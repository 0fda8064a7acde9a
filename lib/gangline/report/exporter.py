"""From an executed notebook to one page that needs nothing else: nbconvert with a template of our own."""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import nbformat
from markupsafe import Markup
from nbconvert.exporters.templateexporter import TemplateExporter
from traitlets.config import Config

from gangline.estimates.wording import counted
from gangline.report import assets
from gangline.report.arrangement import SHOWN_TYPES, Arrangement, arrange, rendered
from gangline.report.sanitiser import clean

LONGEST_TEXT = 20_000


class PageExporter(TemplateExporter):
    """Writes the pages; what an output may be is listed in `SHOWN_TYPES`, and only the first is printed uncleaned."""

    output_mimetype = "text/html"

    def _template_name_default(self) -> str:
        return "gangline"

    def _file_extension_default(self) -> str:
        return ".html"

    @property
    def default_config(self) -> Config:
        """Look for the template in this package; show no type of output that can run."""
        ours = Config(
            {
                "TemplateExporter": {"extra_template_basedirs": [str(assets.PAGES)]},
                "NbConvertBase": {"display_data_priority": SHOWN_TYPES},
            }
        )
        usual: Config = super().default_config.copy()
        usual.merge(ours)
        return usual

    def default_filters(self) -> Iterator[tuple[str, Callable[..., Any]]]:
        """Replace nbconvert's own cleaning, which drops headings and tables."""
        yield from super().default_filters()  # type: ignore[no-untyped-call]
        yield ("clean_html", lambda text: Markup(clean(str(text))))  # noqa: S704
        yield ("page_markdown", lambda text: Markup(clean(rendered(str(text)))))  # noqa: S704
        yield ("shortened", shortened)


def page(notebook: nbformat.NotebookNode, name: str, problem: Markup | None = None) -> str:
    """Write the page of an executed notebook, whether it ran to its end or not.

    Parameters
    ----------
    notebook : NotebookNode
        As it was executed; it is left as it is.
    name : str
        The notebook's file name without its ending.
    problem : Markup, optional
        Why the page is not complete, for an alert at its top.
    """
    arranged = arrange(notebook, name, problem)
    resources = {"gangline": _variables(arranged), "metadata": {"name": name}}
    written, _ = _exporter().from_notebook_node(arranged.notebook, resources=resources)
    return str(written)


def shortened(text: str) -> str:
    """Cut a printed text that is too long to be read."""
    if len(text) <= LONGEST_TEXT:
        return text
    return f"{text[:LONGEST_TEXT]}\n… {counted(len(text) - LONGEST_TEXT, 'more characters')} in the executed notebook"


def _variables(arranged: Arrangement) -> dict[str, Any]:
    return {
        "policy": assets.policy(),
        "style": assets.style(),
        "script": assets.script(),
        "library": assets.library(),
        "title": arranged.title,
        "name": arranged.name,
        "cluster": arranged.cluster,
        "window": arranged.window,
        "meta": arranged.meta(),
        "banners": arranged.banners,
        "contents": arranged.contents,
        "answer": arranged.answer,
        "has_charts": arranged.has_charts,
    }


@cache
def _exporter() -> PageExporter:
    return PageExporter()  # type: ignore[no-untyped-call]
