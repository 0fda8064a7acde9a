"""Parameters: what papermill turns into something else stops, and names are held to those of the notebook."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, Optional

import pytest

from gangline.config import Config
from gangline.report import notebooks
from gangline.report.parameters import ParameterError, check_types, read, window
from gangline.windows import Window
from tests.report.making import write_notebook


@pytest.mark.parametrize(
    ("hint", "value", "message"),
    [
        (bool, "false", "parameter flag is 'false', not of type bool"),
        (str, 7, "parameter flag is text, but arrived as the number 7; use -r flag 7"),
        (Optional[str], 7, "use -r flag 7"),  # noqa: UP045 - papermill knows no other way to write it
        (str, None, "parameter flag is None, not of type str"),
        (str, True, "parameter flag is True, not of type str"),
        (int, "7", "parameter flag is '7', not of type int"),
        (int, 7.5, "parameter flag is 7.5, not of type int"),
        (int, True, "parameter flag is True, not of type int"),
        (list[int], "[1, 2]", "not of type list"),
        (Literal["a", "b"], "c", "Input should be 'a' or 'b'"),
    ],
)
def test_a_value_of_another_type_stops(hint: object, value: object, message: str) -> None:
    with pytest.raises(ParameterError) as caught:
        check_types({"flag": hint}, {"flag": value})
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("hint", "value"),
    [(bool, False), (str, "007"), (float, 3), (float, 3.5), (list[int], [1]), (Optional[str], None)],  # noqa: UP045
)
def test_a_value_of_its_type_passes(hint: object, value: object) -> None:
    check_types({"flag": hint}, {"flag": value})


def test_texts_become_values_of_their_types() -> None:
    texts = {"a": "007", "b": "7", "c": "false", "d": "[1, 2]", "e": "1.5"}
    known = {"a": "str", "b": "int", "c": "bool", "d": "list[int]", "e": "float"}
    assert read(texts, known) == {"a": "007", "b": 7, "c": False, "d": [1, 2], "e": 1.5}


@pytest.mark.parametrize(
    ("text", "kind"), [("maybe", "bool"), ("x", "int"), ("1.5", "int"), ("[", "list"), ("1", "bool")]
)
def test_a_text_of_no_such_type_stops(text: str, kind: str) -> None:
    with pytest.raises(ParameterError, match="parameter n"):
        read({"n": text}, {"n": kind})


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(ParameterError, match="unknown parameter sicne; did you mean since\\? known: since, until"):
        read({"sicne": "2026-03-01"}, {"since": "str", "until": "str"})


WHOLE = Window.whole(datetime(2025, 9, 1, 3, tzinfo=UTC), datetime(2025, 11, 12, 9, tzinfo=UTC), "UTC")


def test_empty_texts_are_the_export_s_edges() -> None:
    assert window("", "", WHOLE) is WHOLE
    assert window("2025-10-01", "", WHOLE).folder == "2025-10-01_2025-11-13"
    assert window("", "2025-10-01", WHOLE).folder == "2025-09-01_2025-10-01"


def test_bad_dates_name_the_parameters() -> None:
    with pytest.raises(ParameterError, match="parameters start and end: 'x' is not a date"):
        window("x", "2025-10-01", WHOLE)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("00_capture_quality", "01_fleet_overview", "09_by_hand", "10_weekly", "90_published_comparison"):
        write_notebook(tmp_path, name)
    (tmp_path / "untitled.ipynb").write_text("{}")
    return tmp_path


def names(paths: list[Path]) -> list[str]:
    return [path.stem for path in paths]


def test_the_weekly_run_takes_its_own_page_first(folder: Path, orion: Config) -> None:
    whole = notebooks.choose(folder, [], WHOLE, orion)
    week = notebooks.choose(folder, [], Window.week("2025-W41", "UTC"), orion)
    assert names(whole) == ["00_capture_quality", "01_fleet_overview"]
    assert names(week) == ["10_weekly", "00_capture_quality", "01_fleet_overview"]


def test_notebooks_are_named_with_or_without_number(folder: Path, orion: Config) -> None:
    assert names(notebooks.choose(folder, ["by_hand", "01_fleet_overview", "by_hand"], WHOLE, orion)) == [
        "09_by_hand",
        "01_fleet_overview",
    ]
    with pytest.raises(ParameterError, match="unknown notebook fleet_overviw; did you mean 01_fleet_overview"):
        notebooks.choose(folder, ["fleet_overviw"], WHOLE, orion)


def test_parameters_go_to_the_notebooks_that_know_them(folder: Path) -> None:
    paths = [folder / "00_capture_quality.ipynb"]
    assert notebooks.parameters_for(paths, {"nodes": "5"}) == {paths[0]: {"nodes": 5}}
    with pytest.raises(ParameterError, match="unknown parameter nods; did you mean nodes"):
        notebooks.parameters_for(paths, {"nods": "5"})
    with pytest.raises(ParameterError, match="-p start: give the cluster by -c, the window by --from and --to"):
        notebooks.parameters_for(paths, {"start": "2025-10-01"})
