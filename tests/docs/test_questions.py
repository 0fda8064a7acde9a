"""Every question of docs/questions.md is answered by its query, as a lab runs it."""

import re

import pytest

from gangline.lab import Lab, open_lab
from tests.conftest import ROOT
from tests.fleets import sample

TEXT = (ROOT / "docs" / "questions.md").read_text()
QUESTIONS = re.findall(r"^### (\d+)\. ([^\n]+\?)$(.*?)```sql\n(.*?)```", TEXT, re.MULTILINE | re.DOTALL)
NOT_IN_THE_SAMPLE = {"16", "17", "18", "19", "20"}  # it has no telemetry and no kernel logs


@pytest.fixture(scope="module")
def here():
    lab = open_lab(str(sample().path))
    yield lab
    lab.con.close()


def test_there_are_twenty_in_order() -> None:
    assert [number for number, *_ in QUESTIONS] == [str(number) for number in range(1, 21)]
    assert TEXT.count("### ") == len(QUESTIONS)


@pytest.mark.parametrize(("number", "question", "between", "query"), QUESTIONS, ids=[found[0] for found in QUESTIONS])
def test_the_query_answers(here: Lab, number: str, question: str, between: str, query: str) -> None:
    rows = here.sql(query)
    assert "###" not in between
    assert len(set(rows.columns)) == rows.width > 1, question
    assert rows.height or number in NOT_IN_THE_SAMPLE | {"3"}, question


def test_what_ran_at_an_instant(here: Lab) -> None:
    here.between("2026-03-10", "2026-03-11")
    (query,) = (query for number, _, _, query in QUESTIONS if number == "3")
    assert here.sql(query).height
    here.window = here.whole
