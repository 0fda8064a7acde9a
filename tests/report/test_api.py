"""What `from gangline import report` offers, and what it costs to know its errors."""

import subprocess
import sys

import pytest

from gangline import report


def test_every_name_is_there() -> None:
    assert all(getattr(report, name) is not None for name in report.__all__)
    assert set(report._PLACES) == set(report.__all__)


def test_a_name_that_is_not_there_is_an_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'opn_page'"):
        report.opn_page  # noqa: B018


def test_the_errors_cost_no_estimators() -> None:
    source = "import sys; from gangline.report.parameters import ParameterError; print('scipy' in sys.modules)"
    assert (
        subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True).stdout == "False\n"
    )
