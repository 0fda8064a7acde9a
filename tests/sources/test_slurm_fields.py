"""Slurm's states, durations, TRES and times."""

import csv
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from gangline.sources.clocks import ImpossibleTimeError
from gangline.sources.records import SourceRefusedError
from gangline.sources.slurm_fields import (
    OPEN_STATES,
    STATES,
    Gpus,
    RecordError,
    TimeReader,
    Times,
    gpus_of,
    limit_min,
    span_s,
    state_key,
    state_of_flags,
)
from gangline.sources.slurm_submissions import excluded_nodes
from gangline.vocabulary import EndReason

SEED = Path(__file__).parents[2] / "sql" / "seeds" / "end_reasons.csv"
UTC_TIMES = TimeReader(ZoneInfo("UTC"))
NEW_YORK_TIMES = TimeReader(ZoneInfo("America/New_York"))


def seed_rows(source: str) -> dict[str, dict[str, str]]:
    """The seed's rows of one source, by state."""
    with SEED.open() as lines:
        return {row["state_key"]: row for row in csv.DictReader(lines) if row["source"] == source}


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("COMPLETED", "COMPLETED"),
        ("CANCELLED by 54321", "CANCELLED"),
        ("CANCELLED by 0", "CANCELLED"),
        ("CANCELLED+", "CANCELLED"),
        ("OUT_OF_ME+", "OUT_OF_MEMORY"),
        ("NODE_FAIL+", "NODE_FAIL"),
        ("COMPLET+", "COMPLET+"),
        ("RE+", "RE+"),
        ("WARMING", "WARMING"),
    ],
)
def test_a_state_is_its_first_word(text: str, key: str) -> None:
    assert state_key(text) == key


@pytest.mark.parametrize(
    ("words", "key"),
    [
        (["RUNNING", "COMPLETING"], "RUNNING"),
        (["FAILED", "LAUNCH_FAILED"], "LAUNCH_FAILED"),
        (["PENDING", "REQUEUED"], "REQUEUED"),
        (["COMPLETING"], "COMPLETING"),
        (["WARMING"], "WARMING"),
    ],
)
def test_flags_decide_only_where_they_change_the_end(words: list[str], key: str) -> None:
    assert state_of_flags(words) == key


def test_the_seed_maps_every_state_and_no_other() -> None:
    assert set(seed_rows("slurm")) == STATES
    assert set(seed_rows("sessions_csv")) == {reason.value for reason in EndReason}
    for source in ("slurm", "sessions_csv"):
        for row in seed_rows(source).values():
            assert {row["end_reason"], row["end_reason_unstarted"]} <= {reason.value for reason in EndReason}


def test_the_seed_agrees_with_the_reader_about_what_is_open() -> None:
    is_open = {state for state, row in seed_rows("slurm").items() if row["is_terminal"] == "false"}
    assert is_open == OPEN_STATES


@pytest.mark.parametrize(
    ("state", "started", "unstarted", "terminal"),
    [
        ("REQUEUED", "preempted", "never_started", "true"),
        ("CANCELLED", "killed", "never_started", "true"),
        ("DEADLINE", "timeout", "never_started", "true"),
        ("BOOT_FAIL", "node_fail", "never_started", "true"),
        ("LAUNCH_FAILED", "node_fail", "never_started", "true"),
        ("SUSPENDED", "running", "unknown", "false"),
        ("PENDING", "unknown", "never_started", "false"),
    ],
)
def test_the_end_reasons_that_analyses_0_names(state: str, started: str, unstarted: str, terminal: str) -> None:
    row = seed_rows("slurm")[state]
    assert (row["end_reason"], row["end_reason_unstarted"], row["is_terminal"]) == (started, unstarted, terminal)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("00:01:11", 71.0),
        ("1-00:00:00", 86_400.0),
        ("8371-10:29:20", 723_292_160.0),
        ("00:00.038", 0.038),
        ("01:02:03.5", 3723.5),
        ("UNLIMITED", None),
        ("Partition_Limit", None),
        ("INVALID", None),
        ("", None),
    ],
)
def test_durations(text: str, seconds: float | None) -> None:
    assert span_s(text) == seconds


@pytest.mark.parametrize(
    ("text", "raw", "minutes"),
    [
        ("7-00:00:00", "10080", 10_080.0),
        ("00:01:00", "", 1.0),
        ("", "90", 90.0),
        ("UNLIMITED", "UNLIMITED", None),
        ("Partition_Limit", "", None),
        ("", "4294967295", None),
        ("", "", None),
    ],
)
def test_time_limits(text: str, raw: str, minutes: float | None) -> None:
    assert limit_min(text, raw) == minutes


@pytest.mark.parametrize(
    ("tres", "gpus"),
    [
        ("billing=3,cpu=3,gres/gpu:h100=24,gres/gpu=24,node=3", Gpus(24.0, "h100")),
        ("billing=97,cpu=1,gres/gpu=8,mem=64G,node=1", Gpus(8.0, None)),
        ("cpu=1,gres/gpu:a100=4,gres/gpu:h100=8", Gpus(12.0, None)),
        ("cpu=1,gres/gpu:a100=4,gres/gpu:h100=8,gres/gpu=12", Gpus(12.0, None)),
        ("cpu=1,gres/gpumem=80G,node=1", Gpus(0.0, None)),
        ("cpu=1,mem=4G", Gpus(0.0, None)),
        ("gpu:h100:8(S:0-1)", Gpus(8.0, "h100")),
        ("gpu:8", Gpus(8.0, None)),
    ],
)
def test_gpus_are_counted_once(tres: str, gpus: Gpus) -> None:
    assert gpus_of(tres) == gpus


def test_times_are_local_or_epoch() -> None:
    local = ("2026-11-29T17:17:41", "2026-11-29T17:17:45", "2026-11-29T17:17:48")
    assert UTC_TIMES.read(*local) == Times(1795972661, 1795972665, 1795972668)
    assert NEW_YORK_TIMES.read(*local) == Times(1795990661, 1795990665, 1795990668)
    assert NEW_YORK_TIMES.read("1795972661", "Unknown", "None") == Times(1795972661, None, None)
    assert NEW_YORK_TIMES.read("2026-11-29T17:17:41Z", "", "") == Times(1795972661, None, None)


def test_dst_fall_back_goes_by_order_and_elapsed() -> None:
    submit, start = "2026-11-01T00:30:00", "2026-11-01T00:50:00"
    end = "2026-11-01T01:50:00"
    assert NEW_YORK_TIMES.read(submit, start, end, "02:00:00") == Times(1793507400, 1793508600, 1793515800, True)
    assert NEW_YORK_TIMES.read(submit, start, end, "01:00:00") == Times(1793507400, 1793508600, 1793512200, True)
    assert NEW_YORK_TIMES.read(submit, start, end, "3600") == Times(1793507400, 1793508600, 1793512200, True)
    assert NEW_YORK_TIMES.read(submit, start, end, "01:30:00", "00:30:00").ended == 1793515800  # suspended in between
    assert NEW_YORK_TIMES.read(submit, start, end) == Times(1793507400, 1793508600, 1793512200, True)
    assert NEW_YORK_TIMES.read("2026-11-01T05:00:00", "Unknown", "Unknown").is_ambiguous is False


def test_impossible_zero_and_dateless_times_are_refused() -> None:
    with pytest.raises(ImpossibleTimeError, match="2026-03-08T02:30:00"):
        NEW_YORK_TIMES.read("2026-03-08T02:30:00", "", "")
    with pytest.raises(RecordError, match="zero"):
        UTC_TIMES.read("0", "", "")
    with pytest.raises(RecordError, match="zero"):
        NEW_YORK_TIMES.read("1969-12-31T19:00:00", "", "")
    with pytest.raises(RecordError, match="no time"):
        UTC_TIMES.read("2026-02-30T00:00:00", "", "")
    with pytest.raises(SourceRefusedError, match="SLURM_TIME_FORMAT"):
        UTC_TIMES.read("17:17:41", "", "")


@pytest.mark.parametrize(
    ("line", "nodes"),
    [
        ("sbatch --exclude=gpu[007-008] a.sh", ("gpu007", "gpu008")),
        ("sbatch --exclude gpu007,gpu009 a.sh", ("gpu007", "gpu009")),
        ("sbatch -x gpu007 a.sh", ("gpu007",)),
        ("srun -N 3 -xgpu007 -l hostname", ("gpu007",)),
        ("sbatch --parsable -N3 --gres gpu:8 -x gpu007 a.sh", ("gpu007",)),
        ("sbatch --exclusive -x gpu007 a.sh", ("gpu007",)),
        ("sbatch a.sh -x gpu007", None),
        ("sbatch -J x-x a.sh --exclude=gpu007", None),
        ("sbatch -J 'it is' -x gpu007 a.sh", ("gpu007",)),
        ("sbatch --comment=it's -x gpu007 a.sh", ("gpu007",)),
        ("sbatch -x", ()),
        ("sbatch a.sh", None),
        ("", None),
    ],
)
def test_nodes_that_a_submit_line_excludes(line: str, nodes: tuple[str, ...] | None) -> None:
    assert excluded_nodes(line) == nodes
