"""The reference cluster without its telemetry, ingested: sessions, runs and node states, as the figures read them."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

from gangline import checkpoints, downtimes, exclusions, published_details, retries, sessions
from gangline.config import load
from gangline.estimates import Estimate
from gangline.ingest import ingest
from gangline.simulate.backendai_nodes import write_pages
from gangline.simulate.cluster_config import config_text
from gangline.simulate.node_events import write_events
from gangline.simulate.plan import Plan, Span
from gangline.simulate.run_logs import write_runs
from gangline.sources.samples import instant_of_ms
from gangline.warehouse import connect
from gangline.windows import Window

SEED = 2605


@contextmanager
def cluster_of(folder: Path, plan: Plan) -> Iterator[duckdb.DuckDBPyConnection]:
    """The built warehouse of a plan's exports, but for telemetry and kernel logs."""
    raw = folder / "raw"
    write_pages(raw / "sessions", plan)
    write_runs(raw / "wandb", plan)
    write_events(raw / "node_events.txt", plan)
    config = folder / "cluster.toml"
    config.write_text(config_text(plan))
    report = ingest(load(config))
    assert [outcome.shown_path for outcome in report.outcomes if not outcome.is_clean] == []
    with connect(load(config)) as con:
        yield con


def window_of(span: Span) -> Window:
    """A plan's span as a window of the analyses."""
    return Window(instant_of_ms(span.from_ms), instant_of_ms(span.to_ms), "Asia/Seoul", "simulated")


def figures_of(con: duckdb.DuckDBPyConnection, plan: Plan) -> dict[tuple[str, str], Estimate]:
    """Figures by the span that they are of, `sessions` or `telemetry`, and their id."""
    whole, seen = window_of(plan.sessions_span), window_of(plan.telemetry)
    parts = (sessions, exclusions, retries, downtimes)
    found = {
        ("sessions", name): it
        for analysis in (*(part.figures for part in parts), published_details.of_sessions)
        for name, it in analysis(con, whole).items()
    }
    return found | {
        ("telemetry", name): it for part in (exclusions, checkpoints) for name, it in part.figures(con, seen).items()
    }
