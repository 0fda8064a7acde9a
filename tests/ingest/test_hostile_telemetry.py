"""Hostile files of samples beside good ones, through the whole ingest: a line for each, and nothing else is lost."""

import gzip
import json
import re
from pathlib import Path

import duckdb
import pytest
from typer.testing import CliRunner

from gangline.bundle import write_bundle
from gangline.cli.application import app
from gangline.config import Config, load
from gangline.warehouse import connect
from gangline.windows import Window

T0 = 1_772_323_200_000  # 2026-03-01T00:00:00Z
CONFIG = '[cluster]\nname = "orion"\ntime_zone = "UTC"\n[[sources]]\nkind = "prometheus"\npath = "raw/*"\n'
NAMES = {
    "script": '<img src=x onerror="alert(1)">',
    "sql": "n'; drop schema marts cascade; --",
    "path": "../../etc/passwd",
    "glob": "[a-z]*?{1,2}",
    "breaks": 'line1\nline2\r\t"\\\0',
    "empty_looking": " ",
    "bidi": "\u202eabc",
    "half": "x\ud800",
}


def line(metric: str, node: str, value: float = 1.0, time: int = T0, **labels: str) -> str:
    names = {"__name__": metric, "instance": node} | labels
    return json.dumps({"metric": names, "values": [value], "timestamps": [time]}) + "\n"


def answer(*series: dict[str, object], **more: object) -> str:
    return json.dumps({"status": "success", "data": {"resultType": "matrix", "result": list(series)}} | more)


FILES: dict[str, bytes] = {
    "good.jsonl": line("good", "n1", 7.0).encode(),
    "bom.jsonl": b"\xef\xbb\xbf" + line("good", "n2", 8.0).encode(),
    "names.jsonl": "".join(line(f"m{text}", text, a=text) for text in NAMES.values()).encode(),
    "deep.jsonl": b'{"metric":{"__name__":"m","a":' + b"[" * 100_000 + b"\n" + line("good", "n3", 9.0).encode(),
    "long_name.jsonl": (line("x" * 250, "n1") + line("good", "n4", 10.0)).encode(),
    "wide.jsonl": (line("good", "n5", 11.0, a="x" * 1_000_000)).encode(),
    "cut.gz": gzip.compress(b"".join(line("good", f"g{n}").encode() for n in range(500)))[:-40],
    "noise.gz": b"\x1f\x8b\x08" + bytes(range(200)),
    "utf16.txt": f"m 1 {T0}\n".encode("utf-16"),
    "random": bytes((n * 7919) % 256 for n in range(3000)),
    "page.html": b"<html>502</html>",
    "empty": b"",
    "comments": b"# HELP m M\n# EOF\n",
    "error.json": b'{"status":"error","errorType":"bad_data","error":"a\\nb \\ud800"}',
    "no_labels.json": answer({"metric": {}, "values": [[T0 / 1000, "1"]]}).encode(),
    "warned.json": answer(warnings=["slow"], infos=["odd"]).encode(),
    "mixed.txt": f"m 1 {T0}\nm 2 {T0 // 1000}\n".encode(),
    "no_time.prom": b"# TYPE m gauge\nm 1\n",
    "panel.csv": b'"Time","m"\n1,"' + b"x" * 200_000 + b'"\n',
    "mounts": b"device a:/b mounted on /b with fstype nfs statvers=1.1\n",
}
SAID = {
    "cut.gz": "the file breaks off (Compressed file ended",
    "noise.gz": "the file breaks off (Error -3 while decompressing data",
    "utf16.txt": "this is UTF-16 text: save the file as UTF-8",
    "random": "binary, such as VictoriaMetrics' native export",
    "page.html": "page.html:1: no form of an export begins with '<html>502</html>'",
    "error.json": "the server answered with an error, bad_data: a b ?; export it again",
    "no_labels.json": "it has no metric name",
    "mixed.txt": "mixed.txt:2: seconds and milliseconds are mixed in one file",
    "no_time.prom": "no_time.prom:2: the line holds no time; set exported_at",
    "panel.csv": "no row of CSV (field larger than field limit",
    "mounts": "mounts: whose mountstats are these?",
    "deep.jsonl": "it is no series of values and timestamps, or breaks off",
    "long_name.jsonl": "its metric's name has more than 240 bytes",
}


def cluster(folder: Path) -> Config:
    (folder / "raw").mkdir()
    (folder / "cluster.toml").write_text(CONFIG)
    for name, content in FILES.items():
        (folder / "raw" / name).write_bytes(content)
    return load(folder / "cluster.toml")


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Config:
    made = cluster(tmp_path_factory.mktemp("hostile"))
    told = CliRunner().invoke(app, ["ingest", "-c", str(made.path)])
    assert (told.exit_code, told.exception) == (0, None)
    assert [name for name in FILES if not re.search(rf"^raw/{name} \(prometheus\): ", told.stdout, re.MULTILINE)] == []
    return made


def test_good_lines_are_all_there(config: Config) -> None:
    with connect(config) as con:
        good = con.execute(
            "select node, value from marts.samples join marts.series using (series_id, metric)"
            " where metric = 'good' and node like 'n%' order by all"
        ).fetchall()
    assert good == [("n1", 7.0), ("n2", 8.0), ("n3", 9.0), ("n4", 10.0), ("n5", 11.0)]


def test_each_file_says_in_one_line_what_is_wrong(config: Config) -> None:
    with connect(config) as con:
        rejects = con.execute(
            "select parse_filename(path), string_agg(reason, ' | '), count(*) from meta.rejects"
            " join meta.files using (file_id) group by all"
        ).fetchall()
    said = {name: reason for name, reason, _ in rejects}
    assert said.keys() == SAID.keys()
    assert {name for name in SAID if SAID[name] not in said[name] or "\n" in said[name]} == set()
    assert sum(count for *_, count in rejects) == len(SAID) + 1  # the cut file: its last line, and that it is cut


def test_hostile_names_are_data(config: Config, tmp_path: Path) -> None:
    nodes = {text.replace("\ud800", "\ufffd") for text in NAMES.values()}
    with connect(config) as con:
        rows = con.execute("select metric, node, labels ->> 'a' from marts.series where metric like 'm_%'").fetchall()
    assert {(metric[1:], node, label) for metric, node, label in rows} == {(text, text, text) for text in nodes}
    write_bundle(config, Window.between("2026-03-01", "2026-03-02", "UTC"), tmp_path / "sent's.duckdb")
    with duckdb.connect(tmp_path / "sent's.duckdb", read_only=True) as con:
        sent = con.execute("select distinct metric from marts.samples where metric like 'm_%'").fetchall()
    assert {metric[1:] for (metric,) in sent} == nodes
