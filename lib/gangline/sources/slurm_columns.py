"""The header line of `sacct -P` or `-p`: its delimiter, its columns, and what may stand in each of them."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from operator import itemgetter

from gangline.sources.records import SourceRefusedError


class ColumnKind(Enum):
    """What a column may hold; only `TEXT` may hold delimiters and newlines, because sacct escapes nothing."""

    ID = r"\d+(?:_(?:\d+|\[[^\]]*\]?))?(?:\+\d+)?(?:\.(?:batch|extern|interactive|\d+)(?:\+\d+)?)?"
    TIME = (
        r"\d{4}-\d\d-\d\d[T ](?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?"
        r"|\d{9,11}|0|Unknown|None|N/A|\d\d:\d\d(?::\d\d)?|"
    )
    STATE = r"[A-Z][A-Z_]+\+?(?: by \S+)?"
    SPAN = r"-?(?:\d+-)?\d+:\d\d(?::\d\d)?(?:\.\d+)?|[A-Za-z_]*"
    NUMBER = r"-?\d[\d.:]*[A-Za-z]{0,3}|[A-Za-z_]*"
    RESOURCES = r"(?:[^\s,=]+=[^\s,=]*)(?:,[^\s,=]+=[^\s,=]*)*|"
    HOSTS = r"[\w.,:\[\]-]*|None assigned|\(null\)"
    WORD = r"[^\n]*"
    EMPTY = r""
    TEXT = r"[\s\S]*"

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The expression that the whole of a value matches."""
        return re.compile(self.value)


_KINDS = {
    ColumnKind.ID: "jobid jobidraw",
    ColumnKind.TIME: "submit start end eligible",
    ColumnKind.STATE: "state",
    ColumnKind.SPAN: "elapsed cputime timelimit totalcpu usercpu systemcpu suspended reserved planned resvcpu"
    " plannedcpu avecpu mincpu",
    ColumnKind.NUMBER: "alloccpus allocnodes ncpus nnodes ntasks reqcpus reqnodes reqmem elapsedraw cputimeraw uid gid"
    " dbindex associd priority qosraw resvcpuraw plannedcpuraw timelimitraw restarts exitcode derivedexitcode"
    " consumedenergy consumedenergyraw avecpufreq avediskread avediskwrite avepages averss avevmsize maxdiskread"
    " maxdiskreadtask maxdiskwrite maxdiskwritetask maxpages maxpagestask maxrss maxrsstask maxvmsize maxvmsizetask"
    " mincputask reqcpufreq reqcpufreqmin reqcpufreqmax reservationid wckeyid layout",
    ColumnKind.RESOURCES: "alloctres reqtres tresusageinave tresusageinmax tresusageinmaxnode tresusageinmaxtask"
    " tresusageinmin tresusageinminnode tresusageinmintask tresusageintot tresusageoutave tresusageoutmax"
    " tresusageoutmaxnode tresusageoutmaxtask tresusageoutmin tresusageoutminnode tresusageoutmintask tresusageouttot",
    ColumnKind.HOSTS: "nodelist",
    ColumnKind.WORD: "account user group cluster partition qos qosreq reason reservation mcslabel blockid wckey"
    " reqcpufreqgov allocgres reqgres failednode maxdiskreadnode maxdiskwritenode maxpagesnode maxrssnode"
    " maxvmsizenode mincpunode segmentsize",
    ColumnKind.TEXT: "jobname comment admincomment systemcomment submitline workdir constraints container extra flags"
    " licenses stdin stdout stderr stdinexpanded stdoutexpanded stderrexpanded",
}
KIND_OF = {name: kind for kind, names in _KINDS.items() for name in names.split()}

NEEDED = ("JobName", "State", "Submit", "Start", "End", "NodeList")
WANTED = ("Cluster", "JobIDRaw", "User", "Partition", "AllocTRES")
_READ = (
    "jobid jobidraw jobname user partition cluster state submit start end nodelist alloctres allocgres allocnodes"
    " timelimit timelimitraw submitline restarts elapsed elapsedraw suspended"
)
READ = frozenset(_READ.split())
FORMAT = (
    "sacct -a -D -P --delimiter='^|^' --format=Cluster,JobIDRaw,JobID,JobName,User,Partition,State,Submit,Start,End,"
    "Elapsed,Suspended,Timelimit,NodeList,AllocTRES,SubmitLine"
)
_UNFIT_DELIMITER = re.compile(r"[\w:.=/\[\]+-]+")  # these stand in ids, times and host lists
_HEADER_START = re.compile(r"[A-Za-z]\w*?(\W+?)[A-Za-z]")


@dataclass(frozen=True)
class Layout:
    """The columns of one sacct export.

    Attributes
    ----------
    names
        Lower-cased column names in file order; with `-p`, a last column without a name that is always empty.
    """

    names: tuple[str, ...]
    delimiter: str

    @cached_property
    def width(self) -> int:
        """Fields in every record."""
        return len(self.names)

    @cached_property
    def kinds(self) -> tuple[ColumnKind, ...]:
        """What each column may hold; columns not known here may hold anything."""
        return tuple(KIND_OF.get(name, ColumnKind.TEXT if name else ColumnKind.EMPTY) for name in self.names)

    @cached_property
    def is_read(self) -> tuple[bool, ...]:
        """Which columns make up a session row, so that a doubt about them is a doubt about the session."""
        return tuple(name in READ for name in self.names)

    @cached_property
    def anchors(self) -> tuple[int, ...]:
        """Columns whose values are checked in every record: ids, state, times, and the empty one of `-p`."""
        firm = {ColumnKind.ID, ColumnKind.STATE, ColumnKind.TIME, ColumnKind.EMPTY}
        return tuple(column for column, kind in enumerate(self.kinds) if kind in firm)

    @cached_property
    def is_firm(self) -> Callable[[list[str]], bool]:
        """Whether the anchors of a record's fields all hold what their columns may hold."""
        columns = self.anchors
        whole = re.compile("\n".join(f"(?:{self.kinds[column].value})" for column in columns)).fullmatch
        pick = itemgetter(*columns)  # at least state and three times: always a tuple
        return lambda fields: whole("\n".join(pick(fields))) is not None

    def is_nearly_firm(self, fields: list[str]) -> bool:
        """Whether the fields are as many as the columns, with times among them and one bad value at most."""
        if len(fields) != self.width:
            return False
        fits = {column: self.kinds[column].pattern.fullmatch(fields[column]) is not None for column in self.anchors}
        times = [column for column in self.anchors if self.kinds[column] is ColumnKind.TIME and fields[column]]
        return sum(fits.values()) >= len(fits) - 1 and sum(fits[column] for column in times) >= 2

    @cached_property
    def is_open_at_both_ends(self) -> bool:
        """Whether a stray line may end one record or begin the next, and one of the two columns is read."""
        last = self.width - 1 - (self.kinds[-1] is ColumnKind.EMPTY)
        has_text = all(self.kinds[column] is ColumnKind.TEXT for column in (0, last))
        return has_text and (self.is_read[0] or self.is_read[last])

    def may_continue(self, column: int) -> bool:
        """Whether a column's value may hold the delimiter."""
        kind = self.kinds[column]
        lists = {ColumnKind.RESOURCES, ColumnKind.HOSTS}
        return kind is ColumnKind.TEXT or (kind in lists and self.delimiter == ",")


def layout_of(header: str, delimiter: str | None, where: str) -> Layout:
    """The columns that a header line names, its delimiter told from the line itself unless given.

    Raises
    ------
    SourceRefusedError
        If the line is no sacct header, or lacks columns without which there is no session.
    """
    if header.startswith(" ") or "  " in header.strip():
        raise SourceRefusedError(f"{where}: this is sacct's fixed-width table, which cuts names; export with: {FORMAT}")
    mark = delimiter or _delimiter_of(header, where)
    names = tuple(name.lower() for name in header.split(mark))
    if sum(name in KIND_OF for name in names) < 3:
        raise SourceRefusedError(f"{where}: no sacct header with the delimiter {mark!r}; export with: {FORMAT}")
    if _UNFIT_DELIMITER.fullmatch(mark):
        raise SourceRefusedError(f"{where}: the delimiter {mark!r} also stands inside ids or times; use: {FORMAT}")
    _check_needed(names, where)
    return Layout(names, mark)


def _delimiter_of(header: str, where: str) -> str:
    found = _HEADER_START.match(header)
    if found is None:
        raise SourceRefusedError(f"{where}: no header line of sacct -P (was it --noheader?); export with: {FORMAT}")
    return found.group(1)


def _check_needed(names: tuple[str, ...], where: str) -> None:
    missing = [name for name in NEEDED if name.lower() not in names]
    if "jobid" not in names and "jobidraw" not in names:
        missing.insert(0, "JobIDRaw")
    if missing:
        raise SourceRefusedError(f"{where}: columns {', '.join(missing)} are missing; export with: {FORMAT}")
