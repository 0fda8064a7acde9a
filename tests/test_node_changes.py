"""Rows of changes as a clause: what left its peers, what stayed while they went, what cannot be held against them."""

import polars as pl
import pytest

from gangline import node_changes

STAYED = "gpu_util stayed at 0 %, that of the median node from 98.0 % to 0 %"


def _rows(*rows: tuple[str, float | None, float | None, float, float, int, float | None]) -> pl.DataFrame:
    names = ["measure", "before", "after", "peers_before", "peers_after", "nodes", "z"]
    frame = pl.DataFrame(rows, schema=names, orient="row", strict=False).cast({"after": pl.Float64, "z": pl.Float64})
    return frame.with_columns(unit=pl.lit("ratio"))


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([("gpu_util", 0.0, 0.0, 0.98, 0.0, 12, 4.2)], f"{STAYED} (z = 4.2 among 12 nodes)"),
        (
            [("gpu_util", 0.0, 0.0, 0.98, 0.0, 12, 3.5), ("mem", 0.5, 0.5, 0.5, 0.5, 9, -0.1)],
            "nothing changed beyond the peers': of 2 measures, held against 8 to 11 other nodes, none has a z beyond"
            f" 3.5 (furthest, at 3.5: {STAYED})",
        ),
        (
            [("mem", 0.5, 0.50004, 0.5, 0.5, 12, -8.1), ("gpu_util", 0.9, 0.2, 0.9, 0.9, 12, -5.0)],
            "gpu_util went from 90.0 % to 20.0 %, that of the median node at 90.0 % (z = -5.0 among 12 nodes)",
        ),
        (
            [("mem", 0.5, 0.50004, 0.5, 0.5, 12, -8.1)],
            "nothing changed beyond the peers': of 1 measure, held against 11 other nodes, none with a z beyond 3.5"
            " changed in the digits said (furthest, at -8.1: mem stayed at 50.0 %, that of the median node at 50.0 %)",
        ),
        ([("mem", 0.5, 0.9, 0.5, 0.5, 7, None)], "no measure can be held against the peers'"),
        ([("mem", 0.5, None, 0.5, 0.5, 40, None)], "the node has no samples after it, while its peers have"),
        (
            [("mem", 0.5, 0.5, 0.5, 0.5, 12, None), ("gpu_util", 0.9, None, 0.9, 0.9, 12, None)],
            "gpu_util of the node ended with it, while its peers have samples; nothing changed beyond the peers': of 1"
            " measure, held against 11 other nodes, none has a z beyond 3.5, as all nodes changed alike",
        ),
        ([], "no measure can be held against the peers'"),
    ],
)
def test_the_clause_says_what_was_compared(
    rows: list[tuple[str, float | None, float | None, float, float, int, float | None]], said: str
) -> None:
    assert node_changes.sentence(_rows(*rows)) == said
