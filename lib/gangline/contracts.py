"""The contract beside each SQL file: what a row is, its key and columns, and what must hold of it."""

from enum import StrEnum
from pathlib import Path
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError


class ContractError(ValueError):
    """A contract cannot be read: one line with file:line, the key and the mend."""


class Severity(StrEnum):
    """What a failing check does: `fail` stops the build, `warn` is counted and shown."""

    FAIL = "fail"
    WARN = "warn"


class Strict(BaseModel):
    """Unknown keys are errors, so that a misspelt `severty` cannot pass for a default."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Column(Strict):
    """One column: DuckDB type, unit (of numbers that have one), meaning."""

    type: str
    description: str
    unit: str | None = None
    nullable: bool = True


class Check(Strict):
    """SQL whose rows are failures, with the likely cause and the mend as its message."""

    sql: str
    message: str
    severity: Severity = Severity.FAIL


class ModelContract(Strict):
    """Beside a model or a seed. `identities` are expressions over one row that must not be false."""

    description: str
    grain: str
    key: list[str]
    columns: dict[str, Column]
    materialized: Literal["table", "view"] | None = None
    checks: dict[str, Check] = Field(default_factory=dict)
    identities: dict[str, str] = Field(default_factory=dict)

    def required(self) -> list[str]:
        """Columns that may hold no null: the key, and those that say `nullable: false`."""
        return [name for name, column in self.columns.items() if name in self.key or not column.nullable]


class MacroContract(Strict):
    """Beside a macro. `assertions` are boolean expressions, one per behaviour; `columns` of a table macro."""

    description: str
    arguments: dict[str, str]
    assertions: dict[str, str] = Field(min_length=1)
    grain: str | None = None
    columns: dict[str, Column] = Field(default_factory=dict)


class CheckContract(Strict):
    """Beside a free-standing check, which may read several models."""

    message: str
    severity: Severity = Severity.FAIL


# The C loader of PyYAML reads the same YAML about ten times as fast; a build without it has only the other.
LOADER: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

Contract = ModelContract | MacroContract | CheckContract
_KINDS: dict[str, type[Contract]] = {"macros": MacroContract, "checks": CheckContract}


def contract_of(path: Path, folder: str, content: str) -> Contract:
    """The contract that a `.yml` file holds, by the folder of `sql/` that it lies in.

    Raises
    ------
    ContractError
        Where it is no YAML, repeats a key or does not fit; the message names file, line and key.
    """
    loader = LOADER(content)
    try:
        root = loader.get_single_node()
        _refuse_repeated_keys(path, root)
        return _KINDS.get(folder, ModelContract).model_validate(loader.construct_document(root) if root else None)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise ContractError(f"{path}:{line}: no YAML: {error.problem}; mend or quote this line") from None
    except ValidationError as error:
        raise ContractError(_told(path, root, error)) from None
    finally:
        loader.dispose()


def contract_text(path: Path) -> str:
    """The text of the contract at `path`.

    Raises
    ------
    ContractError
        Where there is none.
    """
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ContractError(f"{path}: no such file; every SQL file has a contract of the same name beside it") from None


def _told(path: Path, root: yaml.Node | None, error: ValidationError) -> str:
    first = error.errors()[0]
    keys = [str(key) for key in first["loc"]]
    return f"{path}:{_line_of(root, keys)}: {'.'.join(keys) or 'contract'}: {first['msg']}"


def _line_of(node: yaml.Node | None, keys: list[str]) -> int:
    """Line of the innermost key of `keys` that the document has."""
    line = node.start_mark.line + 1 if node else 1
    for key in keys:
        pair = next((pair for pair in _pairs(node) if pair[0].value == key), None)
        if pair is None:
            break
        line, node = pair[0].start_mark.line + 1, pair[1]
    return line


def _pairs(node: yaml.Node | None) -> list[tuple[yaml.Node, yaml.Node]]:
    return list(node.value) if isinstance(node, yaml.MappingNode) else []


def _refuse_repeated_keys(path: Path, node: yaml.Node | None) -> None:
    seen: set[str] = set()
    for key, value in _pairs(node):
        if key.value in seen:
            raise ContractError(f"{path}:{key.start_mark.line + 1}: {key.value} is given twice; keep one")
        seen.add(key.value)
        _refuse_repeated_keys(path, value)
