"""Commands before and around the data: init, doctor."""

from pathlib import Path
from typing import Annotated

import typer

from gangline.cli import errors
from gangline.cli.diagnosis import diagnose
from gangline.cli.errors import UsageError
from gangline.cli.options import ConfigOption

FORBIDDEN = set('/\\:*?"<>|')
TEMPLATE = """# A cluster for gangline. `gangline config --explain` says what every key means.
[cluster]
name = "{name}"
time_zone = "UTC"            # IANA zone of logs without an offset, and of the reports' days and weeks
gpus_per_node = 8
# nodes = ["gpu[001-064]"]   # the inventory; without it, every node that a session names
# gang_min_nodes = 60        # fewest nodes of a gang session; without it, 0.8 x the usual large size

# One entry a kind of export; the path is relative to this file, globs are fine, .gz and .zst are read as they are.
# [[sources]]
# kind = "slurm"             # sacct -P -D --delimiter='^|^' --format=ALL -S 2026-01-01 -E now > raw/sacct.txt
# path = "raw/sacct*"

# [[sources]]
# kind = "sessions_csv"      # session_id,job_name,nodes,started_at,ended_at,end_reason[,owner,gpu_count,...]
# path = "raw/sessions*"

# [[sources]]
# kind = "incidents"         # incident_id,node,started_at,ended_at,kind[,class,detail]
# path = "raw/incidents*"

# [[maintenance]]            # ends inside a planned outage are planned
# from = 2026-01-01T00:00:00Z
# to = 2026-01-01T06:00:00Z
# note = "switch firmware"
"""


def add_to(app: typer.Typer) -> None:
    """Registers the commands."""
    app.command("init")(init_command)
    app.command("doctor")(doctor_command)


def init_command(folder: Annotated[Path, typer.Argument(metavar="DIR", help="A new folder for one cluster.")]) -> None:
    """Make a folder for your own cluster: a config to fill in, and a place for its exports."""
    config = folder / "cluster.toml"
    if config.exists():
        raise UsageError(f"{config}: is there already; nothing was changed")
    (folder / "raw").mkdir(parents=True, exist_ok=True)
    name = "".join(letter for letter in folder.absolute().name if letter.isprintable() and letter not in FORBIDDEN)
    config.write_text(TEMPLATE.format(name=name.strip(". ") or "cluster"), encoding="utf-8")
    typer.echo(f"{config}: name your exports there, put them under {folder / 'raw'}, then: gangline report -c {config}")


def doctor_command(config: ConfigOption = None) -> None:
    """Look at this machine, the config and the warehouse, and say what would stop a report."""
    findings = diagnose(config)
    for finding in findings:
        typer.echo(f"{finding.verdict:<4} {finding.subject}: {finding.text}")
    if any(finding.verdict == "bad" for finding in findings):
        raise typer.Exit(errors.FAILED)
