"""What the bench times is what ingest does: every sample of an export is in the store after it."""

from pathlib import Path

import pytest

from gangline.config import load
from gangline.warehouse import connect
from tests.bench import telemetry
from tests.bench.telemetry_suite import load_samples


def test_every_sample_is_stored_however_often_it_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, size in (("NODES", 3), ("DAY_STEPS", 40)):
        monkeypatch.setattr(telemetry, name, size)
    config = telemetry.write_config(tmp_path)
    telemetry.write_export(tmp_path / "raw/export.jsonl", 4, metrics=2)
    series_days = 4 * 3 * telemetry.GPUS
    assert [load_samples(config) for _ in range(2)] == [series_days, series_days]
    with connect(load(config)) as con:
        stored = con.execute("select sum(sample_count) from meta.sample_parts where is_live").fetchone()
    assert stored == (series_days * 40,)
