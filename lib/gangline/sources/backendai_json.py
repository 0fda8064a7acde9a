"""Backend.AI exports in JSON cut into rows: CLI pages, GraphQL nodes and lists, row_to_json lines, json_agg."""

from collections.abc import Iterator

from gangline.sources.backendai_kinds import BackendRow, RowKind, kind_of
from gangline.sources.backendai_values import cells_of
from gangline.sources.files import InputFile
from gangline.sources.json_buffer import JsonBuffer
from gangline.sources.json_items import JsonDamage, JsonItem, Path, buffered_items
from gangline.sources.records import ReadLog

_SESSION_LISTS: tuple[Path, ...] = (
    ("items",),
    ("compute_session_list", "items"),
    ("compute_session_nodes", "edges"),
    ("compute_sessions",),
)
_KERNEL_LISTS: tuple[Path, ...] = (("kernel_nodes", "edges"), ("compute_container_list", "items"))
_KINDS: dict[Path, RowKind] = {
    (*wrapper, *path): kind
    for kind, paths in ((RowKind.SESSION, _SESSION_LISTS), (RowKind.KERNEL, _KERNEL_LISTS))
    for path in paths
    for wrapper in ((), ("data",))
}
_WRAPPER_KEYS = frozenset({"items", "data", "count", "total_count", *(path[0] for path in _KINDS)})
_MEND = "export with `backend.ai --output=json session list -a`, GraphQL, or psql"


def json_rows(file: InputFile, log: ReadLog) -> Iterator[BackendRow]:
    """Yields the rows of a JSON export; what is no JSON, or no row, is rejected."""
    totals: list[int] = []
    row_count = 0
    with file.open() as stream:
        buffer = JsonBuffer(stream)
        for item in buffered_items(buffer, list(_KINDS)):
            if isinstance(item, JsonItem) and not item.path and _is_wrapper(item.value):
                totals += _totals(item.value)
                _check_errors(item, log)
                continue
            log.split()
            row = _row(item, log)
            if row:
                row_count += 1
                yield row
    if buffer.replaced_count:
        log.odd("not_utf8", None, buffer.replaced_count)
    if totals and max(totals) > row_count:
        log.odd("pages_missing", None, max(totals) - row_count)


def _row(item: JsonItem | JsonDamage, log: ReadLog) -> BackendRow | None:
    if isinstance(item, JsonDamage):
        log.reject(item.line, f"{item.reason}: export again", item.text)
        return None
    # Documents on lines of their own keep the line's number.
    line = item.ordinal if item.path else max(item.line, item.ordinal)
    value = item.value
    if isinstance(value, dict) and isinstance(value.get("node"), dict):
        value = value["node"]
    if not isinstance(value, dict):
        log.reject(line, f"expected an object with a session: {_MEND}", str(value))
        return None
    cells = cells_of(value)
    kind = _KINDS.get(item.path) or kind_of(cells.values.keys())
    if kind is None:
        log.reject(line, f"neither session, kernel nor scheduling history: {_MEND}", str(value))
        return None
    return BackendRow(line, kind, cells, value)


def _is_wrapper(value: object) -> bool:
    """True for what is left of a page once its rows are taken out."""
    return (isinstance(value, dict) and bool(_WRAPPER_KEYS & value.keys())) or value == {}


def _totals(value: object) -> list[int]:
    """How many rows the pages together should hold, wherever the wrapper says so."""
    if not isinstance(value, dict):
        return []
    found = [value.get(key) for key in ("total_count", "count")]
    total = [count for count in found if isinstance(count, int)][:1]
    return total + [count for child in value.values() for count in _totals(child)]


def _check_errors(item: JsonItem, log: ReadLog) -> None:
    errors = item.value.get("errors") if isinstance(item.value, dict) else None
    if errors:
        log.split()
        log.reject(item.line, "the server answered with errors: run the query again", str(errors))
