"""The story as a whole, and as Markdown."""

import duckdb
import pytest

from gangline.config import Config
from gangline.estimates import Estimate
from gangline.postmortem import SubjectError, story
from gangline.report.wiki import escaped, write
from tests.postmortem.conftest import FAULTY


@pytest.mark.parametrize(
    ("named", "case"),
    [
        ({"session": "a"}, "end"),
        ({"node": "n01", "at": "2026-03-01T05:00Z"}, "inside"),
        ({"incident": "node:8"}, "alone"),
    ],
)
def test_which_sentence_fits(con: duckdb.DuckDBPyConnection, lynx: Config, named: dict[str, str], case: str) -> None:
    assert story(con, lynx, **named).case == case


def test_what_came_after_is_a_sentence_and_what_is_not_known_is_said(
    con: duckdb.DuckDBPyConnection, lynx: Config
) -> None:
    told = story(con, lynx, session="a")
    said = "Training was back after 2.5 h, with 1 attempt in vain; "
    assert told.aftermath() == f"{said}how much work was lost is not known."
    told.cost["lost"] = Estimate(1.5, "h", 1)
    assert told.aftermath() == f"{said}1.5 h of work was lost."
    alone = story(con, lynx, incident="node:8").aftermath()
    assert alone.startswith("How long training was down is not known (")
    assert alone.endswith("); how much work was lost is not known.")


def test_the_first_sign_is_near_and_on_a_node_of_the_session(con: duckdb.DuckDBPyConnection, lynx: Config) -> None:
    assert story(con, lynx, session="a").first_sign() == f"xid {_xid(con)} on {FAULTY}"
    for elsewhere in ({"session": "p"}, {"session": "c"}, {"node": FAULTY, "at": "2026-03-01T09:00Z"}):
        assert story(con, lynx, **elsewhere).first_sign() == "no log told of a fault"


def test_a_session_that_has_not_ended_is_said_to_run(con: duckdb.DuckDBPyConnection, lynx: Config) -> None:
    told = story(con, lynx, session="c")
    told.session["ended_at"] = None
    assert told.case == "running"


def _xid(con: duckdb.DuckDBPyConnection) -> str:
    return str(con.sql("select value from marts.events where kind = 'xid'").fetchall()[0][0])


def test_nothing_named_is_the_latest_end(con: duckdb.DuckDBPyConnection, lynx: Config) -> None:
    assert (story(con, lynx).subject.session_id or "").endswith("b")


def test_the_layers_are_of_the_node_at_fault(con: duckdb.DuckDBPyConnection, lynx: Config) -> None:
    told = story(con, lynx, session="a")
    assert told.node == FAULTY
    assert {layer.partition(" ")[0] for layer in told.layers["layer"]} == {"runnable", "dirty"}
    assert {"XID 79"} <= {name[:6] for name in told.marks["name"]}
    assert told.first_sign().startswith("xid 79")


def test_markdown_has_every_part_and_escapes_what_logs_say(con: duckdb.DuckDBPyConnection, lynx: Config) -> None:
    told = story(con, lynx, incident="node:8")
    text = write(told, {"causes": "## Root causes\n\nA cable."}, "It <stopped>.")
    assert "It \\<stopped\\>." in text
    assert "| Mark | Reached (UTC) | Reached (Asia/Seoul) | Since the mark before (min) | Why not known |" in text
    assert "A cable." in text
    assert "fan \\| \\<script\\>" in text
    for heading in ("Impact", "Resolution", "Timeline", "What was looked at", "Lessons", "Action items"):
        assert f"## {heading}" in text
    assert escaped("a\nb`c") == "a↵b\\`c"


def test_no_end_at_all_says_what_to_name(tmp_path) -> None:
    from gangline.config import load
    from gangline.ingest import ingest
    from gangline.warehouse import connect

    (tmp_path / "cluster.toml").write_text('[cluster]\nname = "none"\ntime_zone = "UTC"\n')
    config = load(tmp_path / "cluster.toml")
    ingest(config)
    with connect(config) as empty, pytest.raises(SubjectError, match="name a session, incident or node"):
        story(empty, config)
