"""The SQL files of `sql/`, what each one reads, and the order in which they can be built."""

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import sqlglot
from sqlglot import exp

from gangline.contracts import Contract, ModelContract, contract_of, contract_text

SCHEMAS = {"seeds": "staging", "staging": "staging", "intermediate": "intermediate", "marts": "marts"}
FOLDERS = ("macros", *SCHEMAS, "checks")
AS_TABLE = re.compile(r"\)\s*as\s+table\b", re.IGNORECASE)
MACRO = "macro "  # a table and a table macro may share a name; this prefix keeps their references apart


class ModelError(ValueError):
    """A SQL file cannot be placed in the build: one line that says which file and why."""


@dataclass(frozen=True)
class Model:
    """One SQL file (or seed) with its contract; `reads` are references such as `marts.nodes` or `macro hours`."""

    path: Path
    folder: str
    schema: str
    name: str
    sql: str
    contract: Contract
    reads: frozenset[str]
    is_table_macro: bool = False

    @property
    def full_name(self) -> str:
        """`schema.name` as SQL writes it; scalar macros stand in the main schema and go by their bare name."""
        return f"{self.schema}.{self.name}" if self.schema else self.name

    @property
    def reference(self) -> str:
        """The name under which others' `reads` find it."""
        return MACRO + self.full_name if self.folder == "macros" else self.full_name

    @property
    def is_view(self) -> bool:
        """Staging models are views unless their contract says otherwise; the rest are tables."""
        said = self.contract.materialized if isinstance(self.contract, ModelContract) else None
        return (said or ("view" if self.folder == "staging" else "table")) == "view"


def find_models(folder: Path) -> list[Model]:
    """Every seed, macro, model and check below `folder`, by folder and name.

    Raises
    ------
    ModelError
        Where the SQL cannot be parsed or two files make the same thing.
    ContractError
        Where a contract is missing or wrong.
    """
    if not folder.is_dir():
        raise ModelError(f"{folder}: no such folder; gangline runs from its clone (pip install -e .)")
    models = [_read_model(path, kind) for kind in FOLDERS for path in sorted((folder / kind).glob(_pattern(kind)))]
    seen: dict[str, Model] = {}
    for model in models:
        if model.reference in seen:
            raise ModelError(f"{model.path}: {model.reference} is made by {seen[model.reference].path} too; rename one")
        seen[model.reference] = model
    return models


def _pattern(folder: str) -> str:
    return "*.csv" if folder == "seeds" else "*.sql"


def _read_model(path: Path, folder: str) -> Model:
    sql = "" if folder == "seeds" else path.read_text(encoding="utf-8").strip().removesuffix(";")
    return _model_of(path, folder, sql, contract_text(path.with_suffix(".yml")))


@lru_cache(maxsize=1024)
def _model_of(path: Path, folder: str, sql: str, contract_content: str) -> Model:
    """By content, so that what is parsed once in a process is parsed once."""
    contract = contract_of(path.with_suffix(".yml"), folder, contract_content)
    if folder == "seeds":
        return Model(path, folder, SCHEMAS[folder], path.stem, sql, contract, frozenset())
    tree = _parse(path, sql)
    if folder == "macros":
        return _read_macro(path, sql, contract, tree)
    return Model(path, folder, SCHEMAS.get(folder, "checks"), path.stem, sql, contract, _reads(path, tree))


def _read_macro(path: Path, sql: str, contract: Contract, tree: exp.Expr) -> Model:
    made = tree.this
    if not isinstance(tree, exp.Create) or not isinstance(made, exp.UserDefinedFunction):
        raise ModelError(f"{path}: a macro file holds one `create or replace macro` statement")
    table = made.this
    if table.name != path.stem:
        raise ModelError(f"{path}: makes the macro {table.name}; name the file after it")
    is_table = AS_TABLE.search(sql) is not None
    return Model(path, "macros", table.text("db"), path.stem, sql, contract, _reads(path, tree.expression), is_table)


def _parse(path: Path, sql: str) -> exp.Expr:
    try:
        trees = sqlglot.parse(sql, dialect="duckdb")
    except sqlglot.errors.ParseError as error:
        place = error.errors[0]
        raise ModelError(f"{path}:{place['line']}: cannot be parsed near {place['highlight']!r}") from None
    if len(trees) != 1 or trees[0] is None:
        raise ModelError(f"{path}: holds {len(trees)} statements; a file is one statement")
    return trees[0]


def _reads(path: Path, tree: exp.Expr) -> frozenset[str]:
    named = {step.alias for step in tree.find_all(exp.CTE)}
    reads = {MACRO + call.name for call in tree.find_all(exp.Anonymous) if not isinstance(call.parent, exp.Table)}
    for table in tree.find_all(exp.Table):
        call = isinstance(table.this, exp.Anonymous)
        name = table.this.name if call else table.name
        if table.text("db"):
            reads.add(f"{MACRO if call else ''}{table.text('db')}.{name}")
        elif not call and name and name not in named:
            raise ModelError(f"{path}: reads {name}, which is no step of it; write it with its schema")
    return frozenset(reads)


def in_order(models: list[Model], outside: Iterable[str]) -> list[Model]:
    """The models, each after all that it reads; `outside` are the tables that the database already has.

    Raises
    ------
    ModelError
        Where models read each other in a circle, or one reads what neither is made nor exists.
    """
    made = {model.reference: model for model in models}
    known = made.keys() | set(outside)
    sorter: TopologicalSorter[str] = TopologicalSorter()
    for model in models:
        sorter.add(model.reference, *sorted(_needs(model, made.keys(), known)))
    try:
        return [made[reference] for reference in sorter.static_order()]
    except CycleError as error:
        raise ModelError(f"models read each other in a circle: {' > '.join(error.args[1])}; break it") from None


def _needs(model: Model, made: Iterable[str], known: Iterable[str]) -> set[str]:
    # Built-in functions look like scalar macros, so a call of neither is left for DuckDB to judge.
    tables = {read for read in model.reads if "." in read}
    for missing in sorted(tables - set(known)):
        near = difflib.get_close_matches(missing, known, 1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise ModelError(f"{model.path}: reads {missing}, which nothing makes{hint}")
    return (set(model.reads) & set(made)) - {model.reference}


def with_sources(models: list[Model], wanted: Iterable[str]) -> list[Model]:
    """Those of `models` that `wanted` (names with or without schema) need, themselves included.

    Raises
    ------
    ModelError
        Where a wanted name is no model.
    """
    made = {model.reference: model for model in models}
    queue = [model.reference for name in wanted for model in _named(models, name)]
    kept: set[str] = set()
    while queue:
        reference = queue.pop()
        kept.add(reference)
        queue.extend(read for read in made[reference].reads if read in made and read not in kept)
    return [model for model in models if model.reference in kept]


def _named(models: list[Model], name: str) -> list[Model]:
    found = [model for model in models if name in (model.name, model.full_name)]
    if not found:
        near = difflib.get_close_matches(name, [model.name for model in models], 1)
        raise ModelError(f"{name} is no model{f'; did you mean {near[0]}?' if near else ''}")
    return found
