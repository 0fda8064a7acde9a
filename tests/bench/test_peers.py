"""The peers of the bench do the same work: equal peer z from the same lines."""

from pathlib import Path

import numpy as np
import pytest

from tests.bench import telemetry
from tests.bench.peers import PEERS, Peer
from tests.bench.telemetry_peers import peer_z_with_duckdb, read_with_duckdb


@pytest.mark.parametrize("peer", PEERS, ids=lambda peer: peer.name)
def test_peers_find_the_same(peer: Peer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not peer.is_installed:
        pytest.skip(f"{peer.name} is not installed: it is in the extra `bench`")
    for name, size in (("NODES", 3), ("DAY_STEPS", 40)):
        monkeypatch.setattr(telemetry, name, size)
    telemetry.write_export(tmp_path / "export.jsonl", 4, metrics=2)
    samples = 4 * 3 * telemetry.GPUS * 40
    assert read_with_duckdb(tmp_path / "export.jsonl", tmp_path / "long.duckdb") == samples
    assert peer.read(tmp_path / "export.jsonl", tmp_path / peer.name) == samples
    expected = peer_z_with_duckdb(tmp_path / "long.duckdb")
    assert expected.shape == (2 * 3 * telemetry.GPUS, 2)
    np.testing.assert_allclose(peer.peer_z(tmp_path / peer.name), expected, rtol=1e-9)
