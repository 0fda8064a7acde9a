"""Which entry says how a file is read."""

from pathlib import Path

import pytest

from gangline.config import load
from gangline.ingest import ingest
from gangline.ingest.finding import find_files, unheard
from tests.configs import cluster_head, source_entry

ALL, CSV = source_entry("prometheus", "raw/*"), source_entry("prometheus", "raw/*.csv") + 'format = "__name__"\n'
LATE = (
    "prometheus:raw/*.csv says how raw/b.csv is read, but prometheus:raw/* stands before it and names it too:"
    " put the narrower [[sources]] entry first"
)


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        (ALL + CSV, [LATE]),
        (CSV + ALL, []),  # the wide one has the rest
        (ALL + source_entry("prometheus", "raw/*.csv"), []),  # they say the same
        (ALL + source_entry("kernel_log", "raw/*.csv"), []),
        (ALL + source_entry("prometheus", "none/*") + CSV.replace("raw", "other"), []),
    ],
)
def test_an_entry_that_comes_too_late_is_told(tmp_path: Path, entries: str, said: list[str]) -> None:
    (tmp_path / "raw").mkdir()
    for name in ("a.txt", "b.csv"):
        (tmp_path / "raw" / name).write_text('up{instance="n1:1"} 1 1772323200000\n')
    (tmp_path / "cluster.toml").write_text(cluster_head("orion") + entries)
    config = load(tmp_path / "cluster.toml")
    assert [str(entry) for entry in unheard(find_files(config))] == said
    assert [str(entry) for entry in ingest(config, is_dry_run=True).unheard] == said
