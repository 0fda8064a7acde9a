"""The files that the config names, and what is known of each without reading it."""

import glob
import hashlib
import importlib.util
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from types import ModuleType

from gangline.config.model import Config, SourceEntry
from gangline.sources.files import InputFile
from gangline.sources.records import SourceOptions
from gangline.vocabulary import SourceKind

IDENTITY_HEX_DIGITS = 16


class UnreadableKindError(ValueError):
    """The config names a kind of source that this version has no reader for."""


@dataclass(frozen=True)
class FoundFile:
    """A file that one `[[sources]]` entry names."""

    path: Path
    shown_path: str
    source_id: str
    options: SourceOptions
    reader: ModuleType

    @property
    def input(self) -> InputFile:
        """The file to read."""
        return InputFile(self.path)

    @property
    def kind(self) -> str:
        """The kind of source."""
        return self.options.kind

    def options_hash(self) -> str:
        """Changes when the entry, or the file's own name, says something else about how it is to be read.

        A reader that takes something from names (a log's node, a session) has `told_by_name`: a file that is given
        the right name is read again, although its content is known.
        """
        told_by_name = getattr(self.reader, "told_by_name", None)
        name = told_by_name(self.path) if told_by_name else None
        said = asdict(self.options) | ({"told_by_name": name} if name else {})
        return hashlib.sha256(json.dumps(said, default=str, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True)
class Unheard:
    """An entry that says how files are read, but too late: an earlier one of its kind names each of them."""

    source_id: str
    earlier: str
    example: str

    def __str__(self) -> str:
        return (
            f"{self.source_id} says how {self.example} is read, but {self.earlier} stands before it and names it too:"
            " put the narrower [[sources]] entry first"
        )


def source_id_of(entry: SourceEntry) -> str:
    """What an entry is called in the warehouse: its kind and glob, and the cluster where it picks one."""
    chosen = f"@{entry.source_cluster}" if entry.source_cluster else ""
    return f"{entry.kind}{chosen}:{entry.path}"


def find_files(config: Config) -> dict[str, list[FoundFile]]:
    """The files of every entry, by source id, sorted by path; an entry that finds none has an empty list."""
    return {source_id_of(entry): list(_files_of(entry, config)) for entry in config.sources}


def unheard(found: dict[str, list[FoundFile]]) -> list[Unheard]:
    """The entries that change nothing, because every file of theirs is read as an earlier one says."""
    first_of: dict[tuple[str, Path], FoundFile] = {}
    late: list[Unheard] = []
    for source_id, files in found.items():
        firsts = [first_of.setdefault((file.kind, file.path), file) for file in files]
        unlike = [(first, file) for first, file in zip(firsts, files, strict=True) if first.options != file.options]
        if unlike and len(unlike) == len(files):
            first, file = unlike[0]
            late.append(Unheard(source_id, first.source_id, file.shown_path))
    return late


def reader_of(kind: str) -> ModuleType:
    """The module that reads a kind of source."""
    name = f"gangline.sources.{kind}"
    if importlib.util.find_spec(name) is None:
        raise UnreadableKindError(f"this version reads no {kind} files; take that [[sources]] entry out")
    return importlib.import_module(name)


def _files_of(entry: SourceEntry, config: Config) -> Iterator[FoundFile]:
    reader = reader_of(entry.kind)
    options = options_of(entry, config)
    for path in _paths(entry.path, config.folder, reader):
        yield FoundFile(path, _shown(path, config.folder), source_id_of(entry), options, reader)


def _paths(pattern: str, folder: Path, reader: ModuleType) -> list[Path]:
    matches = [Path(match) for match in glob.glob(pattern, root_dir=folder, recursive=True)]  # noqa: PTH207
    found = [folder / match for match in matches]
    expand = getattr(reader, "files", None)
    paths = [path for match in found for path in expand(match)] if expand else [p for p in found if not p.is_dir()]
    return sorted(set(paths))


def _shown(path: Path, folder: Path) -> str:
    return str(path.relative_to(folder)) if path.is_relative_to(folder) else str(path)


def options_of(entry: SourceEntry, config: Config) -> SourceOptions:
    """What the reader is told: the entry's own keys, the cluster's zone where it names none."""
    is_telemetry = entry.kind == SourceKind.PROMETHEUS
    is_log = entry.kind in (SourceKind.KERNEL_LOG, SourceKind.CONSOLE_LOG)
    return SourceOptions(
        kind=str(entry.kind),
        time_zone=entry.time_zone or config.cluster.time_zone,
        delimiter=entry.delimiter,
        epoch=entry.epoch,
        source_cluster=entry.source_cluster,
        format=entry.format,
        node=entry.node,
        boot_at=entry.boot_at,
        api_points=entry.api_points,
        exported_at=entry.exported_at if is_telemetry or is_log else None,
        node_labels=tuple(config.telemetry.node_labels) if is_telemetry else (),
        node_strip=tuple(config.telemetry.node_strip) if is_telemetry or is_log else (),
    )
