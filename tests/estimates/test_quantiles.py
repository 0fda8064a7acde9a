"""Quantiles are the same in every engine, and a median's interval states its true coverage."""

import duckdb
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gangline.estimates.quantiles import median, median_coverage, median_rank, quantile, quantiles

NAN = float("nan")


def test_four_downtimes() -> None:
    """CHECK of section 5, and bug D4: polars' default 0.5 quantile of these is 2.2."""
    middle = median([5.0, 1.0, 2.2, 1.6], "h")
    assert middle.value == pytest.approx(1.9)
    assert (middle.low, middle.high, middle.level, middle.n) == (1.0, 5.0, 0.875, 4)


def test_seventeen_values_take_the_fifth_and_thirteenth() -> None:
    """CHECK of section 5."""
    middle = median(range(1, 18), "h")
    assert (middle.value, middle.low, middle.high) == (9.0, 5.0, 13.0)
    assert middle.level == pytest.approx(0.951, abs=5e-4)


@pytest.mark.parametrize(("n", "level"), [(2, 0.5), (3, 0.75), (4, 0.875), (5, 0.9375), (6, 0.96875)])
def test_few_values_are_covered_by_smallest_and_largest(n: int, level: float) -> None:
    middle = median(range(n), "h")
    assert (middle.low, middle.high, middle.level) == (0.0, n - 1.0, level)


def test_one_value_has_no_interval_and_none_no_value() -> None:
    assert (median([7.0], "h").value, median([7.0], "h").low, median([7.0], "h").level) == (7.0, None, None)
    assert median([], "h").reason == "there are no values"
    assert median([NAN, None], "h").method.endswith("2 without a value left out")


def test_ties_are_no_trouble() -> None:
    """Bug J1: four values with ties, where a BCa bootstrap is undefined."""
    middle = median([2.0, 2.0, 2.0, 2.0], "h")
    assert (middle.value, middle.low, middle.high, middle.level) == (2.0, 2.0, 2.0, 0.875)


@settings(deadline=None)
@given(st.integers(6, 2000))
def test_rank_is_the_narrowest_that_covers(n: int) -> None:
    rank = median_rank(n)
    assert median_coverage(n, rank) >= 0.95 > median_coverage(n, rank + 1)


def test_published_ranks() -> None:
    """Conover 1999, Practical Nonparametric Statistics, table A3: n = 20 takes the 6th and 15th, 95.86 %."""
    assert (median_rank(20), round(median_coverage(20, 6), 4)) == (6, 0.9586)


def test_quartiles_of_the_report_style_gaps() -> None:
    found = quantiles([10, 11, 11, 14, NAN, None])
    assert (found.values, found.n, found.left_out) == ((10.75, 11.0, 11.75), 4, 2)
    assert quantiles([]).values == (None, None, None)
    assert quantile([NAN], 0.25, "min").reason == "there are no values"


@settings(deadline=None)
@given(st.lists(st.floats(-1e6, 1e6) | st.just(NAN), min_size=1, max_size=30), st.sampled_from([0.05, 0.25, 0.5, 0.9]))
def test_same_answer_in_polars(values: list[float], level: float) -> None:
    """Bug D6: the engines agree where NaN is filtered first and the interpolation is linear."""
    expected = pl.Series(values, dtype=pl.Float64).drop_nans().quantile(level, interpolation="linear")
    found = quantiles(values, [level]).values[0]
    assert found == (None if expected is None else pytest.approx(expected, rel=1e-9, abs=1e-6))


def test_same_answer_in_duckdb() -> None:
    sql = """
        select quantile_cont(value, [0.25, 0.5, 0.75])
        from (select unnest([1.0::double, 1.6, 'nan'::double, 2.2, 5.0]) as value)
        where not isnan(value)
    """
    with duckdb.connect() as connection:
        (row,) = connection.execute(sql).fetchall()
    assert quantiles([1.0, 1.6, NAN, 2.2, 5.0]).values == pytest.approx(row[0])
