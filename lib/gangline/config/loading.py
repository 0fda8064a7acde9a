"""From a TOML file to a `Config`, with errors that name the key, its line and the nearest known key."""

import difflib
import os
import re
import tomllib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar
from zoneinfo import ZoneInfo

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from gangline.config.judging import Finding, judge
from gangline.config.lines import Key, key_lines, line_of
from gangline.config.model import Config, Maintenance, NodePeriod, SourceEntry, Stage

ROOT = Path(__file__).resolve().parents[3]
DEFAULT_CONFIGS = (ROOT / "data" / "reference" / "cluster.toml", ROOT / "data" / "sample" / "cluster.toml")
ENVIRONMENT_KEY = "GANGLINE_CONFIG"
SectionWithInstants = TypeVar("SectionWithInstants", SourceEntry, Stage, Maintenance, NodePeriod)


class ConfigError(ValueError):
    """The config cannot be used: one line with file, line, key and the mend."""


def resolve_path(given: Path | None = None) -> Path:
    """The config to use: the one given, else GANGLINE_CONFIG, else the reference cluster, else the sample."""
    if given is not None:
        return given
    if named := os.environ.get(ENVIRONMENT_KEY):
        return Path(named)
    return next((path for path in DEFAULT_CONFIGS if path.is_file()), DEFAULT_CONFIGS[-1])


def load_default(given: Path | None = None) -> Config:
    """`load` of the config that `resolve_path` finds."""
    return load(resolve_path(given))


def load(path: Path | str) -> Config:
    """Reads and checks one cluster's TOML file.

    Raises
    ------
    ConfigError
        Where the file is missing, no TOML, or says something that the model does not know.
    """
    path = Path(path).absolute()
    text = _read(path)
    try:
        config = Config.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"at line (\d+)", str(error))
        raise ConfigError(f"{path}:{line[1] if line else 1}: this is no TOML: {error}") from error
    except ValidationError as error:
        raise ConfigError("\n".join(_say(path, text, detail) for detail in error.errors())) from error
    located = _located(config, path)
    if findings := list(judge(located)):
        raise ConfigError("\n".join(_say_finding(path, text, finding) for finding in findings))
    return located


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: this is no UTF-8 text: {error.reason} at byte {error.start}") from error
    except OSError as error:
        mend = "name it with -c or GANGLINE_CONFIG, or make one with `gangline init DIR`"
        raise ConfigError(f"{path}: cannot be read ({error.strerror}); {mend}") from error


def _located(config: Config, path: Path) -> Config:
    """The config with its path, and instants without an offset taken in the zone that applies."""
    updates: dict[str, Any] = {
        "sources": [_in_zone(entry, ZoneInfo(entry.time_zone or config.cluster.time_zone)) for entry in config.sources]
    }
    for name in ("stages", "maintenance", "nodes"):
        updates[name] = [_in_zone(period, config.zone) for period in getattr(config, name)]
    placed = config.model_copy(update=updates)
    placed._path = path
    return placed


def _in_zone(section: SectionWithInstants, zone: ZoneInfo) -> SectionWithInstants:
    instants = {
        name: (value if value.tzinfo else value.replace(tzinfo=zone)).astimezone(UTC)
        for name, value in section
        if isinstance(value, datetime)
    }
    return section.model_copy(update=instants)


def _say_finding(path: Path, text: str, finding: Finding) -> str:
    key, message = finding
    return f"{path}:{line_of(key, key_lines(text)) or 1}: {_dotted(key)}: {message}"


def _say(path: Path, text: str, detail: ErrorDetails) -> str:
    key: Key = detail["loc"]
    where = f"{path}:{line_of(key, key_lines(text)) or 1}"
    if detail["type"] == "extra_forbidden":
        return f"{where}: unknown key {_dotted(key)}; {_nearest(key)}"
    if detail["type"] == "missing":
        return f"{where}: {_dotted(key)} is missing; `gangline config --explain` says what it is"
    message = detail["msg"].removeprefix("Value error, ")
    given = f" (it is {detail['input']!r})" if isinstance(detail["input"], str | int | float | bool) else ""
    return f"{where}: {_dotted(key)}: {message}{given}" if key else f"{where}: {message}"


def _nearest(key: Key) -> str:
    name = str(key[-1])
    here = _fields(key[:-1])
    homes = [section for section in Config.model_fields if name in _fields((section,))]
    if homes:
        return f"{name} belongs in [{homes[0]}]"
    if close := difflib.get_close_matches(name, here, n=1, cutoff=0.5):
        return f"the nearest known key is {close[0]}"
    return f"known here: {', '.join(here)}"


def _fields(table: Key) -> list[str]:
    model: type[BaseModel] | None = Config
    for part in table:
        if model is not None and isinstance(part, str):
            field = model.model_fields.get(part)
            model = _model_in(field.annotation) if field is not None else None
    return [field.alias or name for name, field in model.model_fields.items()] if model is not None else []


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((model for inner in getattr(annotation, "__args__", ()) if (model := _model_in(inner))), None)


def _dotted(key: Key) -> str:
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in key).removeprefix(".")
