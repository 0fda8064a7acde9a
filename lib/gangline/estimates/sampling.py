"""Random node sets in bulk: many draws of sets of given sizes, added up as hours per draw and node."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Cells = NDArray[np.int64]
LAST_STAMP = np.iinfo(np.int32).max


@dataclass(frozen=True, eq=False, slots=True)
class Drawing:
    """What to draw: `size` of `members` (node positions), each of which then counts `hours`."""

    members: Cells
    size: int
    hours: float


def drawn_hours(
    drawings: Sequence[Drawing], rows: int, nodes: int, generator: np.random.Generator
) -> NDArray[np.float64]:
    """Hours per row (one draw of every set, independent of the others) and node.

    A set is drawn by taking members with replacement until enough differ, which leaves every set of the size equally
    likely. Of sets over half their members the complement is drawn instead.

    Parameters
    ----------
    drawings : sequence of Drawing
        Sets to draw, at most as large as their members.
    rows, nodes : int
        Draws to make at once; memory is 12 bytes times rows times nodes.
    generator : numpy Generator
        Source of randomness; the result is a function of its state.
    """
    table, stamps = np.zeros(rows * nodes), np.zeros(rows * nodes, dtype=np.int32)
    offsets: Cells = np.arange(rows, dtype=np.int64)[:, None] * nodes
    stamp = 1
    for drawing in drawings:
        spare = drawing.members.size - drawing.size
        is_inverted = spare < drawing.size
        size = spare if is_inverted else drawing.size
        if is_inverted:
            table.reshape(rows, nodes)[:, drawing.members] += drawing.hours
        if stamp > LAST_STAMP - size:
            stamps[:], stamp = 0, 1
        cells = _draw(drawing.members, size, offsets, stamps, stamp, generator)
        table[cells] += -drawing.hours if is_inverted else drawing.hours
        stamp += size
    return table.reshape(rows, nodes)


def _draw(
    members: Cells, size: int, offsets: Cells, stamps: NDArray[np.int32], stamp: int, generator: np.random.Generator
) -> Cells:
    """Cells of one set per row. A cell's stamp tells whether and as which member it was taken in this drawing."""
    rows = offsets.shape[0]
    bases = np.broadcast_to(offsets, (rows, size)).ravel()
    marks = np.tile(np.arange(stamp, stamp + size, dtype=np.int32), rows)
    cells: Cells = bases + members[generator.integers(0, members.size, rows * size)]
    stamps[cells] = marks
    # Of two in one cell the later overwrote the stamp; the other is drawn again until it finds a free cell.
    again = np.flatnonzero(stamps[cells] != marks)
    while again.size:
        tries = bases[again] + members[generator.integers(0, members.size, again.size)]
        is_free = stamps[tries] < stamp
        placed = again[is_free]
        cells[placed] = tries[is_free]
        stamps[cells[placed]] = marks[placed]
        lost = stamps[cells[placed]] != marks[placed]
        again = np.concatenate([again[~is_free], placed[lost]])
    return cells
