"""The seed of Xid codes: the catalogue's facts, and the policy that the analyses state."""

import csv
from pathlib import Path

import pytest

from tests.conftest import ROOT

SEED = ROOT / "sql" / "seeds" / "xid_codes.csv"


def codes() -> dict[int, dict[str, str]]:
    with SEED.open(encoding="utf-8", newline="") as lines:
        return {int(row["code"]): row for row in csv.DictReader(lines)}


def test_the_facts_are_the_catalogues(shared_data: Path) -> None:
    with (shared_data / "xid_catalog.csv").open(encoding="utf-8", newline="") as lines:
        wanted = {int(row["code"]): (row["mnemonic"], row["immediate_action"]) for row in csv.DictReader(lines)}
    assert {code: (row["name"], row["catalogue_action"]) for code, row in codes().items()} == wanted
    assert len(wanted) == 172


@pytest.mark.parametrize(
    ("code", "policy", "keep_node"),
    [
        (31, "retry", "true"),
        (94, "retry", "true"),
        (43, "retry", "true"),
        (119, "isolate_reset_retry", "false"),
        (145, "isolate_reset_retry", "false"),
        (149, "isolate_reset_retry", "false"),
        (79, "stop_isolate_page", "false"),
        (48, "isolate_reset_retry", "false"),
        (63, "ignore", "true"),
        (45, "follow_cause", ""),
        (162, "unknown", ""),
    ],
)
def test_the_policy_is_the_one_stated(code: int, policy: str, keep_node: str) -> None:
    row = codes()[code]
    assert (row["policy"], row["keep_node"]) == (policy, keep_node)


def test_our_policy_differs_from_the_catalogue_where_it_says_so() -> None:
    assert codes()[43]["catalogue_action"] == "IGNORE"
