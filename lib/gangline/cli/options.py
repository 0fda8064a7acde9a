"""Options that several commands take."""

import sys
from pathlib import Path
from typing import Annotated

import typer

ConfigOption = Annotated[
    Path | None,
    typer.Option("--config", "-c", help="The cluster's TOML file (default: GANGLINE_CONFIG, else the shipped one)."),
]
PdfOption = Annotated[
    bool, typer.Option("--pdf", help="Print each complete page beside its HTML, by the Chromium of this machine.")
]


def browser_for(is_pdf: bool) -> Path | None:
    """The browser that prints, where PDFs are asked for; one line where there is none."""
    from gangline.report import paper

    browser = paper.find_browser() if is_pdf else None
    if is_pdf and browser is None:
        sys.stderr.write(f"gangline: {paper.NO_BROWSER}\n")
    return browser
