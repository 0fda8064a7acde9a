"""What every key means, told from the model itself."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from gangline.config.loading import _model_in
from gangline.config.model import Config
from gangline.units import unit_of


@dataclass(frozen=True)
class KeyMeaning:
    """One key of the config."""

    key: str
    unit: str
    default: str
    meaning: str


def explain() -> list[KeyMeaning]:
    """Key, unit, default and meaning of everything that the config may say, in the order of the model."""
    return list(_walk(Config, ""))


def _walk(model: type[BaseModel], prefix: str) -> Iterator[KeyMeaning]:
    for name, field in model.model_fields.items():
        key = f"{prefix}{field.alias or name}"
        inner = _model_in(field.annotation)
        if inner is None:
            yield KeyMeaning(key, unit_of(name), _default(field), field.description or "")
        elif _is_table(field.annotation):
            yield from _walk(inner, f"{key}.")
        else:
            mark = ".NAME." if "dict" in str(field.annotation) else "[]."
            yield from _walk(inner, f"{key}{mark}")


def _is_table(annotation: Any) -> bool:
    return isinstance(annotation, type)


def _default(field: FieldInfo) -> str:
    if field.default is PydanticUndefined:
        return "required"
    return "none" if field.default is None else repr(field.default)
