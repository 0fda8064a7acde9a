"""`%%sql` as a person types it."""

from collections.abc import Iterator

import polars as pl
import pytest
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

import gangline
from gangline.lab import Lab


@pytest.fixture
def shell(here: Lab) -> Iterator[InteractiveShell]:
    opened = InteractiveShell()
    with pl.Config():
        gangline.load_ipython_extension(opened)
        opened.user_ns["here"] = here
        yield opened


def test_a_cell_gives_a_polars_frame(shell: InteractiveShell) -> None:
    rows = shell.run_cell_magic("sql", "", "select 1 as a\nunion all select 2 order by a")
    assert rows["a"].to_list() == [1, 2]


def test_a_line_does_too(shell: InteractiveShell) -> None:
    assert shell.run_line_magic("sql", "select 3 as a").item() == 3


def test_a_name_keeps_the_frame(shell: InteractiveShell) -> None:
    assert shell.run_cell_magic("sql", "found", "select 1 as a") is None
    assert shell.user_ns["found"].item() == 1


def test_variables_of_the_notebook_are_bound(shell: InteractiveShell) -> None:
    shell.user_ns["owner"] = "o'brien"
    assert shell.run_cell_magic("sql", "", "select $owner as owner").item() == "o'brien"


def test_the_labs_window_is_bound(shell: InteractiveShell, here: Lab) -> None:
    assert shell.run_cell_magic("sql", "", "select $window_start as start").item() == here.window.start


@pytest.mark.parametrize(
    "text", ["select nothing from nowhere", "selec 1", "select $missing", "drop table marts.sessions"]
)
def test_a_slip_is_a_message_without_a_traceback(shell: InteractiveShell, text: str) -> None:
    with pytest.raises(UsageError, match="Error"):
        shell.run_cell_magic("sql", "", text)


def test_a_name_that_is_none_is_said(shell: InteractiveShell) -> None:
    with pytest.raises(UsageError, match="one name"):
        shell.run_cell_magic("sql", "two names", "select 1")
