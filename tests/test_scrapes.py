"""How whole the telemetry is: steps, gaps, nodes that nobody knows, samples at odds."""

import pytest

from gangline import scrapes
from gangline.config import Config
from gangline.oddities import NOT_DESCRIBED, meaning_of
from gangline.warehouse import connect
from gangline.windows import Window
from tests import telemetries

DAY = Window.between("2026-03-01", "2026-03-02", "UTC")


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Config:
    """n1 misses 21 minutes; x9 is no node of the cluster; two files disagree on n2."""
    folder = tmp_path_factory.mktemp("holes")
    lines = [
        *telemetries.gpu_lines("DCGM_FI_DEV_GPU_TEMP", lambda n, g, at: None if n == "n1" and 40 <= at <= 60 else 50.0),
        *telemetries.gpu_lines("DCGM_FI_DEV_GPU_TEMP", lambda n, g, at: 60.0, ("x9",)),
    ]
    folder.mkdir(exist_ok=True)
    again = telemetries.gpu_lines("DCGM_FI_DEV_GPU_TEMP", lambda n, g, at: 55.0 if at == 7 else 50.0, ("n2",))
    (folder / "telemetry_again.jsonl").write_text("\n".join(again) + "\n")
    return telemetries.cluster(folder, lines)


def test_gaps_and_steps_by_target(config: Config) -> None:
    with connect(config) as con:
        days = scrapes.by_node_and_day(con, DAY).select("node", "jobs", "coverage_ratio").rows()
        (target,) = scrapes.targets(con, DAY).rows(named=True)
        (gap,) = scrapes.gaps(con, DAY).select("node", "job", "gaps", "longest_gap_s", "step_s").rows()
    assert [(node, jobs, round(ratio, 9)) for node, jobs, ratio in days] == [
        ("n1", 1, 0.825), ("n2", 1, 1.0), ("n3", 1, 1.0), ("n4", 1, 1.0), ("x9", 1, 1.0)
    ]  # fmt: skip
    assert (target["job"], target["nodes"], target["step_s"], target["gaps"]) == ("dcgm", 5, 60.0, 1)
    assert target["longest_gap_s"] == 22 * 60
    assert target["coverage_ratio"] == pytest.approx(4.825 / 5)
    assert gap == ("n1", "dcgm", 1, 1320.0, 60.0)


def test_nodes_that_no_session_names_and_samples_at_odds(config: Config) -> None:
    with connect(config) as con:
        assert scrapes.unmatched_nodes(con).select("node", "series", "metrics").rows() == [("x9", 2, 1)]
        assert scrapes.collisions(con).rows() == [("DCGM_FI_DEV_GPU_TEMP", 1, 238, 2)]
        assert con.execute(
            "select value from marts.samples join marts.series using (series_id)"
            " where node = 'n2' and gpu_index = 0 and \"at\" = '2026-03-01 00:07:00+00'"
        ).fetchall() == [(55.0,)]
        assert scrapes.has_telemetry(con)


def test_another_window_has_none(config: Config) -> None:
    with connect(config) as con:
        assert scrapes.targets(con, Window.between("2026-04-01", "2026-04-02", "UTC")).is_empty()


@pytest.mark.parametrize("kind", ["repeated_samples", "conflicting_samples"])
def test_oddities_of_samples_are_described(kind: str) -> None:
    assert meaning_of(kind) != NOT_DESCRIBED
