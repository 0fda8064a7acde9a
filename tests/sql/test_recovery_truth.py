"""Recovery figures of the cluster with known answers, by plain counts and medians over the macros."""

import json
import shutil
from pathlib import Path

import duckdb
import pytest

from gangline.config import load
from gangline.ingest import ingest
from gangline.warehouse import connect
from gangline.windows import Window

CHAINS = """
select
    count(*) as "retries.chains",
    sum(attempts) as "retries.attempts",
    sum(retries) as "retries.retries",
    count(*) filter (recovered) as "retries.chains_recovered",
    count(*) filter (recovered) / count(recovered) as "retries.chain_success"
from marts.retry_chains_within($start, $end)
"""
LAUNCHES = """
select
    count(*) filter (chain_id is null) as "retries.manual_sessions",
    count(*) filter (chain_id is null and reached_training) as "retries.manual_reached",
    avg(reached_training::integer) filter (chain_id is null) as "retries.manual_success",
    median(gap_min) filter (start_kind = 'automatic') as "retries.auto_gap_median_min"
from marts.launches_within($start, $end)
"""
DOWNTIMES = """
select
    count(*) as "downtimes.episodes",
    count(*) filter (is_censored) as "downtimes.censored_n",
    count(*) filter (recovery_kind = 'automatic') as "downtimes.automatic_n",
    median(to_session_h) filter (recovery_kind = 'automatic') as "downtimes.automatic_median_h",
    count(*) filter (recovery_kind = 'prequeued') as "downtimes.prequeued_n",
    count(*) filter (recovery_kind = 'manual') as "downtimes.manual_n",
    median(to_session_h) filter (recovery_kind = 'manual') as "downtimes.manual_median_h",
    min(to_session_h) filter (recovery_kind = 'manual') as "downtimes.manual_min_h",
    max(to_session_h) filter (recovery_kind = 'manual') as "downtimes.manual_max_h"
from marts.downtimes_within($start, $end)
"""


def figures_of(con: duckdb.DuckDBPyConnection, window: Window) -> dict[str, float]:
    """Every figure of the three queries over a window."""
    found: dict[str, float] = {}
    for query in (CHAINS, LAUNCHES, DOWNTIMES):
        result = con.execute(query, {"start": window.start, "end": window.end})
        names = [column[0] for column in result.description or ()]
        found |= dict(zip(names, result.fetchone() or (), strict=True))
    return found


@pytest.mark.parametrize("source", ["csv", "slurm", "backendai"])
def test_recovery_figures_are_the_known_ones(source: str, shared_data: Path, tmp_path: Path) -> None:
    truth = shared_data / "truth/sessions"
    shutil.copytree(truth / source, tmp_path / source, copy_function=shutil.copyfile)
    config = load(tmp_path / source / "cluster.toml")
    ingest(config)
    figures = json.loads((truth / "truth.json").read_text())["figures"]
    wanted = {name: value for name, value in figures.items() if name.startswith(("retries.", "downtimes."))}
    with connect(config) as con:
        found = figures_of(con, Window.between("2026-09-15", "2026-11-16", "America/New_York"))
    assert found == pytest.approx(wanted, abs=1e-9)
