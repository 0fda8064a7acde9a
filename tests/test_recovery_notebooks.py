"""Notebooks 02 and 05 run to their end: on the sample, on parts of it, on nothing, on hostile names."""

import re
import shutil
from pathlib import Path

import pytest

from gangline.config import Config
from gangline.report import exporter, history, outputs
from tests.conftest import ROOT
from tests.fleets import at, ingested, sample, written
from tests.report.making import HOSTILE
from tests.test_notebook_runs import run, said

RUNS, RECOVERY = "02_runs", "05_recovery"
BOTH = (RUNS, RECOVERY)


@pytest.fixture(autouse=True)
def no_pages_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(history.FOLDER, str(tmp_path))


def part_of_the_sample(folder: Path, *kinds: str) -> Config:
    """The sample with its sources of some kinds only."""
    source = shutil.copytree(ROOT / "data" / "sample", folder / "-".join(kinds), copy_function=shutil.copyfile)
    head, *sources = (source / "cluster.toml").read_text("utf-8").split("[[sources]]")
    kept = [text for text in sources if any(f'kind = "{kind}"' in text for kind in kinds)]
    (source / "cluster.toml").write_text("[[sources]]".join([head, *kept]), "utf-8")
    return ingested(source, "part-" + "-".join(kinds))


@pytest.fixture(scope="module")
def nothing() -> Config:
    return written("nothing-recovers", "")


@pytest.fixture(scope="module")
def hostile() -> Config:
    """Chains and runs of people and things whose names mean no good; every fourth launch trains."""
    head = ["session_id", "job_name", "owner", "nodes", "created_at", "started_at", "ended_at", "end_reason"]
    rows, runs = [head], [["Name", "State", "ID", "Created", "Runtime", "User", "Notes", "_step"]]
    history_rows = [["run_id", "_step", "_timestamp", "loss", HOSTILE[0]]]
    for place, name in enumerate(HOSTILE):
        for attempt, (begin, length) in enumerate([(0, 1.5), (1.67, 0.3), (2.14, 1.2 if place % 2 else 0.4)]):
            first, last = at(6 * place + begin), at(6 * place + begin + length)
            rows.append(
                [f"{name[:50]}{place}.{attempt}", name, HOSTILE[place - 1], "n[1-9]", first, first, last, "failed"]
            )
        runs.append(
            [name, "crashed", f"{name[:50]}{place}", at(6 * place + 0.1), "4000", HOSTILE[place - 1], name, "20"]
        )
        history_rows += [
            [
                f"{name[:50]}{place}",
                str(step),
                str(1_772_323_200 + 21_600 * place + 100 * step),
                str(place or "nan"),
                "1",
            ]
            for step in (1, 10, 20)
        ]
    sources = "".join(
        f'[[sources]]\nkind = "{kind}"\npath = "{table}.csv"\n'
        for kind, table in (("sessions_csv", "sessions"), ("wandb", "runs"), ("wandb", "steps"))
    )
    return written("hostile-recovers", sources, sessions=rows, runs=runs, steps=history_rows)


@pytest.mark.parametrize("name", BOTH)
def test_the_sample_fills_every_figure_and_table(name: str) -> None:
    _, left = run(name, sample())
    assert "not measured" not in said(left)
    assert ": no rows" not in said(left)
    assert (name == RECOVERY) == ("What people noted: on these sessions: 1 row" in said(left))


def test_figures_are_left_by_their_ids() -> None:
    _, left = run(RECOVERY, sample(), "2026-03-09", "2026-03-16")
    figures = [figure for bundle in left for figure in bundle.get(outputs.FIGURES, {}).get("figures", [])]
    ids = [figure["id"] for figure in figures]
    assert (len(ids), len(set(ids))) == (34, 34)
    assert {name.partition(".")[0] for name in ids} == {"retries", "downtimes"}
    assert all(figure["value"] is not None or figure["reason"] for figure in figures)
    assert {figure["id"]: figure["previous"] for figure in figures}["retries.chains"] == 2


@pytest.mark.parametrize(("name", "sentence"), [(RUNS, "No runs"), (RECOVERY, "Nothing to retry: no session file")])
def test_no_source_at_all_is_said(name: str, sentence: str, nothing: Config) -> None:
    notebook, left = run(name, nothing)
    assert sentence in said(left)
    assert "<title>" in exporter.page(notebook, name)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [(RUNS, "No run was there in this window"), (RECOVERY, "Nothing to retry: no session large enough")],
)
def test_a_window_without_data_is_said(name: str, sentence: str) -> None:
    _, left = run(name, sample(), "2025-03-03", "2025-03-10")
    assert sentence in said(left)


def test_sessions_without_runs(tmp_path: Path) -> None:
    config = part_of_the_sample(tmp_path, "slurm")
    assert "No runs" in said(run(RUNS, config)[1])
    assert re.search(r"75\.0 % of 4 chains", said(run(RECOVERY, config)[1]))


def test_runs_without_sessions(tmp_path: Path) -> None:
    config = part_of_the_sample(tmp_path, "wandb")
    assert "20 runs, 0 linked" in said(run(RUNS, config)[1])
    assert "Nothing to retry: no session file" in said(run(RECOVERY, config)[1])


@pytest.mark.parametrize("name", BOTH)
def test_hostile_names_are_text(name: str, hostile: Config) -> None:
    notebook, left = run(name, hostile)
    page = exporter.page(notebook, name)
    assert "alert(1)</script>" not in page
    assert "onerror=alert" not in page.replace("&lt;img src=x onerror=alert", "")
    assert {RUNS: "12 runs, 12 linked", RECOVERY: "12 chains: 6 of 12"}[name] in said(left)


def test_metrics_that_no_name_tells_are_said(hostile: Config) -> None:
    assert "Where no metric tells" not in said(run(RUNS, sample())[1])
    _, left = run(RUNS, hostile)
    assert "Where no metric tells of throughput" in said(left)
    assert "Figure 2. Loss by step: no rows" not in said(left)
