"""Commands as documents write them, and whether the command line knows them."""

import re
import shlex
from pathlib import Path

import typer
from typer.core import TyperGroup
from typer.exceptions import TyperException

from gangline.cli.application import _with_default_week, app

BLOCK = re.compile(r"^```\w*\n(.*?)^```", re.DOTALL | re.MULTILINE)
CALL = re.compile(r"(?:^|[\s/=])gangline((?: +(?!#)[^\s|&;<>#]+)+)")
SPAN = re.compile(r"`(?:\.venv/bin/)?gangline ([^`]+)`")


def calls(path: Path) -> list[str]:
    """What stands behind `gangline` in a document's blocks and code spans, an ellipsis left out."""
    text = path.read_text("utf-8")
    blocks = "\n".join(BLOCK.findall(text))
    spans = SPAN.findall(BLOCK.sub("", text))
    found = [call.strip() for line in blocks.splitlines() for call in CALL.findall(line)] + spans
    return [call.replace("...", "x") for call in dict.fromkeys(found)]


def problem(call: str) -> str:
    """Why the command line would not take a call; empty where it would. Nothing is run."""
    name, *arguments = shlex.split(call)
    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)
    if name.startswith("--") or name not in group.commands:
        return "" if name in ("--help", "--version") else f"gangline {call}: no command {name}"
    try:
        group.commands[name].make_context(name, _with_default_week(arguments))
    except TyperException as error:
        return f"gangline {call}: {error}"
    return ""
