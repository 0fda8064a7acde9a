"""04_incidents and 09_node_cases: with logs and telemetry, without either, without anything; hostile names are text."""

from pathlib import Path

import pytest

from gangline.config import Config
from gangline.report import exporter, history
from gangline.report.outputs import FIGURES
from tests import failing, fleets
from tests.test_notebook_runs import run, said

PAGE, CASES = "04_incidents", "09_node_cases"


@pytest.fixture(autouse=True)
def no_pages_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(history.FOLDER, str(tmp_path))


@pytest.fixture(scope="module")
def nobody() -> Config:
    return fleets.written("nobody", "")


def test_failures_of_a_cluster_with_logs() -> None:
    notebook, left = run(PAGE, failing.lepus())
    text = said(left)
    assert "Kernel logs and gauges tell of 2 incidents, 8,000.00 per 1,000 node-days. Job interruptions: 2,666" in text
    assert "No incident file was read" in text
    assert "Of 10 nodes in service, those with a kernel log or a gauge: 3" in text
    assert "Not attributed: 0 of 1, 0 % (0 to 79.3) of the ends" in text
    assert "not attributed are 2 of 2, 100.0 % (34.2 to 100.0)" in text
    assert "No node stands out in 3 looks" in text
    assert "Taken: 2 of 2, 100.0 %" in text
    assert "Of 10 GPUs whose counts were read, with remapped rows: 2; unable to remap one: 1" in text
    assert ": no rows" not in text
    assert exporter.page(notebook, PAGE).count("<figure") == 4
    ids = {figure["id"] for bundle in left if FIGURES in bundle for figure in bundle[FIGURES]["figures"]}
    assert {"failures.xid_events", "failures.share.not_attributed", "incidents.count"} <= ids


def test_a_gauge_alone_gives_lower_bounds(tmp_path: Path) -> None:
    config = _with_gauge(tmp_path)
    _, left = run(PAGE, config)
    assert "Of 3 events, told by a gauge alone: 1; their count is a lower bound" in said(left)


def test_failures_without_logs_are_not_measured() -> None:
    _, left = run(PAGE, fleets.sample())
    text = said(left)
    assert 'XIDs: not measured: a kernel log ([[sources]] kind = "kernel_log") or the XID gauge' in text
    assert "Incident files: 31 incidents on 12 nodes" in text
    assert "Taken: not measured: of no incident is it known what was done" in text
    assert "Not measured: remapped rows of GPUs are not exported (dcgm-exporter's DCGM_FI_DEV_*_REMAPPED_ROWS)" in text


def test_nothing_at_all_is_said(nobody: Config) -> None:
    notebook, left = run(PAGE, nobody)
    assert "XIDs: not measured" in said(left)
    assert "Nothing can be tested" in said(left)
    assert "<title>" in exporter.page(notebook, PAGE)
    notebook, left = run(CASES, nobody)
    assert "There is no incident to show" in said(left)
    assert "<title>" in exporter.page(notebook, CASES)


def test_the_latest_incident_is_the_case() -> None:
    notebook, left = run(CASES, failing.lepus())
    text = said(left)
    assert (
        "n02, XID 79 at 2026-03-01 00:59 UTC: runnable went from 12 processes to 0 processes, that of the median node"
        in text
    )
    assert "Figure 1. The node over its peers" in text
    assert "Not shown, as no samples of the node were read: gpu_util, gpu_power, pcie_replays and link_errors" in text
    assert "Counts were read of 1 GPU of the node: none tells of a remapped row" in text
    assert "Table 2. Events of the node and its session, in order" in text
    assert exporter.page(notebook, CASES).count("<figure") == 1


def test_a_named_node_and_time_with_measures() -> None:
    _, left = run(CASES, failing.lepus(), node="n04", at="2026-03-01T01:58", roles="remapped_rows", before_h=1.0)
    text = said(left)
    assert "n04 at 2026-03-01 01:58 UTC, where no log tells of an incident" in text
    assert "Figure 2. Remapped rows of the node" in text


def test_messages_of_the_kernel_are_text() -> None:
    notebook, left = run(CASES, failing.lepus(), node="n03", at="2026-03-01T00:20")
    assert "n03, XID 31 at" in said(left)
    page = exporter.page(notebook, CASES)
    assert "MMU Fault &lt;script&gt;" in page
    assert "<script>alert(1)" not in page


def test_a_case_without_telemetry_tells_what_happened() -> None:
    _, left = run(CASES, fleets.sample())
    text = said(left)
    assert "has samples of the node then; only what happened is told" in text
    assert "Nothing was measured." in text
    assert "Events of the node and its session, in order" in text


def _with_gauge(folder: Path) -> Config:
    """The story with an XID gauge of n10 that goes to 94."""
    times = ", ".join(str(round(failing.minute(at).timestamp() * 1000)) for at in (10, 11, 12))
    gauge = (
        '{"metric": {"__name__": "DCGM_FI_DEV_XID_ERRORS", "Hostname": "n10", "gpu": "0", "UUID": "GPU-n10"}, '
        f'"values": [0, 94, 94], "timestamps": [{times}]}}\n'
    )
    (folder / "telemetry.json.gauge").write_text(gauge)
    toml = failing.CONFIG.format(name="gauged").replace("telemetry.json*", "telemetry.json.gauge")
    return failing.written(folder, toml)
