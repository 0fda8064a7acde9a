"""What chance alone would do to node exclusions: sets of the same sizes, drawn at random, block by block."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from gangline.estimates.estimate import USUAL_LEVEL, Estimate
from gangline.estimates.sampling import Drawing, drawn_hours
from gangline.estimates.wording import counted

CELLS_AT_ONCE = 128 * 2_000
"""Cells (draws times nodes) worked on together: the tables of so many stay in a core's cache."""

SAME = 1e-9
"""Shares nearer than this are equal: sums of hours in another order differ in the last digit."""


@dataclass(frozen=True, slots=True)
class Block:
    """A run of consecutive gang sessions that leave out the same nodes.

    Attributes
    ----------
    excluded : frozenset of str
        The nodes left out.
    candidates : frozenset of str
        The nodes that could have been, in service at the block's first start; share one object between blocks.
    hours : float
        Length of its sessions together.
    """

    excluded: frozenset[str]
    candidates: frozenset[str]
    hours: float


@dataclass(frozen=True, slots=True)
class BlockNull:
    """The share of the top nodes seen, what chance gives, and how rarely chance reaches it.

    `observed` and `p` rest on `used` blocks of `blocks` (the effective n): fewer where they had to be sampled.
    `expected` is the null's mean with its central band; `statistics` the null's draws, for a histogram.
    """

    observed: Estimate
    expected: Estimate
    p: Estimate
    blocks: int
    used: int
    statistics: tuple[float, ...] = ()

    def sampling_note(self) -> str:
        """Say that blocks were sampled, or nothing."""
        return f"{self.used:,} of {counted(self.blocks, 'blocks')}, sampled" if self.used < self.blocks else ""


def session_blocks(sessions: Sequence[Block]) -> tuple[Block, ...]:
    """Join consecutive sessions (each given as a block, by start) that leave out the same set; candidates of the first.

    >>> one, two = frozenset("a"), frozenset("b")
    >>> every = frozenset("abc")
    >>> [block.hours for block in session_blocks([Block(one, every, 2), Block(one, every, 3), Block(two, every, 1)])]
    [5, 1]
    """
    runs = (list(run) for _, run in groupby(sessions, key=lambda session: session.excluded))
    return tuple(replace(run[0], hours=sum(session.hours for session in run)) for run in runs)


def block_null(
    blocks: Sequence[Block],
    *,
    draws: int = 2000,
    seed: int = 0,
    max_blocks: int = 5000,
    top: int = 3,
    level: float = USUAL_LEVEL,
) -> BlockNull:
    """Compare the top nodes' share of excluded hours with sets of the same sizes drawn at random.

    In every draw each block gets a random set of its size out of its candidates and keeps its hours; the statistic is
    the share of all excluded hours that the `top` most excluded nodes hold; p is one-sided, (1 + draws at or above the
    observed) / (1 + draws). More than `max_blocks` blocks are sampled, and observed and null speak of the sample.

    Parameters
    ----------
    blocks : sequence of Block
        From `session_blocks`; blocks that leave out nobody take part in nothing.
    draws, seed, max_blocks, top, level
        Draws of the null, its seed, the most blocks used, nodes counted as the top, coverage of the band.

    Raises
    ------
    ValueError
        If a block leaves out a node that is no candidate of it, or has negative hours.

    References
    ----------
    Monte Carlo p: Davison and Hinkley 1997, Bootstrap Methods and their Application, section 4.2.
    """
    _check(blocks, draws)
    telling = [block for block in blocks if block.excluded and block.hours > 0]
    if not telling:
        return _nothing(len(blocks))
    used = _sampled(telling, max_blocks, seed)
    nodes = _positions(block.candidates for block in used)
    total = sum(block.hours * len(block.excluded) for block in used)
    observed = _observed_top(used, nodes, top) / total
    statistics = _null_tops(used, nodes, draws, seed, top) / total
    hits = int(np.count_nonzero(statistics >= observed - SAME))
    tails = [(1 - level) / 2, (1 + level) / 2]
    low, high = np.quantile(statistics, tails).tolist()
    method = f"permutation null, {draws:,} draws (seed {seed}), {counted(len(used), 'blocks')}"
    return BlockNull(
        Estimate(observed, "ratio", len(used), method=f"share of the top {top} by hours"),
        Estimate(float(statistics.mean()), "ratio", len(used), low, high, level, method),
        Estimate((1 + hits) / (1 + draws), "p", len(used), method=f"{method}, one-sided"),
        len(telling),
        len(used),
        tuple(statistics.tolist()),
    )


def _check(blocks: Sequence[Block], draws: int) -> None:
    if draws < 1:
        raise ValueError(f"the null needs at least one draw; got {draws}")
    for block in blocks:
        if not block.excluded <= block.candidates:
            stranger = min(block.excluded - block.candidates)
            raise ValueError(f"a block leaves out {stranger}, which is not among its candidates")
        if block.hours < 0:
            raise ValueError(f"a block's hours must not be negative; got {block.hours}")


def _nothing(blocks: int) -> BlockNull:
    reason = "no gang session leaves out a node" if blocks else "there is no gang session"
    ratio, p = Estimate.missing("ratio", reason, n=0), Estimate.missing("p", reason, n=0)
    return BlockNull(ratio, ratio, p, 0, 0)


def _sampled(blocks: Sequence[Block], most: int, seed: int) -> Sequence[Block]:
    if len(blocks) <= most:
        return blocks
    chosen = np.random.default_rng([seed, 1]).choice(len(blocks), most, replace=False)
    return [blocks[position] for position in np.sort(chosen)]


def _positions(sets: Iterable[frozenset[str]]) -> dict[str, int]:
    # Sorted, because the order of a set of text differs between two runs of Python.
    return {node: position for position, node in enumerate(sorted(frozenset().union(*set(sets))))}


def _observed_top(blocks: Sequence[Block], nodes: dict[str, int], top: int) -> float:
    hours = np.zeros(len(nodes))
    for block in blocks:
        hours[[nodes[node] for node in block.excluded]] += block.hours
    return float(_top_sums(hours[None, :], top)[0])


def _null_tops(blocks: Sequence[Block], nodes: dict[str, int], draws: int, seed: int, top: int) -> NDArray[np.float64]:
    members = {
        candidates: np.array(sorted(nodes[node] for node in candidates), dtype=np.int64)
        for candidates in {block.candidates for block in blocks}
    }
    drawings = [Drawing(members[block.candidates], len(block.excluded), block.hours) for block in blocks]
    rows = min(max(CELLS_AT_ONCE // len(nodes), 1), draws)
    starts = range(0, draws, rows)
    seeds = np.random.SeedSequence([seed, 2]).spawn(len(starts))
    tops = [
        _top_sums(drawn_hours(drawings, min(rows, draws - start), len(nodes), np.random.default_rng(part)), top)
        for start, part in zip(starts, seeds, strict=True)
    ]
    return np.concatenate(tops)


def _top_sums(hours: NDArray[np.float64], top: int) -> NDArray[np.float64]:
    first = max(hours.shape[1] - top, 0)
    return np.asarray(np.partition(hours, first, axis=1)[:, first:].sum(axis=1))
