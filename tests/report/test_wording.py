"""Sentences: every value escaped, written as the house writes it, and never cut without a sign."""

from datetime import UTC, datetime

import pytest
from markupsafe import Markup

from gangline.estimates import Estimate
from gangline.report.wording import human, prose
from tests.report.making import HOSTILE


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_is_never_markup(name: str) -> None:
    written = prose("node {} of {name}", name, name=name)
    assert "<" not in written
    assert "\n" not in written


@pytest.mark.parametrize("name", [name for name in HOSTILE if "{" not in name])
def test_a_name_pasted_into_the_template_is_text(name: str) -> None:
    assert "<" not in prose(f"node {name}")


def test_values_are_written_as_the_house_writes_them() -> None:
    at = datetime(2025, 9, 1, 12, 0, 30, tzinfo=UTC)
    assert prose("{} {} {} {}", 12345, None, at, True) == "12,345 not known 2025-09-01 12:00:30 UTC yes"
    assert prose("{:.1f} {:,}", 3.25, 1234) == "3.2 1,234"


def test_a_missing_value_with_a_format_is_not_known() -> None:
    assert prose("{:.1f} h", None) == "not known h"


def test_an_estimate_is_written_as_its_sentence() -> None:
    estimate = Estimate(1 / 3, "ratio", 12, 0.1381, 0.6094, 0.95, "Wilson", numerator=4)
    assert prose("{}", estimate) == "4 of 12, 33.3 % (13.8 to 60.9)"


def test_markup_of_our_own_stays_markup() -> None:
    assert prose("{}", Markup("<b>x</b>")) == "<b>x</b>"


def test_strong_and_code() -> None:
    assert prose("**a** `b` <c>") == "<strong>a</strong> <code>b</code> &lt;c&gt;"


def test_an_instant_without_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="UTC-aware"):
        human(datetime(2025, 9, 1))  # noqa: DTZ001
