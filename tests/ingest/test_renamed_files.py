"""Files whose name tells whose they are: given the right name they are read again, moved about they are not."""

from pathlib import Path

from gangline.config import load
from gangline.ingest import ingest
from gangline.warehouse import connect

CONFIG = """
[cluster]
name = "orion"
time_zone = "UTC"
nodes = ["gpu[001-002]"]
[[sources]]
kind = "prometheus"
path = "mounts/**/*"
[[sources]]
kind = "kernel_log"
path = "kernel/**/*"
[[sources]]
kind = "console_log"
path = "console/**/*"
"""
MOUNTS = """2026-03-01T00:00:00Z
device 10.0.0.1:/data mounted on /data with fstype nfs4 statvers=1.1
\tage:\t77
\txprt:\ttcp 832 0 1 2 3 400 399 5 9000 6 24 26 5726
"""
KERNEL = "[Sun Mar  1 00:00:01 2026] NVRM: Xid (PCI:0000:1b:00): 79, pid=7, name=a, GPU has fallen off the bus.\n"
CONSOLE = "2026-03-01 00:00:02 step 1 loss 2.5\n"
TOLD = """
select
    (select any_value(node) from marts.series where metric = 'node_mountstats_nfs_age_seconds_total'),
    (select any_value(node) from marts.xid_events),
    (select any_value(session_id) from raw.console_records)
"""


def test_a_name_that_tells_more_is_a_reason_to_read_again(tmp_path: Path) -> None:
    (tmp_path / "cluster.toml").write_text(CONFIG)
    for folder, text in (("mounts", MOUNTS), ("kernel", KERNEL), ("console", CONSOLE)):
        (tmp_path / folder / "sub").mkdir(parents=True)
        (tmp_path / folder / "x.txt").write_text(text)
    config = load(tmp_path / "cluster.toml")
    refusals = [outcome.refusal for outcome in ingest(config).outcomes]
    assert ["whose mountstats are these" in (refusal or "") for refusal in refusals] == [True, False, False]
    with connect(config) as con:
        assert con.execute(TOLD).fetchall() == [(None, None, None)]
    for folder, name in (("mounts", "gpu001.txt"), ("kernel", "gpu002.txt"), ("console", "slurm-77.out")):
        (tmp_path / folder / "x.txt").rename(tmp_path / folder / name)
    assert len(ingest(config).outcomes) == 3
    with connect(config) as con:
        assert con.execute(TOLD).fetchall() == [("gpu001", "gpu002", "77")]
        assert con.execute("select count(*) from meta.rejects").fetchall() == [(0,)]
    for path in (*tmp_path.glob("*/gpu*"), tmp_path / "console/slurm-77.out"):
        path.rename(path.parent / "sub" / path.name)
    assert (ingest(config).outcomes, ingest(config).known) == ([], 3)
