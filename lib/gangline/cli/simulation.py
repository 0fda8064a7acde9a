"""The command that makes a simulated cluster: simulate."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gangline.cli.errors import UsageError
from gangline.cli.progress import progress
from gangline.config import Config
from gangline.config.loading import DEFAULT_CONFIGS
from gangline.estimates.wording import counted
from gangline.warehouse.opening import path_of

if TYPE_CHECKING:
    from gangline.simulate.plan import Plan

CLUSTERS = ("reference", "free")
SEED = 2605
DAY_MS = 86_400_000
REFERENCE_CONFIG = DEFAULT_CONFIGS[0]


def add_to(app: typer.Typer) -> None:
    """Registers the command."""
    app.command("simulate")(simulate_command)


def simulate_command(
    cluster: Annotated[str, typer.Argument(help="reference, or free: of any size, held to no published figure.")],
    out: Annotated[Path, typer.Option(help="Folder for its cluster.toml and exports (made where it is not there).")],
    seed: Annotated[int, typer.Option(min=0, help="Seed of the draw: equal seeds give equal bytes.")] = SEED,
    nodes: Annotated[int | None, typer.Option(min=3, help="free: nodes of the cluster (63).")] = None,
    days: Annotated[int | None, typer.Option(min=1, help="free: days of sessions and telemetry (14).")] = None,
    spares: Annotated[int | None, typer.Option(min=0, help="free: nodes that the job does not need (3).")] = None,
    hazard: Annotated[
        float | None, typer.Option(min=0.001, help="free: interruptions per 1,000 node-days of the job (7).")
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="Beside them all other metrics of such exporters, for benchmarks: large.")
    ] = False,
) -> None:
    """Draw a cluster's history and write what real tools would have exported of it."""
    if cluster not in CLUSTERS:
        raise UsageError(f"{cluster}: there is no such cluster to simulate; known: {', '.join(CLUSTERS)}")
    sizes = {"nodes": nodes, "days": days, "spares": spares, "hazard": hazard}
    given = {name: value for name, value in sizes.items() if value is not None}
    if cluster == "reference" and given:
        raise UsageError(f"--{next(iter(given))}: the reference cluster has the published size; simulate free has any")
    simulate_into(out, seed, None if cluster == "reference" else given, is_full=full)


def simulate_where_absent(config: Config) -> None:
    """Simulates the reference cluster where its config is to be read and neither warehouse nor exports are there."""
    is_reference = config.path == REFERENCE_CONFIG.absolute()
    if is_reference and not path_of(config).is_file() and not config.is_simulated:
        typer.echo(f"{config.cluster.name}: not there yet, simulating it (once)")
        simulate_into(config.folder)


def simulate_into(
    folder: Path, seed: int = SEED, sizes: Mapping[str, float] | None = None, is_full: bool = False
) -> None:
    """Writes a cluster's exports, unless they are there: the reference's, or (with sizes) those of a free one.

    Parameters
    ----------
    is_full
        Whether to write, beside them, all other metrics that such a cluster's exporters give.

    Raises
    ------
    UsageError
        If the folder holds other exports, nothing that fits can be drawn with the seed, or the disk has too little
        room for all metrics.
    """
    from gangline.simulate.exporter_files import NoRoomError
    from gangline.simulate.exports import ForeignFilesError
    from gangline.simulate.free_launches import ScaleError
    from gangline.simulate.history import NoFitError

    try:
        plan = _drawn(seed, sizes)
        is_new = _write_all(folder, plan) if is_full else _write(folder, plan)
    except (ForeignFilesError, NoFitError, NoRoomError, ScaleError) as error:
        raise UsageError(str(error)) from error
    if not is_new:
        typer.echo(f"{folder}: is there already, seed {seed}")
        return
    nodes, days = len(plan.cluster.nodes), round((plan.telemetry.to_ms - plan.telemetry.from_ms) / DAY_MS)
    said = (
        f"{counted(len(plan.sessions), 'sessions')}, {counted(days, 'days')} of telemetry of {counted(nodes, 'nodes')}"
    )
    typer.echo(f"{folder}: {said}, seed {seed}")
    typer.echo(f"next: gangline report -c {folder / 'cluster.toml'}")


def _write(folder: Path, plan: "Plan") -> bool:
    """Writes what is not there yet; gives whether there was anything to write."""
    from gangline.simulate.exports import is_written, write_exports

    if is_written(folder, plan):
        return False
    with progress("simulating") as listener:
        write_exports(folder, plan, listener)
    return True


def _write_all(folder: Path, plan: "Plan") -> bool:
    """The same with all metrics: says first how large they are, and writes nothing where there is no room for them."""
    from gangline.simulate.exporter_files import check_room, size_of, write_full
    from gangline.simulate.exports import is_written, telemetry_of

    telemetry = telemetry_of(folder)
    typer.echo(f"all other metrics: {size_of(plan)}")
    check_room(telemetry, plan, is_written(folder, plan))
    is_new = _write(folder, plan)
    with progress("simulating") as listener:
        return write_full(telemetry, plan, listener) > 0 or is_new


def _drawn(seed: int, sizes: Mapping[str, float] | None) -> "Plan":
    from gangline.simulate import free_history, history
    from gangline.simulate.free_launches import Scale

    if sizes is None:
        return history.draw(seed)
    return free_history.draw_free(seed, Scale(**sizes))  # type: ignore[arg-type]
