"""Commands that open something to work in: lab."""

import os
import sys
from pathlib import Path

import typer

from gangline.cli.options import ConfigOption
from gangline.config import load_default
from gangline.report.notebooks import FOLDER
from gangline.warehouse import connect

NOTEBOOK = "20_explore.ipynb"
SETTINGS = Path(__file__).resolve().parents[1] / "lab" / "settings"
OFFLINE = (
    f"--LabApp.app_settings_dir={SETTINGS}",
    "--LabApp.news_url=None",
    "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    "--LabApp.extension_manager=readonly",
)


def add_to(app: typer.Typer) -> None:
    """Registers the commands."""
    app.command("lab", context_settings={"allow_extra_args": True, "ignore_unknown_options": True})(lab_command)


def lab_command(
    context: typer.Context,
    config: ConfigOption = None,
) -> None:
    """Open JupyterLab on the exploring notebook; other options go to JupyterLab (such as --no-browser)."""
    loaded = load_default(config)
    connect(loaded).close()  # a warehouse that cannot be read is said here, not in a cell
    os.environ["GANGLINE_CONFIG"] = str(loaded.path.absolute())
    arguments = [sys.executable, "-m", "jupyterlab", *OFFLINE, *_opening(), *context.args]
    os.chdir(FOLDER.parent)
    sys.stdout.flush()
    os.execv(sys.executable, arguments)  # noqa: S606


def _opening() -> list[str]:
    return [f"--ServerApp.root_dir={FOLDER.parent}", f"--LabApp.default_url=/lab/tree/{FOLDER.name}/{NOTEBOOK}"]
