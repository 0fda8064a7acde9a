"""Choices of window and nodes, and what follows them."""

from datetime import date

import altair as alt
import pytest

from gangline.lab import Lab, Picker, pictures
from gangline.lab.picking import OWN_DATES, weeks_of
from gangline.lab.pictures import NothingToDrawError
from gangline.windows import Window


def test_the_choices_are_the_export_its_weeks_and_own_dates(here: Lab) -> None:
    picker = Picker(here)
    assert picker.window.options[0] == "whole export"
    assert picker.window.options[-1] == OWN_DATES
    assert list(picker.nodes.options) == here.sql("select node from marts.nodes order by node")["node"].to_list()


def test_a_choice_sets_the_lab_and_redraws_what_follows(here: Lab) -> None:
    picker, drawn = Picker(here), []

    def picture(lab: Lab, role: str) -> alt.Chart:
        drawn.append((lab.window.label, lab.nodes, role))
        raise NothingToDrawError("nothing")

    picker.follow(picture, role="gpu_util")
    node = picker.nodes.options[0]
    picker.nodes.value = (node,)
    picker.window.value = picker.window.options[1]
    assert drawn == [
        ("whole export", (), "gpu_util"),
        ("whole export", (node,), "gpu_util"),
        (picker.window.options[1], (node,), "gpu_util"),
    ]


def test_own_dates_hold_once_they_are_a_window(here: Lab) -> None:
    picker = Picker(here)
    picker.window.value = OWN_DATES
    picker.start.value = date(2026, 3, 1)
    picker.end.value = date(2026, 3, 1)
    assert "not after its start" in picker.said.value
    picker.end.value = date(2026, 3, 3)
    assert (here.window.label, "not after" in picker.said.value) == ("2026-03-01 to 2026-03-02", False)


def test_weeks_are_newest_first_and_reach_into_the_export() -> None:
    weeks = weeks_of(Window.between("2026-03-04", "2026-03-17", "UTC"))
    assert [week.label for week in weeks] == ["2026-W12", "2026-W11", "2026-W10"]
    assert weeks_of(Window.whole(None, None, "UTC")) == []


@pytest.mark.parametrize("draw", [pictures.fleet_band, pictures.node_heat, pictures.node_layers])
def test_the_reports_pictures_of_telemetry(here: Lab, draw) -> None:
    assert draw(here, "gpu_util").to_dict()
    with pytest.raises(NothingToDrawError, match="no samples of backlog"):
        draw(here, "backlog")


@pytest.mark.parametrize("draw", [pictures.session_timeline, pictures.excluded_nodes])
def test_the_reports_pictures_of_sessions(here: Lab, draw) -> None:
    assert draw(here).to_dict()
    here.between("2020-01-01", "2020-01-02")
    with pytest.raises(NothingToDrawError, match="2020-01-01"):
        draw(here)


def test_nodes_in_use_are_drawn(here: Lab) -> None:
    assert pictures.nodes_in_use(here).to_dict()
