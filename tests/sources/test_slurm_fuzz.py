"""Hostile text in sacct exports: a record comes back as it was written, or is refused; none is lost or shifted."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from gangline.sources import slurm
from tests.sources.reading import read_file

LAYOUTS = [
    "JobIDRaw|JobName|Partition|State|Submit|Start|End|NodeList",
    "JobName|JobIDRaw|State|Submit|Start|End|NodeList|Partition",
    "JobIDRaw|State|Submit|Start|End|NodeList|Partition|JobName",
    "JobIDRaw|Partition|State|Submit|Start|End|NodeList|JobName|QOS",
    "JobIDRaw|JobName|Comment|State|Submit|Start|End|NodeList|Partition",
    "JobIDRaw|Partition|JobName|State|Submit|Start|End|NodeList|Comment",
    "JobName|JobIDRaw|State|Submit|Start|End|NodeList|Partition|Comment",
]
HOSTILE = ["|", "\n", '"', "'", "\\", "😀", "가", "\r", "\t", ",", " ", "\x00", "\x85", "7", "x", "gpu001", "COMPLETED"]
WHOLE = ["2026-01-01T00:00:00", "9|", "None", "Unknown", "8.batch", "|".join("9gCSSSgp"), "JobIDRaw|JobName", "cpu=1"]
TEXTS = st.one_of(
    st.lists(st.sampled_from(HOSTILE + WHOLE), max_size=12).map("".join),
    st.text(max_size=20),
).filter(lambda text: text.isprintable() or text.encode("utf-8", "ignore").decode() == text)
RECORDS = st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=5)


def rendered(records: list[tuple[str, str]], columns: list[str], delimiter: str, trailing: bool) -> str:
    """The export that sacct would print, which escapes nothing."""
    rows = [columns, *(values_of(number, texts, columns) for number, texts in enumerate(records, start=1))]
    return "".join(delimiter.join(row) + (delimiter if trailing else "") + "\n" for row in rows)


def values_of(number: int, texts: tuple[str, str], columns: list[str]) -> list[str]:
    """One job's fields."""
    values = {
        "JobIDRaw": str(100 + number), "JobName": texts[0], "Comment": texts[1], "Partition": "gpu", "QOS": "normal",
        "State": "COMPLETED", "Submit": f"2026-03-02T10:00:0{number}", "Start": "2026-03-02T10:01:00",
        "End": "2026-03-02T11:00:00", "NodeList": f"gpu[001-00{number + 1}]",
    }  # fmt: skip
    return [values[column] for column in columns]


@pytest.mark.parametrize("columns", LAYOUTS)
@given(records=RECORDS, delimiter=st.sampled_from(["|", "^|^", ";"]), trailing=st.booleans())
@example(records=[("x\n7|y", ""), ("b", "")], delimiter="|", trailing=False)
@example(records=[("a|gpu\nb", ""), ("c", "")], delimiter="|", trailing=False)
@example(records=[("", ""), ("a\nb", "c\nd")], delimiter="|", trailing=False)
@example(records=[("n" * 10_000, ""), ("\n" * 100 + "|" * 100, "")], delimiter="|", trailing=True)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_record_comes_back_as_written_or_refused(
    columns: str, records: list[tuple[str, str]], delimiter: str, trailing: bool
) -> None:
    names = columns.split("|")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sacct.txt"
        path.write_bytes(rendered(records, names, delimiter, trailing).encode())
        reading = read_file(slurm, path, delimiter=delimiter)
    written = {str(100 + number): (texts[0].strip() or None, number) for number, texts in enumerate(records, start=1)}
    for row in reading.rows("session_records"):
        name, number = written[str(row["bare_id"])]
        assert row["job_name"] == name
        assert row["created_at"].second == number  # type: ignore[attr-defined]
        assert len(row["nodes"]) == number + 1  # type: ignore[arg-type]
        assert row["partition"] == "gpu"
    assert reading.log.loaded == len(records) or reading.log.rejected
