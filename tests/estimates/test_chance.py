"""The exclusion null against the CHECK values of section 2, and against listing every outcome."""

import subprocess
import sys
from itertools import combinations, product

import numpy as np
import pytest

from gangline.estimates.chance import Block, block_null, session_blocks

NODES = frozenset(f"gpu{number:03}" for number in range(62, 125))
SAME_THREE = frozenset(["gpu074", "gpu086", "gpu119"])


def drawn_blocks(count: int, size: int) -> list[Block]:
    generator = np.random.default_rng(5)
    names = sorted(NODES)
    return [Block(frozenset(generator.choice(names, size, replace=False).tolist()), NODES, 2.0) for _ in range(count)]


def test_check_224_independent_draws_of_3_from_63() -> None:
    null = block_null(drawn_blocks(224, 3), draws=2000, seed=1)
    assert null.expected.value == pytest.approx(0.0786, abs=0.0005)
    assert np.std(null.statistics) == pytest.approx(0.005, abs=0.001)
    assert null.p.value is not None
    assert null.p.value > 0.05
    assert (null.blocks, null.used, null.sampling_note()) == (224, 224, "")


def test_the_same_three_in_many_blocks_are_not_chance() -> None:
    sessions = [Block(SAME_THREE if turn % 2 else frozenset(["gpu062"]), NODES, 5.0) for turn in range(40)]
    null = block_null(session_blocks(sessions), draws=500, seed=1)
    assert null.observed.value == pytest.approx(300 / 400)
    assert null.p.value == 1 / 501


def test_one_long_block_proves_nothing() -> None:
    """224 sessions that never changed their nodes are one block: the effective n is 1 and p is 1."""
    null = block_null(session_blocks([Block(SAME_THREE, NODES, 3.0)] * 224), draws=200)
    assert (null.observed.value, null.used, null.p.value) == (1.0, 1, 1.0)


def test_agrees_with_every_outcome_listed() -> None:
    nodes = frozenset("abcd")
    blocks = [Block(frozenset("ab"), nodes, 1.0), Block(frozenset("a"), nodes, 2.0), Block(frozenset("c"), nodes, 4.0)]
    outcomes = []
    for sets in product(combinations("abcd", 2), combinations("abcd", 1), combinations("abcd", 1)):
        hours = dict.fromkeys("abcd", 0.0)
        for block, chosen in zip(blocks, sets, strict=True):
            for node in chosen:
                hours[node] += block.hours
        outcomes.append(max(hours.values()) / 8)
    null = block_null(blocks, draws=20_000, seed=3, top=1)
    assert null.observed.value == 0.5
    assert null.expected.value == pytest.approx(np.mean(outcomes), abs=0.005)
    assert null.p.value == pytest.approx(np.mean([outcome >= 0.5 for outcome in outcomes]), abs=0.01)


def test_candidates_differ_between_blocks() -> None:
    """A block whose candidates are the excluded nodes leaves nothing to chance."""
    blocks = [Block(frozenset("ab"), frozenset("ab"), 3.0), Block(frozenset("c"), frozenset("cd"), 1.0)]
    null = block_null(blocks, draws=400, top=2)
    assert set(null.statistics) == {6 / 7}
    assert null.p.value == 1.0


def test_more_blocks_than_the_most_are_sampled_and_said() -> None:
    null = block_null(drawn_blocks(30, 3), draws=50, max_blocks=10)
    assert (null.blocks, null.used, null.p.n) == (30, 10, 10)
    assert null.sampling_note() == "10 of 30 blocks, sampled"


def test_seed_decides() -> None:
    blocks = drawn_blocks(20, 5)
    assert block_null(blocks, draws=50, seed=1) == block_null(blocks, draws=50, seed=1)
    assert block_null(blocks, draws=50, seed=1).statistics != block_null(blocks, draws=50, seed=2).statistics


def test_result_does_not_depend_on_the_hash_seed() -> None:
    nodes = frozenset("abcdefgh")
    blocks = [Block(frozenset("ab"), nodes, 1.0), Block(frozenset("cd"), nodes, 2.5)] * 3
    code = (
        "from gangline.estimates.chance import Block, block_null; n = frozenset('abcdefgh');"
        "print(block_null([Block(frozenset('ab'), n, 1.0), Block(frozenset('cd'), n, 2.5)] * 3, draws=20).statistics)"
    )
    other = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONHASHSEED": "1"}, capture_output=True, text=True, check=True
    )
    assert other.stdout.strip() == str(block_null(blocks, draws=20).statistics)


def test_nothing_left_out() -> None:
    assert block_null([]).p.reason == "there is no gang session"
    null = block_null([Block(frozenset(), NODES, 5.0)])
    assert (null.observed.reason, null.blocks) == ("no gang session leaves out a node", 0)


def test_bad_blocks() -> None:
    with pytest.raises(ValueError, match="leaves out gpu999, which is not among its candidates"):
        block_null([Block(frozenset(["gpu999"]), NODES, 1.0)])
    with pytest.raises(ValueError, match="hours must not be negative; got -1"):
        block_null([Block(SAME_THREE, NODES, -1.0)])
    with pytest.raises(ValueError, match="at least one draw; got 0"):
        block_null([Block(SAME_THREE, NODES, 1.0)], draws=0)


def test_sessions_join_only_where_they_follow_each_other() -> None:
    one, two = frozenset(["gpu062"]), frozenset(["gpu063"])
    sessions = [Block(one, NODES, 1.0), Block(one, NODES, 2.0), Block(two, NODES, 4.0), Block(one, NODES, 8.0)]
    assert [(block.excluded, block.hours) for block in session_blocks(sessions)] == [(one, 3.0), (two, 4.0), (one, 8.0)]
