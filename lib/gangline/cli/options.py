"""Options that several commands take."""

from pathlib import Path
from typing import Annotated

import typer

ConfigOption = Annotated[
    Path | None,
    typer.Option("--config", "-c", help="The cluster's TOML file (default: GANGLINE_CONFIG, else the shipped one)."),
]
