"""Pictures of the storage: what stands on which axis, that they draw, and that nothing draws nothing."""

from datetime import UTC, datetime, timedelta
from typing import Any

import altair as alt
import polars as pl

from gangline.charts import picture, storage, storage_courses
from gangline.windows import Window

START = datetime(2026, 3, 1, tzinfo=UTC)
WINDOW = Window.between("2026-03-01", "2026-03-03", "Asia/Seoul")
OPERATIONS = pl.DataFrame(
    {
        "phase": ["save", "save", "load"],
        "operation": ["WRITE", "<b>GETATTR", "READ"],
        "request_ms": [2026.0, 1.0, 78.2],
        "queue_ms": [1890.0, 0.2, 54.2],
        "response_ms": [136.0, 0.8, 24.0],
        "rest_ms": [0.0, -0.1, 0.0],
    }
)
CHECKPOINTS = pl.DataFrame({"phase": ["save", "load"], "queue_ms": [1890.0, 54.2], "response_ms": [136.0, 24.0]})
NODES = OPERATIONS.rename({"operation": "node"})
BUFFERS = pl.DataFrame({"group": [1, 2], "shared_memory_gb": [48.0, 9.0], "sent_gb": [26.0, 2.0]})
EPOCHS = pl.DataFrame(
    {
        "role": ["dirty", "dirty", "nfs_write_bytes"],
        "layer": ["Dirty pages", "Dirty pages", "NFS WRITE"],
        "lag_s": [0.0, 30.0, 0.0],
        "median": [1e9, 4e9, 5e7],
        "q1": [1e9, 3e9, 4e7],
        "q3": [1e9, 5e9, 6e7],
        "unit": ["bytes", "bytes", "bytes/s"],
    }
)
PEAKS = pl.DataFrame({"role": ["dirty"], "median_s": [30.0]})
CURVES = pl.DataFrame({"load_id": ["a", "a", "b"], "minute": [0.0, 30.0, 5.0], "share_ratio": [0.0, 1.0, 0.5]})
LEVELS = pl.DataFrame(
    {"at": [START, START + timedelta(hours=1)], "used_tb": [450.0, 451.0], "size_tb": [2252.0, 2252.0]}
)
AHEAD = pl.DataFrame(
    {"at": [START + timedelta(hours=1)], "used_tb": [451.0], "low_tb": [451.0], "high_tb": [451.0]}
).with_columns(pl.col("at").dt.cast_time_unit("us"))


def panels(chart: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = chart.to_dict()["vconcat"]
    return found


def test_parts_of_a_request_stand_in_the_order_in_which_they_pass() -> None:
    saves, loads = panels(storage.times(OPERATIONS))
    assert (saves["title"], loads["title"]) == ("Inside saves", "Inside loads")
    bars = saves["layer"][0]["encoding"]
    assert bars["color"]["scale"]["domain"] == ["waits in the node", "storage answers", "the rest"]
    assert bars["x"]["title"] == "Mean time of a request (ms)"
    assert panels(storage.times(OPERATIONS.filter(pl.col("phase") == "save")))[0]["title"] == "Inside saves"


def test_waits_are_told_apart_by_colour_and_shape() -> None:
    _, marks = storage.waits(CHECKPOINTS).to_dict()["layer"]
    assert marks["encoding"]["shape"]["scale"]["domain"] == ["WRITE in a save", "READ in a load"]
    assert marks["encoding"]["y"]["scale"]["type"] == "log"


def test_layers_share_one_axis_and_short_numbers() -> None:
    dirty, sent = panels(storage_courses.epochs(EPOCHS, PEAKS, 1, "Seconds since the save began"))
    titles = [panel["layer"][1]["encoding"]["y"]["title"] for panel in (dirty, sent)]
    assert titles == ["GB", "MB/s"]
    assert [panel["layer"][1]["encoding"]["x"]["title"] for panel in (dirty, sent)] == [
        " ", "Seconds since the save began"
    ]  # fmt: skip
    assert (len(dirty["layer"]), len(sent["layer"])) == (4, 3)


def test_the_slowest_load_is_drawn_over_the_others() -> None:
    others, worst, mark = storage_courses.tails(CURVES, "a").to_dict()["layer"]
    assert (others["transform"][0]["filter"], worst["transform"][0]["filter"]) == (
        "!datum.is_slowest", "datum.is_slowest"
    )  # fmt: skip
    assert mark["encoding"]["y"]["field"] == "share_ratio"


def drawn(*, is_empty: bool) -> list[alt.TopLevelMixin]:
    def of(frame: pl.DataFrame) -> pl.DataFrame:
        return frame.clear() if is_empty else frame

    return [
        storage.times(of(OPERATIONS)),
        storage.waits(of(CHECKPOINTS)),
        storage.nodes(of(NODES), None if is_empty else 1900.0),
        storage.buffers(of(BUFFERS).with_columns(node=pl.lit("n1"))),
        storage_courses.epochs(of(EPOCHS), of(PEAKS), 60, "Minutes"),
        storage_courses.tails(of(CURVES), "a"),
        storage_courses.capacity(of(LEVELS), of(AHEAD), WINDOW),
        storage_courses.capacity(of(LEVELS), AHEAD.clear(), WINDOW),
    ]


def test_every_picture_draws() -> None:
    assert all("<svg" in picture.svg(chart) for chart in drawn(is_empty=False))


def test_pictures_of_nothing_can_be_made() -> None:
    """A page that has no rows says so and draws none, but the call stands in its cell."""
    assert len(drawn(is_empty=True)) == 8


def test_long_loads_and_years_are_thinned_but_keep_their_ends() -> None:
    curves = pl.DataFrame(
        {"load_id": ["a"] * 9000, "minute": [place / 2 for place in range(9000)], "share_ratio": [0.5] * 9000}
    )
    rows = storage_courses.tails(curves, "a").to_dict()["datasets"]
    (kept,) = [each for each in rows.values() if len(each) > 1]
    assert (len(kept), kept[-1]["minute"]) == (3001, 4499.5)
