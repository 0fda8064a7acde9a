"""What the quality page counts: damage with its place, words that nothing maps, files that go, days not covered."""

import re
from datetime import UTC, datetime

import pytest

from gangline import quality
from gangline.config import Config
from gangline.oddities import NOT_DESCRIBED, ODDITIES, meaning_of
from gangline.warehouse import connect
from gangline.windows import Window
from tests.conftest import ROOT
from tests.fleets import sample, written

LOGGED = re.compile(r"\.odd\(\s*\"([a-z_]+)\"")
SOURCES = '[[sources]]\nkind = "{}"\npath = "{}"\n'
HEAD = ["session_id", "job_name", "owner", "nodes", "started_at", "ended_at", "end_reason"]
SESSIONS = [
    HEAD,
    ["a", "train", "ana", "n1", "2026-03-01T00:00Z", "2026-03-01T05:00Z", "completed"],
    ["b", "train", "ana", "n1", "2026-03-03T00:00Z", "2026-03-03T05:00Z", "evaporated"],
    ["c", "train", "ana", "n1", "2026-03-04T00:00Z", "2026-03-03T05:00Z", "completed"],
]


@pytest.fixture(scope="module")
def damaged() -> Config:
    """One record that cannot be read, a word that nothing maps, a source without a file, an empty file of incidents."""
    toml = SOURCES.format("sessions_csv", "sessions.csv") + SOURCES.format("incidents", "nothing/*.csv")
    return written("damaged", toml, sessions=SESSIONS)


def test_the_first_table_counts_each_topic(damaged: Config) -> None:
    with connect(damaged) as con:
        found = dict(quality.summary(con, damaged.folder).select("topic", "found").iter_rows())
        counts = quality.totals(con)
    assert found == {
        "Records that could not be read": 1,
        "Oddities": 1,
        "Checks that fail": 0,
        "Checks that warn": counts["warned"],
        "Words that no table maps": 1,
        "Files gone or changed since": 0,
        "Sources without a file": 1,
    }
    assert counts["records"] == counts["loaded"] + counts["ignored"] + counts["rejected"] == 3
    assert quality.case(counts) == "damaged"


def test_rejects_name_file_and_line(damaged: Config) -> None:
    with connect(damaged) as con:
        ((place, reason, text),) = quality.rejects(con).rows()
    assert place == "sessions.csv:4"
    assert "is before started_at" in reason
    assert text.startswith("c,train")


def test_words_that_nothing_maps_and_oddities_name_their_mend(damaged: Config) -> None:
    with connect(damaged) as con:
        assert quality.unmapped(con).select("source", "word", "rows").rows() == [("sessions_csv", "evaporated", 1)]
        ((kind, first_place, meaning),) = quality.oddities(con).select("kind", "first_place", "meaning").rows()
        broken = quality.broken_checks(con)
        assert quality.fileless(con).rows() == [("incidents", "nothing/*.csv")]
    assert (kind, first_place) == ("unmapped_state", "sessions.csv:3")
    assert meaning == ODDITIES["unmapped_state"].meaning
    assert ("warns", 1) in broken.filter(check="states_are_known").select("result", "failing_rows").rows()


def test_coverage_is_by_local_day_and_of_the_window(damaged: Config) -> None:
    window = Window.between("2026-03-01", "2026-03-04", "UTC")
    with connect(damaged) as con:
        rows = quality.coverage(con, window).select("source", "day", "events", "day_share").rows()
        seoul = quality.coverage(con, Window.between("2026-03-02", "2026-03-05", "Asia/Seoul"))
        none = quality.coverage(con, Window.between("2025-03-02", "2025-03-05", "UTC"))
    assert [(source, day.isoformat(), events, share) for source, day, events, share in rows] == [
        ("sessions_csv", "2026-03-01", 2, 1.0),
        ("sessions_csv", "2026-03-03", 2, 1.0),
    ]
    assert [day.isoformat() for day in seoul["day"]] == ["2026-03-03"]
    assert none.is_empty()
    assert quality.midnights(window) == (datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 3, 4, tzinfo=UTC))


def test_long_windows_go_by_several_days() -> None:
    assert quality.step_days(Window.between("2026-03-01", "2026-03-08", "UTC")) == 1
    assert quality.step_days(Window.between("2010-01-01", "2026-01-01", "UTC")) == 8


def test_a_file_that_goes_or_changes_is_named() -> None:
    config = written("leaving", SOURCES.format("sessions_csv", "*.csv"), sessions=SESSIONS, more=SESSIONS[:2])
    (config.folder / "more.csv").unlink()
    with (config.folder / "sessions.csv").open("a") as stream:
        stream.write("\n")
    with connect(config) as con:
        changed = dict(quality.changed_files(con, config.folder).select("path", "change").iter_rows())
    assert changed == {"more.csv": "gone", "sessions.csv": "changed since it was read"}


def test_nothing_read_is_said() -> None:
    config = written("bare", "")
    with connect(config) as con:
        assert quality.case(quality.totals(con)) == "nothing"
        assert quality.summary(con, config.folder)["mend"].to_list() == ["–"] * 7
        assert quality.files(con).is_empty()


def test_the_sample_has_rejects_of_both_files() -> None:
    with connect(sample()) as con:
        places = quality.rejects(con)["place"].to_list()
        assert quality.ignored(con).rows() == [("slurm", "step", 361), ("slurm_events", "cluster_event", 1)]
    assert places == ["incidents.csv:13", "sacct.txt:288"]


def test_every_oddity_that_a_source_logs_is_described() -> None:
    logged = {
        kind
        for path in (ROOT / "lib" / "gangline" / "sources").glob("*.py")
        for kind in LOGGED.findall(path.read_text("utf-8"))
    }
    assert {kind for kind in logged if meaning_of(kind) is NOT_DESCRIBED} == set()
    assert meaning_of("never_heard_of") is NOT_DESCRIBED
    assert all(text.endswith(".") for words in ODDITIES.values() for text in words)
