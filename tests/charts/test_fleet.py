"""Pictures of the fleet: stacks that add up, names that cannot be mistaken, every word of the closed list coloured."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

import altair as alt
import polars as pl

from gangline.charts import fleet, picture
from gangline.vocabulary import EndReason
from gangline.windows import Window

WEEK = Window.between("2026-03-02", "2026-03-09", "UTC")
START = datetime(2026, 3, 2, tzinfo=UTC)


def drawn_rows(chart: alt.TopLevelMixin) -> list[list[dict[str, Any]]]:
    return list(picture.specification(chart)["datasets"].values())  # type: ignore[attr-defined]


def owners(rows: list[tuple[str | None, bool, str, float]]) -> pl.DataFrame:
    schema = {"owner": pl.String, "is_others": pl.Boolean, "end_reason": pl.String, "gpu_h": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row").with_row_index("place")


def test_every_end_reason_has_its_own_colour() -> None:
    reasons = {str(reason) for reason in EndReason} - {EndReason.NEVER_STARTED}
    assert {str(reason) for reason in fleet.END_REASONS} == reasons
    assert len(set(fleet.END_REASONS.values())) == len(reasons)


def test_stacks_add_up_from_zero_in_the_order_of_the_legend() -> None:
    rows = pl.DataFrame(
        {
            "day": [date(2026, 3, 2)] * 3,
            "size": ["single-node", "gang", "gang"],
            "end_reason": ["failed", "failed", "killed"],
        }
    ).with_columns(sessions=pl.Series([5, 2, 1]))
    (drawn,) = drawn_rows(fleet.starts(rows, "size", "day", WEEK))
    assert [(row["size"], row["lower"], row["upper"]) for row in drawn] == [("gang", 0, 3), ("single-node", 3, 8)]


def test_owners_cannot_pass_for_all_others_or_for_nobody() -> None:
    rows = owners(
        [
            (None, False, "failed", 9),
            ("all others", False, "failed", 8),
            ("no owner named", False, "killed", 7),
            (None, True, "failed", 1),
        ]
    )
    (drawn,) = drawn_rows(fleet.gpu_hours(rows))
    assert [row["owner_label"] for row in drawn] == ["no owner named", "“all others”", "“no owner named”", "all others"]


def test_the_timeline_keeps_the_order_of_runs_and_colours_only_what_is_there() -> None:
    runs = pl.DataFrame({"run_name": ["<b>", "x" * 10_000], "end_reason": ["out_of_memory", "failed"]}).with_columns(
        from_at=pl.lit(START), to_at=pl.lit(START + timedelta(hours=1))
    )
    specification = picture.specification(fleet.timeline(runs, WEEK))
    bars = specification["layer"][1]  # type: ignore[index]
    assert bars["encoding"]["y"]["sort"] == ["<b>", "x" * 27 + "…"]
    assert bars["encoding"]["color"]["scale"]["domain"] == ["failed", "out of memory"]
    assert "<b>" not in picture.svg(fleet.timeline(runs, WEEK))


def test_capacity_has_a_corner_at_its_end_and_no_need_where_there_is_none() -> None:
    steps = pl.DataFrame({"from_at": [START], "to_at": [START + timedelta(days=1)]}).with_columns(
        usable_nodes=12, gang_nodes=8, other_nodes=1
    )
    with_need, without = fleet.capacity(steps, 10, WEEK), fleet.capacity(steps, None, WEEK)
    other = next(rows for rows in drawn_rows(without) if rows[0].get("use") == "in other sessions")
    assert [(row["at"], row["lower"], row["upper"]) for row in other] == [
        ("2026-03-02T00:00:00+0000", 8, 9),
        ("2026-03-03T00:00:00+0000", 8, 9),
    ]
    assert len(drawn_rows(with_need)) == len(drawn_rows(without)) + 1
