"""Contracts: what they accept, and how they say what is wrong."""

from pathlib import Path

import pytest

from gangline.contracts import (
    CheckContract,
    Contract,
    ContractError,
    MacroContract,
    ModelContract,
    Severity,
    contract_of,
    contract_text,
)

GOOD = """description: Nodes.
grain: one row per node
key: [node]
columns:
  node: {type: varchar, description: name}
  up_h: {type: double, description: hours up, unit: h, nullable: false}
checks:
  no_negative_hours: {sql: select 1 where false, message: clocks ran back; mend them, severity: warn}
identities:
  day_has_24_hours: up_h <= 24
"""


def written(folder: Path, content: str) -> Path:
    path = folder / "nodes.yml"
    path.write_text(content, encoding="utf-8")
    return path


def read(path: Path, folder: str) -> Contract:
    return contract_of(path, folder, contract_text(path))


def test_a_model_contract_is_read_whole(tmp_path: Path) -> None:
    contract = read(written(tmp_path, GOOD), "marts")
    assert isinstance(contract, ModelContract)
    assert contract.required() == ["node", "up_h"]
    assert contract.columns["up_h"].unit == "h"
    assert contract.checks["no_negative_hours"].severity is Severity.WARN


def test_the_folder_decides_the_kind(tmp_path: Path) -> None:
    macro = "description: d\narguments: {a: what}\nassertions: {one: 1 = 1}\n"
    assert isinstance(read(written(tmp_path, macro), "macros"), MacroContract)
    assert isinstance(read(written(tmp_path, "message: m\n"), "checks"), CheckContract)


@pytest.mark.parametrize(
    ("broken", "line", "words"),
    [
        (GOOD.replace("severity: warn", "severity: wrn"), 8, "checks.no_negative_hours.severity"),
        (GOOD.replace("unit: h,", "units: h,"), 6, "columns.up_h.units"),
        (GOOD.replace("grain: one row per node\n", ""), 1, "grain: Field required"),
        (GOOD + "key: [node]\n", 11, "key is given twice"),
        (GOOD.replace("{type: varchar,", "{type: varchar"), 5, "no YAML"),
        ("", 1, "contract"),
    ],
)
def test_what_is_wrong_is_told_with_file_line_and_key(tmp_path: Path, broken: str, line: int, words: str) -> None:
    path = written(tmp_path, broken)
    with pytest.raises(ContractError) as raised:
        read(path, "marts")
    assert str(raised.value).startswith(f"{path}:{line}: ")
    assert words in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_missing_contract_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(ContractError, match=r"absent\.yml: no such file; every SQL file has a contract"):
        read(tmp_path / "absent.yml", "marts")
