"""Number lists: both parsers round as Python does, and name what they cannot read."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gangline.sources import prometheus_numbers
from gangline.sources.prometheus_numbers import NumberError, parse_numbers

FLOATS = st.floats(allow_nan=False) | st.integers(-(2**70), 2**70).map(float) | st.sampled_from([-0.0, 5e-324])


@given(st.lists(FLOATS, min_size=1), st.sampled_from([1, 400]), st.sampled_from([",", ", "]))
def test_every_double_comes_back(numbers: list[float], repeats: int, comma: str) -> None:
    text = comma.join(repr(number) for number in numbers * repeats).replace("inf", "Infinity")
    assert list(map(repr, parse_numbers(text.encode()).tolist())) == list(map(repr, numbers * repeats))


@given(st.lists(st.integers(-(2**80), 2**80), min_size=1))
def test_integers_of_any_length_round_to_the_nearest_double(numbers: list[int]) -> None:
    text = ",".join(map(str, numbers * 200)).encode()
    assert parse_numbers(text).tolist() == [float(number) for number in numbers * 200]


@pytest.mark.parametrize("bad", ["x", "1_0", "0x1", "1 2", "true", "[1]", "--1", "1e", ""])
@pytest.mark.parametrize("repeats", [1, 1000], ids=["few", "many"])
def test_what_is_no_number_is_named(bad: str, repeats: int) -> None:
    with pytest.raises(NumberError, match="is no number"):
        parse_numbers(f"{'1,' * repeats}{bad},1".encode())


def test_without_simdjson_it_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prometheus_numbers, "_fast", prometheus_numbers._without_simdjson)
    text = ",".join(["1.5", "-2e-7", "1797693134862315", "-3"] * 500).encode()
    assert parse_numbers(text).tolist() == [1.5, -2e-7, 1797693134862315.0, -3.0] * 500
    assert math.isnan(parse_numbers(b"null," * 500 + b"1")[0])
