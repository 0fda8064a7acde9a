"""Who restores first: competing recoveries, the first response, and the clusters with known answers."""

import json
import shutil
from pathlib import Path

import polars as pl
import pytest

from gangline import downtimes, recoveries, retries
from gangline.config import load
from gangline.ingest import ingest
from gangline.warehouse import connect
from gangline.windows import Window
from tests.test_downtimes import episodes_of


def test_kinds_compete_and_the_open_ones_count() -> None:
    curves = recoveries.curves(episodes_of(automatic=[1.0, 4.0], manual=[3.0], open_h=[2.0]))
    # Aalen-Johansen by hand: S = 1, 3/4 (1 h), 3/8 (3 h); incidence at 3 h of manual 3/4 x 1/2
    assert curves["automatic"].at(1).value == 0.25
    assert curves["manual"].at(3).value == 0.375
    assert curves["automatic"].last().value == 0.625
    assert curves["prequeued"].last().value == 0.0


def test_steps_and_marks_leave_out_kinds_that_were_not_seen() -> None:
    curves = recoveries.curves(episodes_of(manual=[3.0], open_h=[2.0]))
    assert recoveries.steps(curves)["recovery_kind"].unique().to_list() == ["manual"]
    marks = recoveries.by_mark(curves)
    assert marks.columns == ["recovery_kind", "within 1 h", "within 4 h", "within 24 h"]
    assert marks["within 1 h"].to_list() == ["0 % (n = 2)"]


def test_the_first_response_is_not_chosen_by_the_outcome() -> None:
    # A retry answered all five; two it restored, a person the other two, one is still down.
    episodes = episodes_of(automatic=[0.2, 0.4], manual=[3.0, 5.0])
    rows = recoveries.by_first_response(episodes.vstack(episodes_of(open_h=[9.0])))
    assert rows.drop("median_length").rows() == [("automatic", 4, 2, 2, 0, 0), ("none yet", 1, 0, 0, 0, 1)]
    assert rows["median_length"].to_list()[1].startswith("not measured: too few have ended")


def test_nothing_gives_nothing() -> None:
    curves = recoveries.curves(episodes_of())
    assert recoveries.steps(curves).is_empty()
    assert recoveries.by_mark(curves).is_empty()
    assert recoveries.by_first_response(episodes_of()).is_empty()


@pytest.mark.parametrize("source", ["csv", "slurm", "backendai"])
def test_the_clusters_with_known_answers(source: str, shared_data: Path, tmp_path: Path) -> None:
    truth = shared_data / "truth/sessions"
    shutil.copytree(truth / source, tmp_path / source, copy_function=shutil.copyfile)
    config = load(tmp_path / source / "cluster.toml")
    ingest(config)
    figures = json.loads((truth / "truth.json").read_text())["figures"]
    wanted = {name: value for name, value in figures.items() if name.startswith(("retries.", "downtimes."))}
    window = Window.between("2026-09-15", "2026-11-16", "America/New_York")
    with connect(config) as con:
        found = retries.figures(con, window) | downtimes.figures(con, window)
    assert len(wanted) == 18
    assert {name: found[name].value for name in wanted} == pytest.approx(wanted, abs=1e-9)


def test_before_a_kinds_first_end_there_is_no_band() -> None:
    rows = recoveries.steps(recoveries.curves(episodes_of(automatic=[1.0], manual=[3.0], open_h=[2.0])))
    none_yet = pl.col("restored_share") == 0
    assert rows.filter(none_yet).select("low_share", "high_share").unique().rows() == [(None, None)]
    assert rows.filter(~none_yet)["low_share"].null_count() == 0
