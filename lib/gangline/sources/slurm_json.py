"""`sacct --json`: as of Slurm 22.05 (plain numbers, one state) and as since 23.02 (number objects, lists of states).

Its times are epoch seconds. The exit codes of 22.05 are wrong for failed jobs, so that only states are believed; it
always holds every run of a requeued job.
"""

from collections.abc import Iterator

from gangline.hostlists import HostListError, expand
from gangline.sources.files import InputFile
from gangline.sources.json_buffer import JsonBuffer
from gangline.sources.json_items import JsonDamage, buffered_items
from gangline.sources.records import Batch, ReadLog, SourceOptions, SourceRefusedError
from gangline.sources.slurm_fields import (
    FIRST_TIME_S,
    LAST_TIME_S,
    NO_VALUE,
    Gpus,
    RecordError,
    Times,
    state_key,
    state_of_flags,
    total_gpus,
)
from gangline.sources.slurm_rows import SessionRows, SlurmJob
from gangline.sources.slurm_submissions import excluded_nodes

JSON_FORMAT = "sacct -a --json > sacct.json"
JsonObject = dict[str, object]


def read_json(file: InputFile, options: SourceOptions, log: ReadLog) -> Iterator[Batch]:
    """The sessions of one `sacct --json` document.

    Raises
    ------
    SourceRefusedError
        If it is JSON of another kind.
    """
    sessions = SessionRows(log)
    with file.open() as stream:
        buffer = JsonBuffer(stream)
        for ordinal, job in _jobs(buffer, file, log):
            _judge(job, ordinal, options, sessions, log, file)
            yield from sessions.full()
    if buffer.replaced_count:
        log.odd("not_utf8", count=buffer.replaced_count)
    yield from sessions.rest()


def _jobs(buffer: JsonBuffer, file: InputFile, log: ReadLog) -> Iterator[tuple[int, object]]:
    """The elements of `jobs` with their ordinals; what is no JSON is rejected, or refused where it is all there is."""
    for item in buffered_items(buffer, [("jobs",)]):
        if isinstance(item, JsonDamage):
            if not log.records:
                raise SourceRefusedError(f"{file.path}:{item.line}: {item.reason}; export with: {JSON_FORMAT}")
            log.split()
            log.reject(log.records, f"line {item.line}: {item.reason}; export again", item.text)
        elif item.path:
            log.split()
            yield item.ordinal, item.value
        else:
            _note_document(item.value, file, log)


def _note_document(rest: object, file: InputFile, log: ReadLog) -> None:
    if not isinstance(rest, dict) or not (log.records or "meta" in rest):
        raise SourceRefusedError(f"{file.path}: no jobs in this JSON; export with: {JSON_FORMAT}")
    if rest.get("errors"):
        log.odd("slurm_errors")


def _judge(
    job: object, ordinal: int, options: SourceOptions, sessions: SessionRows, log: ReadLog, file: InputFile
) -> None:
    if not isinstance(job, dict):
        log.reject(ordinal, "this element of jobs is no object", str(job))
    elif "job_state" in job and "time" not in job:
        raise SourceRefusedError(f"{file.path}: this is squeue's or scontrol's JSON; export with: {JSON_FORMAT}")
    elif options.source_cluster and job.get("cluster") not in (None, "", options.source_cluster):
        log.ignore("other_cluster")
    else:
        try:
            sessions.add(job_of(job, ordinal, options, log))
        except RecordError as error:
            log.reject(ordinal, str(error), f"job {job.get('job_id')}: {job.get('name')}")


def job_of(job: JsonObject, ordinal: int, options: SourceOptions, log: ReadLog) -> SlurmJob:
    """The job that one element of `jobs` tells of.

    Raises
    ------
    RecordError
        If it has no id or times, or its node list cannot be read.
    """
    times = _object(job, "time")
    words = _words(_object(job, "state").get("current"))
    raw_id = number_of(job.get("job_id"))
    if raw_id is None or not words:
        raise RecordError("no job_id or no state")
    limit = number_of(times.get("limit"))
    return SlurmJob(
        line=ordinal,
        cluster=_text(job, "cluster") or options.source_cluster,
        raw_id=str(raw_id),
        bare_id=_bare_id(job, raw_id),
        name=_text(job, "name"),
        owner=_text(job, "user") or _text(_object(job, "association"), "user"),
        partition=_text(job, "partition"),
        nodes=_nodes(job),
        excluded_nodes=_excluded(job, ordinal, log),
        gpus=_gpus(job),
        times=Times(_instant(times.get("submission")), _instant(times.get("start")), _instant(times.get("end"))),
        limit_min=None if limit is None else float(limit),
        state_text=",".join(words),
        state_key=state_of_flags([state_key(word) for word in words]),
        attempt=number_of(job.get("restart_cnt")),
    )


def number_of(value: object) -> int | None:
    """A whole number, plain or as `{"set": ..., "infinite": ..., "number": ...}`; null where unset or infinite.

    Examples
    --------
    >>> number_of(1440), number_of({"set": True, "infinite": False, "number": 1440}), number_of({"set": False})
    (1440, 1440, None)
    """
    if isinstance(value, dict):
        value = value.get("number") if value.get("set") and not value.get("infinite") else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if 0 <= value < NO_VALUE else None


def _instant(value: object) -> int | None:
    at = number_of(value) or None
    if at is not None and at < FIRST_TIME_S:
        raise RecordError(f"the time {at} is next to zero")
    if at is not None and at >= LAST_TIME_S:
        raise RecordError(f"the time {at} lies beyond the year 2099")
    return at


def _bare_id(job: JsonObject, raw_id: int) -> str:
    array, het = _object(job, "array"), _object(job, "het")
    array_id, het_id = number_of(array.get("job_id")), number_of(het.get("job_id"))
    task, tasks = number_of(array.get("task_id")), _text(array, "task")
    if array_id and (task is not None or tasks):
        return f"{array_id}_{task}" if task is not None else f"{array_id}_[{tasks}]"
    return f"{het_id}+{number_of(het.get('job_offset')) or 0}" if het_id else str(raw_id)


def _nodes(job: JsonObject) -> tuple[str, ...]:
    try:
        return expand(_text(job, "nodes") or "")
    except HostListError as error:
        raise RecordError(str(error)) from error


def _excluded(job: JsonObject, ordinal: int, log: ReadLog) -> tuple[str, ...] | None:
    try:
        return excluded_nodes(_text(job, "submit_line") or "")
    except HostListError:
        log.odd("exclude_unreadable", ordinal)
        return None


def _gpus(job: JsonObject) -> Gpus | None:
    allocated = _object(job, "tres").get("allocated")
    counts: list[tuple[str | None, int]] = []
    for item in allocated if isinstance(allocated, list) else []:
        name = _text(item, "name") or "" if isinstance(item, dict) and item.get("type") == "gres" else ""
        if name.split(":")[0] == "gpu":
            counts.append((name.partition(":")[2] or None, number_of(item.get("count")) or 0))
    return total_gpus(counts) if allocated else None


def _words(value: object) -> list[str]:
    words = value if isinstance(value, list) else [value]
    return [word for word in words if isinstance(word, str) and word]


def _object(parent: JsonObject, key: str) -> JsonObject:
    value = parent.get(key)
    return value if isinstance(value, dict) else {}


def _text(parent: JsonObject, key: str) -> str | None:
    value = parent.get(key)
    return value if isinstance(value, str) and value else None
