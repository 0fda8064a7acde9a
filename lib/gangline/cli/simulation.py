"""The command that makes a simulated cluster: simulate."""

from pathlib import Path
from typing import Annotated

import typer

from gangline.cli.errors import UsageError
from gangline.cli.progress import progress
from gangline.config import Config
from gangline.config.loading import DEFAULT_CONFIGS
from gangline.warehouse.opening import path_of

CLUSTERS = ("reference",)
SEED = 1
DAY_MS = 86_400_000
REFERENCE_CONFIG = DEFAULT_CONFIGS[0]


def add_to(app: typer.Typer) -> None:
    """Registers the command."""
    app.command("simulate")(simulate_command)


def simulate_command(
    cluster: Annotated[str, typer.Argument(help="Which cluster: reference.")],
    out: Annotated[Path, typer.Option(help="Folder for its cluster.toml and exports (made where it is not there).")],
    seed: Annotated[int, typer.Option(min=0, help="Seed of the draw: equal seeds give equal bytes.")] = SEED,
) -> None:
    """Draw a cluster's history and write what real tools would have exported of it."""
    if cluster not in CLUSTERS:
        raise UsageError(f"{cluster}: there is no such cluster to simulate; known: {', '.join(CLUSTERS)}")
    simulate_into(out, seed)


def simulate_where_absent(config: Config) -> None:
    """Simulates the reference cluster where its config is to be read and neither warehouse nor exports are there."""
    is_reference = config.path == REFERENCE_CONFIG.absolute()
    if is_reference and not path_of(config).is_file() and not (config.folder / "SIMULATED").is_file():
        typer.echo(f"{config.cluster.name}: not there yet, simulating it (once)")
        simulate_into(config.folder)


def simulate_into(folder: Path, seed: int = SEED) -> None:
    """Writes the reference cluster's exports, unless they are there.

    Raises
    ------
    UsageError
        If the folder holds other exports, or nothing that fits can be drawn with the seed.
    """
    from gangline.simulate.exports import ForeignFilesError, is_written, write_exports
    from gangline.simulate.history import NoFitError, draw

    try:
        plan = draw(seed)
        if is_written(folder, plan):
            typer.echo(f"{folder}: is there already, seed {seed}")
            return
        with progress("simulating") as listener:
            write_exports(folder, plan, listener)
    except (ForeignFilesError, NoFitError) as error:
        raise UsageError(str(error)) from error
    nodes, days = len(plan.cluster.nodes), round((plan.telemetry.to_ms - plan.telemetry.from_ms) / DAY_MS)
    typer.echo(f"{folder}: {len(plan.sessions)} sessions, {days} days of telemetry of {nodes} nodes, seed {seed}")
    typer.echo(f"next: gangline report -c {folder / 'cluster.toml'}")
