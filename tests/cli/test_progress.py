"""Progress off a terminal: a line a thing, and rate and time left of what takes long."""

from pathlib import Path

import pytest

from gangline.cli import progress as progresses
from gangline.cli.progress import Pace, progress
from gangline.sources import metering
from gangline.sources.files import InputFile
from tests import telemetries


@pytest.mark.parametrize(
    ("done", "total", "seconds", "said"),
    [
        (50, 100, 10.0, "50 %, 0.0 MB/s, 10 s left"),
        (10**9, 126 * 10**9, 15.0, "1 %, 66.7 MB/s, 31 min left"),
        (10**9, 10**12, 15.0, "0 %, 66.7 MB/s, 4.2 h left"),
        (0, 100, 10.0, "at its start"),
    ],
)
def test_pace(done: int, total: int, seconds: float, said: str) -> None:
    assert str(Pace(done, total, seconds)) == said


def test_plain_lines_come_seldom(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(progresses.time, "monotonic", lambda: now[0])
    with progress("reading") as listener:
        listener("a.jsonl", 0, 2)
        for second in range(1, 26):
            now[0] = float(second)
            listener.within(second * 10**7, 10**9)
        listener("b.csv", 1, 2)
        listener("", 2, 2)
    assert capsys.readouterr().out.splitlines() == [
        "reading 1 of 2: a.jsonl",
        "reading 1 of 2: a.jsonl: 10 %, 10.0 MB/s, 90 s left".replace("90 s", "2 min"),
        "reading 1 of 2: a.jsonl: 20 %, 10.0 MB/s, 80 s left",
        "reading 2 of 2: b.csv",
    ]


@pytest.mark.parametrize("ending", ["", ".gz", ".zst"])
def test_the_meter_is_told_bytes_on_disk(tmp_path: Path, ending: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import gzip

    import zstandard

    text = b"".join(b"line %d of many\n" % number for number in range(300_000))
    packed = {"": text, ".gz": gzip.compress(text), ".zst": zstandard.compress(text)}[ending]
    path = tmp_path / f"x{ending}"
    path.write_bytes(packed)
    file = InputFile(path)
    assert file.position() == 0
    positions = [file.position() for _ in file.lines()]
    assert positions == sorted(positions)
    assert positions[-1] == len(packed)
    assert file.position() == 0


def test_ingest_tells_the_meter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from gangline.ingest import ingest

    config = telemetries.cluster(tmp_path, telemetries.usual_lines())
    monkeypatch.setattr(metering, "METER_S", 0.0)
    told: list[tuple[int, int]] = []
    ingest(config, is_rebuild=True, meter=lambda done, total: told.append((done, total)))
    size = (tmp_path / "telemetry.jsonl").stat().st_size
    assert (size, size) in told
