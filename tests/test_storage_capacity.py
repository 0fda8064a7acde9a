"""When the storage is full: lines whose answer is known, sawteeth, shrinking, too few days; and the filler behind."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
import polars as pl
import pytest

from gangline import storage_capacity
from gangline.storage_capacity import days_until_full, forecast, largest, latest, trend
from gangline.warehouse import connect
from gangline.warehouse.querying import query
from gangline.windows import Window
from tests import telemetries

START = datetime(2026, 3, 1, tzinfo=UTC)
WINDOW = Window.between("2026-03-01", "2026-03-11", "UTC")


def levels(used_tb: list[float], size_tb: float = 1000.0, export: str = "nas:/data") -> pl.DataFrame:
    """A row a day, at its last hour."""
    at = [START + timedelta(days=day, hours=23) for day in range(len(used_tb))]
    frame = pl.DataFrame({"at": at, "used_tb": used_tb}, schema_overrides={"used_tb": pl.Float64})
    return frame.with_columns(
        export=pl.lit(export),
        file_system=pl.lit("nfs4"),
        size_tb=pl.lit(size_tb),
        used_share=pl.col("used_tb") / size_tb,
    )


def test_a_straight_line_is_found_again() -> None:
    found = trend(levels([500.0 + 10 * day for day in range(10)]))
    assert found is not None
    assert (found.growth.value, found.days, found.at) == (
        pytest.approx(10), 10, START + timedelta(days=9, hours=23)
    )  # fmt: skip
    until = days_until_full(found)
    assert (until.value, until.low, until.high) == (pytest.approx(41),) * 3
    ahead = forecast(found, WINDOW)
    assert ahead.row(0) == (found.at, *(pytest.approx(590),) * 3)
    assert ahead["used_tb"][-1] == pytest.approx(590 + 10 * 5)


def test_a_noisy_line_has_an_interval_that_holds_the_pace() -> None:
    found = trend(levels([500.0 + 10 * day + (5 if day % 3 else -10) for day in range(30)]))
    assert found is not None
    assert (found.growth.low or 99) < 10 < (found.growth.high or 0)
    until = days_until_full(found)
    assert (until.low or 99) < (until.value or 0) < (until.high or 0)


def test_what_does_not_grow_is_never_full() -> None:
    shrinking = trend(levels([500.0 - day for day in range(8)]))
    assert shrinking is not None
    assert days_until_full(shrinking).reason == "it does not grow"
    sawtooth = trend(levels([500.0 + 40 * (day % 2) for day in range(9)]))
    assert sawtooth is not None
    assert days_until_full(sawtooth).reason == "it does not grow" or days_until_full(sawtooth).high is None


def test_few_days_are_no_trend() -> None:
    found = trend(levels([500.0, 510.0, 520.0, 530.0]))
    assert found is not None
    assert days_until_full(found).reason == "there are samples of 4 days, and a trend needs 5"
    assert forecast(found, WINDOW).is_empty()
    assert trend(levels([])) is None


def test_the_line_stops_at_the_size() -> None:
    found = trend(levels([900.0 + 20 * day for day in range(5)]))
    assert found is not None
    assert forecast(found, WINDOW)["used_tb"].max() == 1000.0


def test_the_largest_export_is_told_of() -> None:
    both = pl.concat([levels([1.0, 2.0], 10.0, "nas:/home"), levels([5.0], 1000.0)])
    assert largest(both)["export"].to_list() == ["nas:/data"]
    assert latest(both)["used_tb"].to_list() == [5.0, 2.0]
    assert largest(both.clear()).is_empty()


def test_shared_file_systems_are_read_hour_by_hour(tmp_path: Path) -> None:
    lines = [
        *_file_system("nas:/data", "nfs4", 800e12, lambda minute: 500e12 - 1e12 * minute),
        *_file_system("tmpfs", "tmpfs", 1e9, lambda minute: 1e9),
    ]
    config = telemetries.cluster(tmp_path, lines)
    with connect(config) as con:
        rows = query(con, "from marts.storage_levels")
        figures = storage_capacity.figures(con, Window.between("2026-03-01", "2026-03-02", "UTC"))
    assert rows.select("export", "file_system", "size_bytes", "node_count").unique().rows() == [
        ("nas:/data", "nfs4", 800e12, 4)
    ]
    assert rows.sort("at")["available_bytes"].to_list() == [500e12 - 59e12, 500e12 - 119e12]
    assert figures["nfs.capacity_used_share"].value == pytest.approx((800 - 381) / 800)
    assert figures["nfs.days_until_full"].reason == "there are samples of 1 day, and a trend needs 5"


def test_no_file_system_is_said(tmp_path: Path) -> None:
    with connect(telemetries.cluster(tmp_path, [])) as con:
        assert _reasons(con) == {storage_capacity.NOT_EXPORTED}


def _reasons(con: duckdb.DuckDBPyConnection) -> set[str | None]:
    return {figure.reason for figure in storage_capacity.figures(con, WINDOW).values()}


def _file_system(device: str, kind: str, size: float, available: telemetries.Callable[[int], float]) -> list[str]:
    labels = {"device": device, "fstype": kind, "mountpoint": "/x"}
    minutes = range(telemetries.MINUTES)
    times = [telemetries.START_MS + telemetries.STEP_MS * minute for minute in minutes]
    return [
        telemetries.line(
            {"__name__": f"node_filesystem_{name}_bytes", "instance": f"{node}:9100"} | labels,
            list(zip(times, map(value, minutes), strict=True)),
        )
        for node in telemetries.NODES
        for name, value in (("size", lambda minute: size), ("avail", available))
    ]
