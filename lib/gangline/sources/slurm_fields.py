"""The values of Slurm's accounting: states, durations, TRES strings, and times in a client's local clock."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import NamedTuple
from zoneinfo import ZoneInfo

from gangline.sources.clocks import midnight_s, resolve
from gangline.sources.records import SourceRefusedError

BASE_STATES = (
    "PENDING RUNNING SUSPENDED COMPLETED CANCELLED FAILED TIMEOUT NODE_FAIL PREEMPTED BOOT_FAIL DEADLINE OUT_OF_MEMORY"
)
DECIDING_FLAGS = "LAUNCH_FAILED RECONFIG_FAIL SPECIAL_EXIT REQUEUE_HOLD REQUEUE_FED REQUEUED REVOKED RESV_DEL_HOLD"
PASSING_FLAGS = (
    "COMPLETING CONFIGURING EXPEDITING POWER_UP_NODE RESIZING SIGNALING STAGE_OUT STOPPED UPDATE_DB"  # work goes on
)
STATES = frozenset(f"{BASE_STATES} {DECIDING_FLAGS} {PASSING_FLAGS}".split())
OPEN_STATES = (
    frozenset(f"PENDING RUNNING SUSPENDED RESV_DEL_HOLD {PASSING_FLAGS}".split())
    - {"RESIZING"}  # a resize ends a record
)
REQUEUING_STATES = frozenset({"REQUEUED", "REQUEUE_HOLD", "SPECIAL_EXIT", "NODE_FAIL", "PREEMPTED", "BOOT_FAIL"})

NO_TIME = frozenset({"", "Unknown", "None", "N/A"})
FIRST_TIME_S = 31_536_000  # 1971: anything before is a zero that some clock shifted
LAST_TIME_S = 4_102_444_800  # 2100: one end in the year 9999 would keep every open session running till then
NO_VALUE = 4_294_967_294  # Slurm's NO_VAL; the one above it is INFINITE

_SPAN = re.compile(r"(?:(?P<days>\d+)-)?(?:(?P<hours>\d+):)?(?P<minutes>\d+):(?P<seconds>\d+(?:\.\d+)?)")
_GRES = re.compile(r"(?:gres/)?gpu(?::([^:=(]+))?[:=](\d+)")


class RecordError(ValueError):
    """A record that cannot be a session: why, in one line."""


class Gpus(NamedTuple):
    """GPUs of an allocation, and their model where all are of one."""

    total: float
    model: str | None


class Times(NamedTuple):
    """Epoch seconds of one record, null where not (yet) there."""

    submitted: int | None
    started: int | None
    ended: int | None
    is_ambiguous: bool = False


@lru_cache(maxsize=4096)
def state_key(text: str) -> str:
    """A state's word without what follows it; a word that fixed width cut (`OUT_OF_ME+`) is completed if only one fits.

    Examples
    --------
    >>> state_key("CANCELLED by 1001"), state_key("OUT_OF_ME+"), state_key("RE+")
    ('CANCELLED', 'OUT_OF_MEMORY', 'RE+')
    """
    word = text.split(" ", 1)[0]
    if word.endswith("+"):
        found = [state for state in STATES if state.startswith(word[:-1])]
        exact = word[:-1] in found
        return word[:-1] if exact else found[0] if len(found) == 1 else word
    return word


def state_of_flags(words: list[str]) -> str:
    """The state that decides in a list of base state and flags (`--json` since Slurm 23.02).

    Examples
    --------
    >>> state_of_flags(["COMPLETED", "COMPLETING"]), state_of_flags(["PENDING", "REQUEUED"])
    ('COMPLETED', 'REQUEUED')
    """
    for choice in (DECIDING_FLAGS, BASE_STATES):
        for word in choice.split():
            if word in words:
                return word
    return words[0] if words else ""


@lru_cache(maxsize=65_536)
def span_s(text: str) -> float | None:
    """Seconds of `[D-]HH:MM:SS`, `MM:SS` or `MM:SS.mmm`; null for the words that stand for none.

    Examples
    --------
    >>> span_s("8371-10:29:20"), span_s("00:00.038"), span_s("UNLIMITED")
    (723292160.0, 0.038, None)
    """
    found = _SPAN.fullmatch(text)
    if found is None:
        return None
    days, hours, minutes = (int(found[part] or 0) for part in ("days", "hours", "minutes"))
    return days * 86_400 + hours * 3600 + minutes * 60 + float(found["seconds"])


def limit_min(text: str, raw: str) -> float | None:
    """A time limit in minutes from `Timelimit`, else `TimelimitRaw`; null for `UNLIMITED` and `Partition_Limit`.

    Examples
    --------
    >>> limit_min("1-00:00:00", ""), limit_min("", "90"), limit_min("UNLIMITED", "UNLIMITED")
    (1440.0, 90.0, None)
    """
    seconds = span_s(text)
    if seconds is not None:
        return seconds / 60
    return float(raw) if raw.isdecimal() and int(raw) < NO_VALUE else None


@lru_cache(maxsize=16_384)
def gpus_of(tres: str) -> Gpus:
    """GPUs in a TRES or GRES text: the untyped total where there is one, else the sum over types, never both.

    Examples
    --------
    >>> gpus_of("billing=3,cpu=3,gres/gpu:h100=24,gres/gpu=24,node=3")
    Gpus(total=24.0, model='h100')
    >>> gpus_of("cpu=3,gres/gpu:a100=4,gres/gpu:h100=8")
    Gpus(total=12.0, model=None)
    """
    found = [match.groups() for part in tres.split(",") if (match := _GRES.fullmatch(part.split("(")[0]))]
    return total_gpus([(model, int(count)) for model, count in found])


def total_gpus(counts: list[tuple[str | None, int]]) -> Gpus:
    """GPUs from (type or null, count) pairs, as `gpus_of`."""
    typed = {model: count for model, count in counts if model and count}
    untyped = [count for model, count in counts if not model]
    total = max(untyped) if untyped else sum(typed.values())
    return Gpus(float(total), next(iter(typed)) if len(typed) == 1 else None)


@dataclass(frozen=True)
class TimeReader:
    """Reads sacct's times, which carry no offset unless they are epoch seconds."""

    zone: ZoneInfo

    def read(self, submit: str, start: str, end: str, elapsed: str = "", suspended: str = "") -> Times:
        """The three times of a record; `elapsed` and `suspended` settle an hour that a clock change repeats.

        Raises
        ------
        RecordError
            For a time that is none, a zero time, one of another century, or one that the zone's clocks never showed
            (`ImpossibleTimeError`).
        """
        fast = [self._plain(text) for text in (submit, start, end)]
        if None not in fast:
            found = _times([None if at is None or at < 0 else at for at in fast])
        else:
            found = self._resolved([submit, start, end], elapsed, suspended)
        if any(at is not None and at < FIRST_TIME_S for at in found[:3]):
            raise RecordError("a time is zero; export with a Slurm that has recorded it")
        if any(at is not None and at >= LAST_TIME_S for at in found[:3]):
            raise RecordError("a time lies beyond the year 2099; repair the record with sacctmgr")
        return found

    def _plain(self, text: str) -> int | None:
        """Epoch seconds where no clock change is near, -1 for no time, null where it takes more care."""
        if text in NO_TIME:
            return -1
        if text.isdecimal():
            return int(text)
        if len(text) != 19:
            return None
        try:
            midnight = midnight_s(text[:10], self.zone)
        except ValueError as error:
            raise RecordError(f"{text!r} is no time") from error
        return midnight and midnight + int(text[11:13]) * 3600 + int(text[14:16]) * 60 + int(text[17:])

    def _resolved(self, texts: list[str], elapsed: str, suspended: str) -> Times:
        lasted_s = span_s(elapsed) if elapsed.count(":") else float(elapsed) if elapsed.isdecimal() else None
        if lasted_s is not None:
            lasted_s += span_s(suspended) or 0.0
        resolved = resolve([_wall(text) for text in texts], self.zone, lasted_s)
        seconds = (None if at is None else int(at.timestamp()) for at in resolved.instants)
        return _times(list(seconds), resolved.is_ambiguous)


def _times(seconds: list[int | None], is_ambiguous: bool = False) -> Times:
    submitted, started, ended = seconds
    return Times(submitted, started, ended, is_ambiguous)


def _wall(text: str) -> datetime | None:
    if text in NO_TIME:
        return None
    if text.isdecimal():
        return datetime.fromtimestamp(min(int(text), LAST_TIME_S), UTC)
    try:
        return datetime.fromisoformat(text)
    except ValueError as error:
        if re.fullmatch(r"\d\d:\d\d(:\d\d)?", text):
            raise SourceRefusedError(
                f"the time {text!r} has no date (SLURM_TIME_FORMAT=relative?); export with SLURM_TIME_FORMAT=%s"
            ) from error
        raise RecordError(f"{text!r} is no time") from error
