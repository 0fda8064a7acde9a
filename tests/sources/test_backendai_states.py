"""Statuses and reasons of all versions, and lives read from histories."""

import csv
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from gangline.sources.backendai_life import Life, Times, Visit, life_of, sorted_visits, visits_of
from gangline.sources.backendai_states import (
    CONTROL_PLANE_PREFIX,
    CONTROL_PLANE_REASONS,
    DECISIVE_REASONS,
    OTHER_REASONS,
    STATUSES,
    UNKNOWN_ENDED_KEY,
    UNKNOWN_KEY,
    log_unknown,
    reason_of,
    state_key_of,
    status_of,
)
from gangline.sources.records import ReadLog

UTC_ZONE = ZoneInfo("UTC")
SEED = Path(__file__).parents[2] / "sql" / "seeds" / "end_reasons.csv"


def at(minutes: float) -> datetime:
    return datetime(2026, 3, 2, 12, tzinfo=UTC) + timedelta(minutes=minutes)


def life(
    status: str,
    history: dict[str, float],
    *,
    starts: float | None = None,
    terminated: float | None = None,
    changed: float | None = None,
    log: ReadLog | None = None,
) -> tuple[float | None, float | None, bool | None]:
    """Start, end (minutes) and has_started."""
    times = Times(*(None if minutes is None else at(minutes) for minutes in (starts, terminated, changed)))
    visits = sorted_visits(Visit(at(minutes), name) for name, minutes in history.items())
    found: Life = life_of(status, visits, times, log or ReadLog(), 1)
    bounds = [
        None if moment is None else (moment - at(0)) / timedelta(minutes=1)
        for moment in (found.started_at, found.ended_at)
    ]
    return bounds[0], bounds[1], found.has_started


class TestKeys:
    @pytest.mark.parametrize(
        ("status", "reason", "key"),
        [
            ("TERMINATED", "task-finished", "task-finished"),
            ("TERMINATED", "", "TERMINATED"),
            ("TERMINATED", "self-terminated", "self-terminated"),
            ("TERMINATED", "words of a later version", "TERMINATED"),
            ("CANCELLED", "user-requested", "user-requested"),
            ("ERROR", "failed-to-create", "ERROR"),
            ("ERROR", "agent-lost", "agent-lost"),
            ("ERROR", "", "ERROR"),
            ("PENDING", "no-available-instances", "PENDING"),
            ("TERMINATING", "user-requested", "TERMINATING"),
            ("RUNNING_DEGRADED", "", "RUNNING_DEGRADED"),
            ("HIBERNATED", "", UNKNOWN_KEY),
        ],
    )
    def test_key(self, status: str, reason: str, key: str) -> None:
        assert state_key_of(status, reason, has_ended=False) == key

    @pytest.mark.parametrize("reason", ["stale-kernel", "resuming-agent-operation", "agent-restart"])
    def test_control_plane_ends_are_no_hardware_ends(self, reason: str) -> None:
        for status in ("TERMINATED", "ERROR"):
            assert state_key_of(status, reason, has_ended=True) == f"control-plane/{reason}"

    def test_an_unknown_status_that_ended(self) -> None:
        assert state_key_of("ARCHIVED", "task-finished", has_ended=True) == UNKNOWN_ENDED_KEY

    def test_spellings(self) -> None:
        assert [status_of(text) for text in ("running", "SessionStatus.RUNNING", " running-degraded ", None)] == [
            "RUNNING",
            "RUNNING",
            "RUNNING_DEGRADED",
            "",
        ]
        assert [reason_of(text) for text in ("STALE_KERNEL", "task-failed", None)] == [
            "stale-kernel",
            "task-failed",
            "",
        ]

    def test_unknown_words_are_counted(self) -> None:
        log = ReadLog()
        for status, reason in (("HIBERNATED", ""), ("TERMINATED", "moon-phase"), ("PENDING", "moon-phase")):
            log_unknown(status, reason, log, 7)
        assert log.oddities == {"unknown_status": (1, 7), "unknown_status_info": (1, 7)}

    def test_no_reason_in_two_lists(self) -> None:
        assert not DECISIVE_REASONS & OTHER_REASONS
        assert not CONTROL_PLANE_REASONS & (DECISIVE_REASONS | OTHER_REASONS)

    def test_the_seed_table_maps_every_key(self) -> None:
        with SEED.open() as rows:
            mapped = {row["state_key"] for row in csv.DictReader(rows) if row["source"] == "backendai"}
        prefixed = {CONTROL_PLANE_PREFIX + reason for reason in CONTROL_PLANE_REASONS}
        keys = {*STATUSES, *DECISIVE_REASONS, *OTHER_REASONS, *prefixed, UNKNOWN_KEY, UNKNOWN_ENDED_KEY}
        assert mapped == keys


class TestHistory:
    def test_by_time_not_by_order_of_keys(self) -> None:
        """lablup/backend.ai#4518: RUNNING stands before CREATING in the object; it waited 2.948902 s."""
        text = (
            '{"RUNNING": "2025-05-22T02:11:59.551399+00:00", "PENDING": "2025-05-22T02:11:56.602497+00:00",'
            ' "CREATING": "2025-05-22T02:11:58.1+00:00", "PREPARING": "2025-05-22T02:11:57.9+00:00"}'
        )
        visits = visits_of(text, UTC_ZONE, ReadLog(), 1)
        assert [visit.status for visit in visits] == ["PENDING", "PREPARING", "CREATING", "RUNNING"]
        assert (visits[-1].at - visits[0].at).total_seconds() == 2.948902

    def test_decoded_twice(self) -> None:
        text = '"{\\"PENDING\\": \\"2026-03-02T12:00:00Z\\"}"'
        assert visits_of(text, UTC_ZONE, ReadLog(), 1) == (Visit(at(0), "PENDING"),)

    def test_damaged_entries_cost_themselves(self) -> None:
        log = ReadLog()
        history = {"PENDING": "2026-03-02T12:00:00Z", "RUNNING": "soon", "ERROR": 12, "TERMINATED": None}
        assert visits_of(history, UTC_ZONE, log, 3) == (Visit(at(0), "PENDING"),)
        assert visits_of("{broken", UTC_ZONE, log, 4) == ()
        assert log.oddities == {"unreadable_status_history": (2, 3), "unreadable_json_cell": (1, 4)}

    @pytest.mark.parametrize("empty", [None, "", "{}", {}, [], "null"])
    def test_nothing(self, empty: object) -> None:
        assert visits_of(empty, UTC_ZONE, ReadLog(), 1) == ()


class TestLife:
    def test_plain(self) -> None:
        history = {"PENDING": 0, "SCHEDULED": 1, "CREATING": 2, "RUNNING": 3, "TERMINATING": 9, "TERMINATED": 10}
        assert life("TERMINATED", history, starts=3, terminated=10) == (3, 10, True)

    def test_reserved_start_is_no_start(self) -> None:
        """Older managers keep the wanted time of a reservation in starts_at."""
        assert life("CANCELLED", {"PENDING": 0, "CANCELLED": 5}, starts=60, terminated=5) == (None, 5, False)
        assert life("PENDING", {"PENDING": 0}, starts=60) == (None, None, False)
        assert life("PENDING", {}, starts=60) == (None, None, False)
        assert life("TERMINATED", {"PENDING": 0, "RUNNING": 70, "TERMINATED": 90}, starts=60) == (70, 90, True)

    def test_start_without_running_in_the_history(self) -> None:
        log = ReadLog()
        assert life("TERMINATED", {"PENDING": 0, "TERMINATED": 9}, starts=2, terminated=9, log=log) == (2, 9, True)
        assert log.oddities == {"start_without_running_in_history": (1, 1)}

    def test_rescheduled_the_later_visit_overwrites(self) -> None:
        history = {"PREEMPTED": 40, "RESCHEDULING": 41, "PENDING": 42, "SCHEDULED": 43, "RUNNING": 45}
        assert life("RUNNING", history, starts=45) == (45, None, True)

    def test_back_in_the_queue_runs_no_longer(self) -> None:
        assert life("PENDING", {"RUNNING": 3, "PREEMPTED": 40, "PENDING": 42}) == (None, None, True)

    def test_found_again_after_a_lost_node(self) -> None:
        """RUNNING is entered anew after RUNNING_DEGRADED or a restart: the allocation is older."""
        history = {"PENDING": 0, "CREATING": 2, "RUNNING_DEGRADED": 30, "RUNNING": 35}
        assert life("RUNNING", history, starts=3) == (3, None, True)
        assert life("RUNNING", history) == (30, None, True)

    def test_clocks_that_disagree(self) -> None:
        """CREATING is stamped by the agent, a moment after RUNNING by the manager."""
        assert life("RUNNING", {"PENDING": 0, "RUNNING": 3, "CREATING": 3.01}) == (3, None, True)

    def test_error_without_end(self) -> None:
        """ERROR keeps no terminated_at in some versions (lablup/backend.ai#4385)."""
        assert life("ERROR", {"PENDING": 0, "RUNNING": 3, "ERROR": 8}) == (3, 8, True)
        assert life("ERROR", {}, changed=8) == (None, 8, None)
        assert life("ERROR", {}) == (None, None, None)

    def test_error_that_was_terminated_later(self) -> None:
        history = {"PENDING": 0, "RUNNING": 3, "ERROR": 8, "TERMINATED": 9}
        assert life("TERMINATED", history, terminated=9) == (3, 9, True)

    def test_stuck_terminating_has_no_end_of_its_own(self) -> None:
        """lablup/backend.ai#12317: its kernels' ends are the end, if any are known."""
        assert life("TERMINATING", {"PENDING": 0, "RUNNING": 3, "TERMINATING": 8}, changed=8) == (3, None, True)

    def test_a_running_session_has_no_end(self) -> None:
        assert life("RUNNING", {"PENDING": 50, "RUNNING": 60}, terminated=40) == (60, None, True)

    def test_without_history(self) -> None:
        assert life("RUNNING", {}, changed=4) == (4, None, True)
        assert life("RUNNING_DEGRADED", {}, changed=4) == (None, None, True)
        assert life("TERMINATED", {}, changed=4) == (None, 4, None)
        assert life("TERMINATED", {}, starts=1, terminated=4) == (1, 4, True)
        assert life("CANCELLED", {}, changed=4) == (None, 4, False)
        assert life("", {}) == (None, None, None)

    def test_end_before_start_is_counted(self) -> None:
        log = ReadLog()
        assert life("TERMINATED", {"RUNNING": 9, "TERMINATED": 5}, terminated=5, log=log) == (9, 5, True)
        assert log.oddities == {"end_before_start": (1, 1)}
