"""Other programs that do the same work: what telemetry is measured against besides DuckDB, where they are installed."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tests.bench.chdb_peers import HAS_CHDB, peer_z_with_chdb, read_with_chdb
from tests.bench.polars_peers import peer_z_with_polars, read_with_polars


@dataclass(frozen=True)
class Peer:
    """How a program reads lines into a long table, and finds peer z in it.

    Attributes
    ----------
    read : takes the lines and where the table is to lie; gives how many samples
    peer_z : takes the table; gives sum and maximum of each series' absolute peer z, by metric and sum
    """

    name: str
    is_installed: bool
    read: Callable[[Path, Path], int]
    peer_z: Callable[[Path], NDArray[np.float64]]


PEERS = (
    Peer("polars", True, read_with_polars, peer_z_with_polars),
    Peer("chdb", HAS_CHDB, read_with_chdb, peer_z_with_chdb),
)
