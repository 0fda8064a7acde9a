"""CSV downloads: right for a machine, harmless in a spreadsheet, never too large for the page."""

import base64
import gzip
import re
from datetime import UTC, datetime

import polars as pl
import pytest

from gangline.report.downloads import MOST_PACKED_BYTES, csv_text, download, file_name


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx"])
def test_formulas_become_text(text: str) -> None:
    written = csv_text(pl.DataFrame({"node": [text], text: [1]}))
    assert written.replace('"', "").split(",")[0] == "node"
    assert f"'{text}" in written.partition("\n")[2]
    assert f"'{text}" in written.partition(",")[2]


def test_numbers_instants_and_lists() -> None:
    frame = pl.DataFrame(
        {"h": [-1.5], "at": [datetime(2025, 9, 1, 12, tzinfo=UTC)], "nodes": [["a", "b"]], "text": ['a "b", c\nd']}
    )
    assert csv_text(frame) == 'h,at,nodes,text\n-1.5,2025-09-01T12:00:00Z,a b,"a ""b"", c\nd"\n'


def test_a_small_file_is_plain() -> None:
    link = download(pl.DataFrame({"a": [1, 2]}), "rows")
    assert 'download="rows.csv"' in link
    content = re.search(r"base64,([^\"]+)", link)
    assert content is not None
    assert base64.b64decode(content[1]) == b"a\n1\n2\n"


def test_a_large_file_is_packed() -> None:
    frame = pl.DataFrame({"a": range(50_000)})
    link = download(frame, "rows")
    assert 'download="rows.csv.gz"' in link
    assert "data-packed" in link
    content = re.search(r"base64,([^\"]+)", link)
    assert content is not None
    assert gzip.decompress(base64.b64decode(content[1])).decode() == csv_text(frame)


def test_what_no_page_can_hold_is_cut_and_said() -> None:
    noise = pl.DataFrame({"a": pl.Series(range(200_000)).hash(seed=7)})
    link = download(noise, "rows")
    assert re.search(r"first [\d,]+ of 200,000 rows", link)
    assert len(link) < MOST_PACKED_BYTES * 4 / 3 + 500


def test_the_link_cannot_be_left() -> None:
    assert "<script" not in download(pl.DataFrame({"a": ["</a><script>"]}), '"><script>')
    assert file_name("08", "../../etc/passwd", "한국어") == "08-etc-passwd"
