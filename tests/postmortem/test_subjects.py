"""What a postmortem is about, however it is named."""

from datetime import UTC, datetime, timedelta

import duckdb
import pytest

from gangline.postmortem import Subject, SubjectError, find
from tests.postmortem.conftest import END, FAULTY

ZONE = "Asia/Seoul"


def _incident(con: duckdb.DuckDBPyConnection) -> str:
    return str(con.sql("select incident_id from marts.incidents").fetchall()[0][0])


def test_a_session_by_the_id_that_a_person_types(con: duckdb.DuckDBPyConnection) -> None:
    found = find(con, ZONE, session="a")
    assert (found.at, found.node, found.is_end) == (END, FAULTY, True)
    assert found.incident_id == _incident(con)
    assert found.restored_at == datetime(2026, 3, 1, 12, 30, tzinfo=UTC)


def test_an_incident_of_either_mart(con: duckdb.DuckDBPyConnection) -> None:
    found = find(con, ZONE, incident=_incident(con))
    assert (found.node, found.at) == (FAULTY, END - timedelta(minutes=2))
    assert found.session_id is not None
    filed = find(con, ZONE, incident="node:8")
    assert (filed.node, filed.session_id, filed.incident_id) == ("n03", None, "node:8")


def test_a_node_and_a_time_of_the_clusters_zone(con: duckdb.DuckDBPyConnection) -> None:
    found = find(con, ZONE, node=FAULTY, at="2026-03-01T19:01")
    assert found.at == END + timedelta(minutes=1)
    assert found.incident_id == _incident(con)
    assert find(con, ZONE, node=FAULTY, at="2026-03-01T10:01+00:00").at == found.at


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ({}, "name one thing"),
        ({"session": "a", "incident": "x"}, "name one thing"),
        ({"node": FAULTY}, "--node and --at go together"),
        ({"session": "zz"}, "no started session zz"),
        ({"incident": "node:9"}, "no incident node:9; did you mean node:"),
        ({"node": "n77", "at": "2026-03-01"}, "no node n77; did you mean n07"),
        ({"node": FAULTY, "at": "noon"}, "--at noon: write it as"),
        ({"node": FAULTY, "at": "0001-01-01T00:00"}, "no export reaches to the year 1"),
        ({"node": FAULTY, "at": "9999-12-31T23:59"}, "no export reaches to the year 9999"),
        ({"node": "n\nx", "at": "2026-03-01"}, r"no node n\\nx"),
        ({"session": "A" * 10_000}, "no started session AAAA"),
        ({"session": "'; drop table x --"}, "no started session"),
    ],
)
def test_what_is_not_there_is_one_line(con: duckdb.DuckDBPyConnection, named: dict[str, str], said: str) -> None:
    with pytest.raises(SubjectError, match=said.replace("(", "\\(")) as refused:
        find(con, ZONE, **named)
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 250


def test_the_page_covers_six_hours_before_to_two_after_training_is_back(con: duckdb.DuckDBPyConnection) -> None:
    window = find(con, ZONE, session="a").window(ZONE)
    assert (window.start, window.end) == (END - timedelta(hours=6), END + timedelta(hours=5))


def test_the_folders_name_is_safe(con: duckdb.DuckDBPyConnection) -> None:
    assert find(con, ZONE, session="a").slug == "2026-03-01T1000_a"


def test_no_two_subjects_share_a_folder(con: duckdb.DuckDBPyConnection) -> None:
    at = "2026-03-01T10:00Z"
    subjects = [
        find(con, ZONE, session="a"),
        find(con, ZONE, incident=_incident(con)),
        find(con, ZONE, node="n01", at=at),
        find(con, ZONE, node="n02", at=at),
        find(con, ZONE, node="n02", at="2026-03-01T10:00:30Z"),
        find(con, ZONE, node=FAULTY, at="2026-03-01T09:58Z"),
        *(Subject(END, named=(("session", name),)) for name in ("학습", "훈련", "a/b", "a.b", "a" * 61, "a" * 62)),
    ]
    assert len({subject.slug for subject in subjects}) == len(subjects)
    assert all(subject.slug.isascii() and "/" not in subject.slug for subject in subjects)


def test_a_subject_is_named_again_as_it_was_named_first(con: duckdb.DuckDBPyConnection) -> None:
    for named in ({"session": "a"}, {"incident": _incident(con)}, {"node": FAULTY, "at": "2026-03-01T19:01"}):
        found = find(con, ZONE, **named)
        assert find(con, ZONE, **dict(found.named)) == found
