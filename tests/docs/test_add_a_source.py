"""The page on adding a source: its example runs, gives what it says, and names what exists."""

import importlib.util
import re
import textwrap
from pathlib import Path
from types import ModuleType

import pytest

from gangline.sources.records import SCHEMAS, SESSION_RECORDS
from tests.sources.reading import Reading, read_file

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "add-a-source.md").read_text(encoding="utf-8")
COLUMNS = ("session_id", "job_name", "nodes", "gpu_count", "started_at", "ended_at", "state_key")


def block(marker: str) -> str:
    found = re.search(rf"<!-- {re.escape(marker)} -->\n *```\w+\n(.*?)```", PAGE, re.DOTALL)
    assert found, marker
    return textwrap.dedent(found[1])


@pytest.fixture
def reading(tmp_path: Path) -> Reading:
    """The page's file, read by the page's module."""
    for name in ("yard.py", "yard.jsonl"):
        (tmp_path / name).write_text(block(f"file: {name}"), encoding="utf-8")
    return read_file(module_at(tmp_path / "yard.py"), tmp_path / "yard.jsonl")


def module_at(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def shown(value: object) -> str:
    if value is None:
        return "null"
    return f"{value:%Y-%m-%d %H:%M}" if hasattr(value, "year") else str(value).replace(", ", ",")


def test_the_example_gives_what_the_page_says(reading: Reading) -> None:
    header, *lines = (re.split(r" {2,}", line.strip()) for line in block("result").splitlines())
    assert tuple(header) == COLUMNS
    assert [[shown(row[column]) for column in COLUMNS] for row in reading.rows(SESSION_RECORDS)] == lines


def test_the_example_rejects_what_the_page_says(reading: Reading) -> None:
    assert (reading.log.records, reading.log.loaded, reading.log.rejected) == (4, 3, 1)
    assert [reject.line for reject in reading.log.rejects] == [4]
    assert "gpu[01-" in reading.log.rejects[0].reason


def test_its_seed_rows_fit_the_seed_and_map_every_word(reading: Reading) -> None:
    header, *rows = block("file: end_reasons.csv").splitlines()
    seed = (ROOT / "sql" / "seeds" / "end_reasons.csv").read_text(encoding="utf-8")
    assert header == seed.splitlines()[0]
    words = {row["state_key"] for row in reading.rows(SESSION_RECORDS)}
    assert {row.split(",")[1] for row in rows} == words


def test_every_file_and_table_it_names_exists() -> None:
    paths = re.findall(r"`((?:lib|sql|tests)/[\w/.]+\.(?:py|csv))`", PAGE)
    assert len(paths) >= 4
    assert [path for path in paths if not (ROOT / path).is_file()] == []
    modules = re.findall(r"`(kubernetes_\w+\.py)`", PAGE)
    assert len(modules) == 5
    assert [name for name in modules if not (ROOT / "lib" / "gangline" / "sources" / name).is_file()] == []
    assert set(re.findall(r"`(\w+_records)`", PAGE)) <= SCHEMAS.keys()


def test_the_example_survives_what_no_scheduler_writes(tmp_path: Path) -> None:
    (tmp_path / "yard.py").write_text(block("file: yard.py"), encoding="utf-8")
    odd = '{}\n[]\n{"id": 1, "name": ["a"], "gpus": "many", "hosts": 7}\n{"id": 2, "queued": "soon"}\n{"id": 3'
    (tmp_path / "yard.jsonl").write_text(odd, encoding="utf-8")
    reading = read_file(module_at(tmp_path / "yard.py"), tmp_path / "yard.jsonl")
    assert [(row["session_id"], row["job_name"], row["nodes"]) for row in reading.rows(SESSION_RECORDS)] == [
        ("1", "['a']", ["7"])
    ]
    assert [reject.line for reject in reading.log.rejects] == [1, 4, 5]
