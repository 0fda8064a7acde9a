"""Pictures of the fleet: stacks that add up, names that cannot be mistaken, every word of the closed list coloured."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

import altair as alt
import polars as pl

from gangline.charts import fleet, picture
from gangline.charts.theme import GREY
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
        from_at=pl.lit(START), to_at=pl.lit(START + timedelta(hours=1)), is_noted=pl.Series([False, False])
    )
    specification = picture.specification(fleet.timeline(runs, WEEK))
    bars = specification["layer"][1]
    assert bars["encoding"]["y"]["sort"] == ["<b>", "x" * 27 + "…"]
    assert bars["encoding"]["color"]["scale"]["domain"] == ["failed", "out of memory"]
    assert "<b>" not in picture.svg(fleet.timeline(runs, WEEK))


def test_noted_sessions_have_a_diamond_and_others_none() -> None:
    runs = pl.DataFrame({"run_name": ["a", "b"], "end_reason": ["failed", "killed"], "is_noted": [False, True]})
    timed = runs.with_columns(from_at=pl.lit(START), to_at=pl.lit(START + timedelta(hours=1)))
    *_, noted = drawn_rows(fleet.timeline(timed, WEEK))
    assert [row["run_name_label"] for row in noted] == ["b"]
    without = fleet.timeline(timed.with_columns(is_noted=pl.lit(value=False)), WEEK)
    assert len(layers(fleet.timeline(timed, WEEK))) == len(layers(without)) + 1


def layers(chart: alt.TopLevelMixin) -> list[dict[str, Any]]:
    return list(picture.specification(chart)["layer"])


STEPS = pl.DataFrame({"from_at": [START], "to_at": [START + timedelta(days=1)]}).with_columns(
    usable_nodes=12, candidate_nodes=12, gang_nodes=8, other_nodes=1
)
NONE_SHORT = pl.DataFrame(schema={"from_at": pl.Datetime("us", "UTC"), "to_at": pl.Datetime("us", "UTC")})
SHORT = pl.DataFrame({"from_at": [START], "to_at": [START + timedelta(hours=6)], "least_nodes": [9]})


def legend(chart: alt.TopLevelMixin) -> list[str]:
    return list(layers(chart)[1]["encoding"]["color"]["scale"]["domain"])


def test_capacity_has_a_corner_at_its_end_and_no_need_where_there_is_none() -> None:
    with_need, without = fleet.capacity(STEPS, NONE_SHORT, 10, WEEK), fleet.capacity(STEPS, NONE_SHORT, None, WEEK)
    other = next(rows for rows in drawn_rows(without) if rows[0].get("use") == "in other sessions")
    assert [(row["at"], row["lower"], row["upper"]) for row in other] == [
        ("2026-03-02T00:00:00+0000", 8, 9),
        ("2026-03-03T00:00:00+0000", 8, 9),
    ]
    assert len(drawn_rows(with_need)) == len(drawn_rows(without)) + 1
    assert legend(without) == ["in gang sessions", "in other sessions", "usable"]


def test_capacity_shades_what_is_too_few_and_tells_nodes_for_gangs_apart() -> None:
    assert legend(fleet.capacity(STEPS, SHORT, 10, WEEK))[2:] == ["usable", fleet.NEED, fleet.TOO_FEW]
    fewer = fleet.capacity(STEPS.with_columns(candidate_nodes=9), SHORT, 10, WEEK)
    assert legend(fewer)[2:] == ["usable", fleet.FOR_GANGS, fleet.NEED, fleet.TOO_FEW]
    rows = {rows[0]["use"]: rows for rows in drawn_rows(fewer) if "use" in rows[0]}
    assert [row["upper"] for row in rows[fleet.FOR_GANGS]] == [9, 9]
    assert [(row["at"], row["until"]) for row in rows[fleet.TOO_FEW]] == [
        ("2026-03-02T00:00:00+0000", "2026-03-02T06:00:00+0000")
    ]


def test_states_of_nodes_are_bars_by_node() -> None:
    states = SHORT.rename({"least_nodes": "node"}).with_columns(
        node=pl.lit("<i>n1</i>"), state_kind=pl.lit("out_of_service")
    )
    chart = fleet.node_states(states, WEEK)
    assert layers(chart)[1]["encoding"]["color"]["scale"] == {"domain": ["out of service"], "range": [GREY]}
    assert "<i>" not in picture.svg(chart)
