"""What Backend.AI's cells hold: ids, JSON in strings, PostgreSQL arrays, resource slots, agents."""

import base64
import binascii
import functools
import json
import re
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from gangline.sources.records import ReadLog
from gangline.sources.table_rows import RowError, shown

AGENT_PREFIX = "i-"  # an agent's id is this and its host's name
MAX_SLOTS = 1e9
_ARRAY_ITEM = re.compile(r'"((?:[^"\\]|\\.)*)"|([^",{}]+)')
_ACCELERATOR = re.compile(r"[^.]+\.(device|shares)(:.+)?")


@functools.lru_cache(maxsize=4096)
def folded(name: str) -> str:
    """A column name as all forms agree on it: `Status Info`, `status_info` and ` STATUS_INFO` are one."""
    return "_".join(name.split()).casefold()


@dataclass(frozen=True)
class Cells:
    """A record's values by folded column name; what is empty is absent, for CSV cannot tell '' from null."""

    values: Mapping[str, object]

    def first(self, *names: str) -> object | None:
        """The first of these columns that has a value."""
        for name in names:
            value = self.values.get(name)
            if value is not None and value != "":
                return value
        return None

    def text(self, *names: str) -> str | None:
        """The first of these columns that has a value, as text."""
        value = self.first(*names)
        return None if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def cells_of(record: Mapping[str, object]) -> Cells:
    """A JSON object's members under folded names."""
    return Cells({folded(name): value for name, value in record.items()})


def uuid_of(value: object, what: str) -> str:
    """A uuid in its usual spelling; a GraphQL node id (base64 of `Type:uuid`) gives the uuid in it.

    Examples
    --------
    >>> uuid_of("9531985D5D9D49F89818E811892F902B", "id")
    '9531985d-5d9d-49f8-9818-e811892f902b'
    >>> uuid_of("Q29tcHV0ZVNlc3Npb25Ob2RlOjk1MzE5ODVkLTVkOWQtNDlmOC05ODE4LWU4MTE4OTJmOTAyYg==", "id")
    '9531985d-5d9d-49f8-9818-e811892f902b'
    """
    text = value.strip() if isinstance(value, str) else ""
    try:
        if len(text) not in (32, 36):
            text = base64.b64decode(text, validate=True).decode().rpartition(":")[2]
        return str(uuid.UUID(text))
    except (ValueError, binascii.Error) as error:
        raise RowError(f"{what} is {shown(str(value))}: expected a session's uuid") from error


def decoded(value: object, log: ReadLog, line: int) -> object:
    """A JSON value that a form may hand over as text, or as text of a text."""
    for _ in range(2):
        if not isinstance(value, str) or not value.strip():
            break
        try:
            value = json.loads(value, strict=False)
        except (ValueError, RecursionError):
            log.odd("unreadable_json_cell", line)
            return None
    return value


def array_of(value: object) -> list[str]:
    """The texts of a JSON list or of a PostgreSQL array; nulls are left out.

    Examples
    --------
    >>> array_of('{i-gpu-node-01,"i-gpu node, 2",NULL}')
    ['i-gpu-node-01', 'i-gpu node, 2']
    """
    if isinstance(value, str):
        if value.startswith("["):
            value = _json_list(value)
        elif value.startswith("{"):
            return [_array_text(*match.groups()) for match in _ARRAY_ITEM.finditer(value[1:-1]) if match[2] != "NULL"]
        else:
            return [value]
    return [item for item in value if isinstance(item, str) and item] if isinstance(value, list) else []


def _json_list(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return [text]


def _array_text(quoted: str | None, bare: str | None) -> str:
    return re.sub(r"\\(.)", r"\1", quoted) if bare is None and quoted is not None else (bare or "").strip()


def node_of(agent: str) -> str | None:
    """The host that an agent's id names.

    Examples
    --------
    >>> node_of("i-gpu-node-01")
    'gpu-node-01'
    """
    return agent.strip().removeprefix(AGENT_PREFIX) or None


def nodes_of(agents: Iterable[str]) -> list[str]:
    """The distinct hosts of these agents, in order of name."""
    return sorted({node for node in map(node_of, agents) if node})


def gpu_count_of(occupied: object, requested: object, log: ReadLog, line: int) -> float | None:
    """Accelerators held: the sum over `cuda.device`, `cuda.shares` and their like; null where no slots are given.

    Occupied slots are emptied when a session ends, so then the requested ones speak.
    """
    for value in (occupied, requested):
        slots = decoded(value, log, line)
        if isinstance(slots, dict) and slots:
            return _accelerators(slots, log, line)
    return None


def _accelerators(slots: Mapping[str, object], log: ReadLog, line: int) -> float:
    counts = [_slot_count(value) for name, value in slots.items() if _ACCELERATOR.fullmatch(str(name))]
    if None in counts:
        log.odd("unreadable_slot", line)
    return sum(count for count in counts if count is not None)


def _slot_count(value: object) -> float | None:
    """A slot's amount, a decimal text in every form (`"8"`, `"1.5"`)."""
    try:
        count = float(value) if isinstance(value, str | int | float) else -1.0
    except (ValueError, OverflowError):
        return None
    return count if 0 <= count <= MAX_SLOTS else None
