"""What every page says at its top about its window and the export."""

from pathlib import Path
from typing import Any

import pytest

from gangline.config import Config
from gangline.estimates import Estimate
from gangline.report import opening, outputs

FROM_TO = "its records go from 2025-09-01 09:10 to 2025-11-13 06:00"


@pytest.mark.parametrize(
    ("start", "end", "said"),
    [
        ("2025-11-13T06:00", "2025-11-20", "<strong>The export holds nothing of this window</strong>: " + FROM_TO),
        ("2025-11-14", "2025-11-21", "<strong>The export holds nothing of this window</strong>: " + FROM_TO),
        ("2025-08-20", "2025-08-27", "<strong>The export holds nothing of this window</strong>: " + FROM_TO),
        ("2025-11-10", "2025-11-17", "<strong>The export covers a part of this window</strong>: " + FROM_TO),
        ("2025-08-30", "2025-09-06", "<strong>The export covers a part of this window</strong>: " + FROM_TO),
        ("2025-09-01", "2025-11-14", None),
        ("2025-10-06", "2025-10-13", None),
        ("", "", None),
    ],
)
def test_a_window_that_the_export_does_not_cover_says_so(
    orion: Config, stored: Path, shown: list[dict[str, Any]], start: str, end: str, said: str | None
) -> None:
    """A quiet night at the export's edge is no gap; a zero beyond it is no count."""
    page = opening.open_page(str(orion.path), start, end, notebook="04_incidents")
    page.con.close()
    banners = [bundle[outputs.BANNER]["text"] for bundle in shown if outputs.BANNER in bundle]
    assert [text.startswith(said or "") for text in banners] == ([] if said is None else [True])


def test_a_window_before_that_lies_after_the_export_is_not_known(
    orion: Config, stored: Path, shown: list[dict[str, Any]]
) -> None:
    page = opening.open_page(str(orion.path), "2025-12-08", "2025-12-15", notebook="04_incidents")
    page.measure(lambda con, window: {"incidents.count": Estimate(0.0, "incidents", 0)})
    page.con.close()
    (left,) = [bundle[outputs.FIGURES]["figures"] for bundle in shown if outputs.FIGURES in bundle]
    assert left[0]["previous"] is None
