"""Thresholds: the config's, else shares of what the storage can do (analyses 6)."""

from typing import Any

import pytest

from gangline.config.model import Config
from gangline.phases.rules import Rules


def thresholds(**sections: Any) -> tuple[float | None, float | None, float | None]:
    rules = Rules.of(Config.model_validate({"cluster": {"name": "test", "time_zone": "UTC"}} | sections))
    return rules.save_start_bytes_per_s, rules.save_end_bytes_per_s, rules.load_read_bytes_per_s


def test_shares_of_the_storage_of_the_report() -> None:
    found = thresholds(storage={"max_read_gb_per_s": 700.0, "max_write_gb_per_s": 250.0})
    assert found == pytest.approx((20e9, 10e9, 2.002e9))


@pytest.mark.parametrize(
    ("checkpoints", "storage", "expect"),
    [
        ({}, {}, (None, None, None)),
        ({"save_start_gb_per_s": 2.0}, {}, (None, None, None)),
        ({"save_end_gb_per_s": 2.0}, {}, (None, None, None)),
        ({"save_start_gb_per_s": 2.0, "save_end_gb_per_s": 1.0}, {}, (2e9, 1e9, None)),
        ({"save_start_gb_per_s": 2.0}, {"max_write_gb_per_s": 100.0}, (2e9, 2e9, None)),
        ({"load_read_gb_per_s": 3.0}, {"max_read_gb_per_s": 100.0}, (None, None, 3e9)),
    ],
)
def test_what_is_given_comes_first(
    checkpoints: dict[str, float], storage: dict[str, float], expect: tuple[float | None, ...]
) -> None:
    assert thresholds(checkpoints=checkpoints, storage=storage) == expect


def test_a_writer_writes_more_than_ten_megabytes_a_second() -> None:
    rules = Rules.of(Config.model_validate({"cluster": {"name": "test", "time_zone": "UTC"}}))
    assert (rules.writer_min_bytes_per_s, rules.save_merge_s) == (10e6, 60)
