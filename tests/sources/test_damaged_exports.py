"""Exports cut and spoilt at random: nothing is lost count of, and the only way out is a refusal."""

import contextlib
import json
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from gangline.sources import backendai, kubernetes, slurm_events
from gangline.sources.records import Source, SourceRefusedError
from tests.sources.reading import read_file

FIXTURES = Path(__file__).parent / "fixtures" / "backendai"
EVENTS = (
    "Cluster|NodeName|TimeStart|TimeEnd|State|Reason|User\n"
    "c||2026-11-29T17:16:29|Unknown||Cluster Registered TRES|\n"
    "c|gpu[1-2]|2026-11-30T02:00:00|2026-11-30T03:00:00|DOWN|two\nlines | here|root(0)\n"
)
WHEN = "2026-03-02T12:00:00Z"
PODS = {
    "kind": "List",
    "items": [
        {
            "kind": "Pod",
            "metadata": {"uid": "p", "name": "n", "ownerReferences": [{"kind": "Job", "uid": "j", "name": "n"}]},
            "spec": {"nodeName": "gpu1", "containers": [{"resources": {"limits": {"nvidia.com/gpu": "8"}}}]},
            "status": {"phase": "Running", "containerStatuses": [{"state": {"running": {"startedAt": WHEN}}}]},
        },
        {"kind": "Job", "metadata": {"uid": "j", "name": "n", "creationTimestamp": WHEN}, "spec": {}, "status": {}},
    ],
}


def exports() -> Iterator[tuple[str, Source, bytes]]:
    for path in sorted(FIXTURES.iterdir()):
        yield path.name, backendai, path.read_bytes()
    yield "events.txt", slurm_events, EVENTS.encode()
    yield "kubectl.json", kubernetes, json.dumps(PODS, indent=1).encode()


EXPORTS = list(exports())


def survives(source: Source, path: Path, data: bytes) -> None:
    path.write_bytes(data)
    with contextlib.suppress(SourceRefusedError):
        read_file(source, path)


@pytest.mark.parametrize(("name", "source", "data"), EXPORTS, ids=[name for name, _, _ in EXPORTS])
class TestDamage:
    def test_cut_anywhere(self, tmp_path: Path, name: str, source: Source, data: bytes) -> None:
        choose = random.Random(1)
        for _ in range(25):
            survives(source, tmp_path / name, data[: choose.randrange(len(data))])

    def test_spoilt_anywhere(self, tmp_path: Path, name: str, source: Source, data: bytes) -> None:
        choose = random.Random(2)
        for _ in range(25):
            spoilt = bytearray(data)
            for _ in range(choose.randrange(1, 30)):
                spoilt[choose.randrange(len(spoilt))] = choose.choice(b'\x00\xff"{}[],:\\\n\t|0x')
            survives(source, tmp_path / name, bytes(spoilt))

    def test_types_swapped(self, tmp_path: Path, name: str, source: Source, data: bytes) -> None:
        """Every `:` followed by a value of another type, as a careless converter writes it."""
        for value in (b": null", b": 7", b": []", b": {}", b': "x"', b": true"):
            for kept in (1, 5):
                parts = data.split(b'": ')
                swapped = b"".join(
                    part if index == 0 else b'"' + (value + b", " + b'"k": ' if index % kept == 0 else b": ") + part
                    for index, part in enumerate(parts)
                )
                survives(source, tmp_path / name, swapped)
