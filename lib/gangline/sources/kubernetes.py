"""Sessions of Kubernetes, from `kubectl get jobs,pods,events -o json`.

A session is one attempt of a workload: of a Job, of a JobSet (restarts by its counter) or of a PyTorchJob and its like
(restarts by those of the containers). Its nodes and times are its pods'. What the cluster has deleted is not there:
a Job whose pods are gone has no nodes, and attempts whose pods are gone are missing.
"""

import json
from collections.abc import Iterator

from gangline.sources.batches import Batches, Records
from gangline.sources.files import InputFile
from gangline.sources.json_buffer import JsonBuffer
from gangline.sources.json_items import JsonDamage, JsonItem, buffered_items
from gangline.sources.kubernetes_nodes import Turn, node_records, stretches, turn_of
from gangline.sources.kubernetes_objects import Json, is_workload
from gangline.sources.kubernetes_owners import Directory
from gangline.sources.kubernetes_records import pod_records, workload_records
from gangline.sources.records import Batch, ReadLog, SourceOptions, SourceRefusedError
from gangline.sources.table_rows import RowError
from gangline.vocabulary import SourceKind

KIND = SourceKind.KUBERNETES
VERSION = 1
COMMAND = "kubectl get jobs,pods,events --all-namespaces -o json"


def read(file: InputFile, options: SourceOptions, log: ReadLog) -> Iterator[Batch]:
    """Yields sessions, their pods, and node states. The file is read twice: first for who owns whom.

    Raises
    ------
    SourceRefusedError
        If the file is no JSON.
    """
    _check_head(file)
    reader = _ObjectReader(_directory(file), log)
    batches = Batches()
    for item in _objects(file, log):
        log.split()
        batches.add(reader.records(item))
        yield from batches.full()
    batches.add(list(stretches(reader.turns)))
    yield from batches.rest()


def _check_head(file: InputFile) -> None:
    with file.open() as stream:
        first = JsonBuffer(stream).peek()
    if first not in ("{", "["):
        raise SourceRefusedError(f"{file.path}:1: no JSON of kubectl: export with: {COMMAND}")


def _directory(file: InputFile) -> Directory:
    directory = Directory()
    for item in _objects(file, ReadLog()):
        if isinstance(item, JsonItem) and isinstance(item.value, dict):
            try:
                directory.note(item.value)
            except RowError:
                continue  # the second pass rejects it
    return directory


def _objects(file: InputFile, log: ReadLog) -> Iterator[JsonItem | JsonDamage]:
    """The objects of all lists and documents, without the lists themselves."""
    with file.open() as stream:
        buffer = JsonBuffer(stream)
        for item in buffered_items(buffer, [("items",)]):
            value = item.value if isinstance(item, JsonItem) else None
            if not (isinstance(value, dict) and str(value.get("kind", "")).endswith("List")):
                yield item
    if buffer.replaced_count:
        log.odd("not_utf8", None, buffer.replaced_count)


class _ObjectReader:
    """Judges objects one at a time; keeps the turns of nodes, which events tell in no order."""

    def __init__(self, directory: Directory, log: ReadLog) -> None:
        self.turns: list[Turn] = []
        self._directory = directory
        self._log = log

    def records(self, item: JsonItem | JsonDamage) -> Records:
        """The records of one object, which is counted as loaded, ignored or rejected."""
        if isinstance(item, JsonDamage):
            self._log.reject(item.line, f"{item.reason}: export again", item.text)
            return []
        if not isinstance(item.value, dict) or not isinstance(item.value.get("kind"), str):
            self._log.reject(item.ordinal, f"no Kubernetes object: export with: {COMMAND}", str(item.value))
            return []
        try:
            return self._judge(item.value, str(item.value["kind"]), item.ordinal)
        except RowError as error:
            self._log.reject(item.ordinal, str(error), json.dumps(item.value, ensure_ascii=False))
            return []

    def _judge(self, obj: Json, kind: str, line: int) -> Records:
        records: Records = []
        is_told = False
        if kind == "Pod":
            records = pod_records(obj, line, self._directory, self._log)
        elif is_workload(kind):
            records = workload_records(obj, line, self._directory, self._log)
        elif kind == "Node":
            records = node_records(obj, line)
        elif kind == "Event" and (turn := turn_of(obj, line)):
            self.turns.append(turn)
            self._log.saw(turn.at)
            is_told = True
        if records or is_told:
            self._log.load()
        else:
            self._log.ignore(f"{kind} without a session or node state")
        return records
