"""Saves, loads and phases of gang sessions (analyses 6) through the whole ingest."""

import json
from pathlib import Path

from gangline.config import load
from gangline.ingest import ingest
from gangline.warehouse import connect


def test_the_real_shape_gives_every_save_of_the_truth(shared_data: Path, tmp_path: Path) -> None:
    """Unordered series, overlapping chunks, a counter's reset and a gap among them."""
    source = shared_data / "truth" / "telemetry" / "vm"
    truth = json.loads((source.parent / "truth.json").read_text())
    (tmp_path / "raw").mkdir()
    for name in ("cluster.toml", "raw/sessions.csv", "raw/telemetry.jsonl.gz"):
        (tmp_path / name).write_bytes((source / name).read_bytes())
    ingest(load(tmp_path / "cluster.toml"))
    with connect(load(tmp_path / "cluster.toml")) as con:
        rows = con.execute(
            "select epoch(started_at), epoch(ended_at), round(bytes), session_id, stage, interval_s, save_evidence"
            " from marts.checkpoint_saves order by started_at"
        ).fetchall()
        loads = con.execute(
            "select epoch(started_at - session_started_at), duration_s, node_count from marts.checkpoint_loads"
        ).fetchall()
    assert rows == [
        (
            save["start"],
            save["end"],
            round(save["bytes"]),
            f"s{save['session']}",
            save["stage"],
            save["interval"],
            "telemetry",
        )
        for save in truth["saves"]
    ]
    assert loads == [(0, 1500, 10)] * 4
