"""XID gauges and kernel logs through the whole ingest: each code once, over days, resets and replaced GPUs."""

import json
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from gangline import failure_rates
from gangline.config import Config, load
from gangline.ingest import ingest
from gangline.warehouse import connect
from gangline.windows import Window
from tests.configs import cluster_head, source_entry

CONFIG = (
    cluster_head("corvus", "n[1-2]")
    + source_entry("prometheus", "telemetry.json*")
    + source_entry("kernel_log", "kern.log")
)
GAUGE = "DCGM_FI_DEV_XID_ERRORS"
DAY = datetime(2026, 3, 1, tzinfo=UTC)
EVENTS = """
select node, gpu_index, gpu_uuid, pci_bus_id, code, events.at, seen_after, source, time_quality, is_secondary
from marts.xid_events as events order by events.at
"""


def at(minute: float) -> datetime:
    return DAY + timedelta(minutes=minute)


def gauge(values: dict[float, float], **labels: str) -> str:
    """A line of one GPU's gauge by minute."""
    known = {"__name__": GAUGE, "Hostname": "n1", "gpu": "0", "UUID": "GPU-a", "pci_bus_id": "00000000:1B:00.0"}
    times = [round(at(minute).timestamp() * 1000) for minute in values]
    return json.dumps({"metric": known | labels, "values": list(values.values()), "timestamps": times})


def message(minute: float, code: int) -> str:
    """A line of n2's kernel log."""
    return f"{at(minute).isoformat()} n2.dc kernel: [1.5] NVRM: Xid (PCI:0000:1b:00): {code}, pid=7, name=a, Text\n"


def cluster(folder: Path, *lines: str, messages: str = "") -> Config:
    (folder / "cluster.toml").write_text(CONFIG)
    (folder / "kern.log").write_text(messages)
    (folder / "telemetry.json").write_text("\n".join(lines) + "\n")
    config = load(folder / "cluster.toml")
    ingest(config)
    return config


def rows(config: Config, sql: str) -> list[tuple[Any, ...]]:
    with connect(config) as con:
        return con.execute(sql).fetchall()


def test_a_code_that_stays_is_one_event_over_days_and_exports(tmp_path: Path) -> None:
    """79 for 120 samples and past midnight; 0 after the driver's reset, then 79 again; `err_code` is no new series.

    A code that a series begins with is told and no event; DCGM's word for no value is no code. A kernel log names only
    the place of a GPU, which held another before.
    """
    held = {float(minute): 79.0 for minute in range(10, 130)}
    config = cluster(
        tmp_path,
        gauge({0.0: 0.0}, err_code="0"),
        gauge(held | {1439.0: 79.0}, err_code="79"),
        gauge({1441.0: 79.0, 1500.0: 0.0, 2000.0: 79.0, 2001.0: 94.0, 2002.0: float("nan"), 2003.0: 94.0}),
        gauge({0.0: 94.0, 1.0: 94.0, 3000.0: 31.0}, Hostname="n2", UUID="GPU-b"),
        gauge({0.0: 2.0**63, 1.0: 0.0}, Hostname="n2", gpu="1", UUID="GPU-c", pci_bus_id="00000000:2D:00.0"),
        gauge({4000.0: 0.0, 4001.0: 48.0}, Hostname="n2", UUID="GPU-d"),
        messages=message(2999.5, 31) + message(3500, 48) + message(4000.5, 48),
    )
    same = ("n1", 0, "GPU-a", "0000:1b:00")
    assert rows(config, EVENTS) == [
        (*same, 79, at(10), at(0), "gauge", "scraped", False),
        (*same, 79, at(2000), at(1500), "gauge", "scraped", False),
        (*same, 94, at(2001), at(2000), "gauge", "scraped", False),
        ("n2", 0, "GPU-b", "0000:1b:00", 31, at(2999.5), None, "kernel_log+gauge", "stamped", False),
        ("n2", 0, "GPU-b", "0000:1b:00", 48, at(3500), None, "kernel_log", "stamped", False),
        ("n2", 0, "GPU-d", "0000:1b:00", 48, at(4000.5), None, "kernel_log+gauge", "stamped", False),
    ]
    told = rows(config, "select failing_rows from meta.checks where check_name = 'gauges_begin_without_a_code'")
    assert told == [(1,)]


COUNT = {"__name__": "DCGM_EXP_XID_ERRORS_COUNT", "window_size_in_ms": "300000"}


def counted(values: dict[float, float], code: str | None = None, **labels: str) -> str:
    """A line of dcgm-exporter's count: without an XID in its window the series is 0 and names no code."""
    return gauge(values, **COUNT, **({"xid": code} if code else {}), **labels)


def minutes(first: int, last: int, value: float) -> dict[float, float]:
    return {float(minute): value for minute in range(first, last)}


def test_counts_of_a_code_tell_it_again_and_once_with_what_else_tells_it(tmp_path: Path) -> None:
    """The gauge shows 79 once and keeps it; counts show it at 10, 30 and twice at 35. It leaves the window at 15."""
    config = cluster(
        tmp_path,
        gauge(minutes(0, 10, 0.0) | minutes(10, 60, 79.0)),
        counted(minutes(0, 10, 0.0) | minutes(15, 30, 0.0) | minutes(45, 60, 0.0)),
        counted(minutes(10, 15, 1.0) | minutes(30, 35, 1.0) | minutes(35, 40, 3.0) | minutes(40, 45, 2.0), "79"),
        counted(minutes(100, 105, 1.0), "0") + "\n" + counted(minutes(100, 105, 1.0), "junk"),
        counted(minutes(0, 5, 1.0), "31", Hostname="n2", UUID="GPU-b"),
        counted(minutes(2000, 2002, 1.0) | minutes(2004, 2007, 1.0), "48", Hostname="n2", UUID="GPU-b"),
        messages=message(1999.5, 48),
    )
    same = ("n1", 0, "GPU-a", "0000:1b:00")
    other = ("n2", 0, "GPU-b", "0000:1b:00")
    assert rows(config, EVENTS) == [
        (*other, 31, at(0), at(-5), "gauge", "scraped", False),
        (*same, 79, at(10), at(9), "gauge", "scraped", False),
        (*same, 79, at(30), at(29), "gauge", "scraped", False),
        (*same, 79, at(35), at(34), "gauge", "scraped", False),
        (*other, 48, at(1999.5), None, "kernel_log+gauge", "stamped", False),
    ]


def test_counts_alone_are_a_source_and_go_on_over_midnight(tmp_path: Path) -> None:
    config = cluster(
        tmp_path,
        counted(minutes(0, 1436, 0.0) | minutes(1445, 1450, 0.0)),
        counted(minutes(1436, 1438, 1.0) | minutes(1441, 1445, 1.0), "79"),
    )
    assert [(code, when, before) for *_, code, when, before, _, _, _ in rows(config, EVENTS)] == [
        (79, at(1436), at(1435))
    ]
    with connect(config) as con:
        watched = failure_rates.watch(con, Window.between("2026-03-01", "2026-03-02", "UTC"))
        assert failure_rates.has_source(con)
    assert dict(watched.select("node", "has_gauge").rows()) == {"n1": True, "n2": False}


def test_a_gauge_that_the_config_names_tells_of_its_nodes(tmp_path: Path) -> None:
    """`[roles.xid]` puts another metric in the place of all that are known; analyses go by the role."""
    named = CONFIG + '[roles.xid]\nmetric = "site_last_fault"\n'
    (tmp_path / "cluster.toml").write_text(named)
    (tmp_path / "kern.log").write_text("")
    lines = gauge({0: 0, 1: 79, 2: 79}, __name__="site_last_fault"), gauge({0: 0, 1: 31, 2: 31}, Hostname="n2")
    (tmp_path / "telemetry.json").write_text("\n".join(lines) + "\n")
    config = load(tmp_path / "cluster.toml")
    ingest(config)
    assert rows(config, "select node, code from marts.xid_events") == [("n1", 79)]
    with connect(config) as con:
        watched = failure_rates.watch(con, Window.between("2026-03-01", "2026-03-02", "UTC"))
    assert dict(watched.select("node", "has_gauge").rows()) == {"n1": True, "n2": False}


def test_the_real_set_has_its_four_codes(shared_data: Path, tmp_path: Path) -> None:
    """GPU 5: 94 at +100 s, 63 at +140 s; GPU 6: 31 at +300 s; the other node's GPU 1: 79 at +195 s, then gone."""
    real = shared_data / "real" / "prometheus"
    shutil.copyfile(real / "range_selector_xid.json", tmp_path / "telemetry.json")
    (tmp_path / "cluster.toml").write_text(CONFIG.replace('nodes = ["n[1-2]"]\n', ""))
    config = load(tmp_path / "cluster.toml")
    ingest(config)
    began = datetime.fromtimestamp(json.loads((real / "timeline.json").read_text())["T0"], UTC)
    found = [(node, gpu, code, event_at - began) for node, gpu, _, _, code, event_at, *_ in rows(config, EVENTS)]
    late = [(node, gpu, code, timedelta(seconds=after.total_seconds() // 1)) for node, gpu, code, after in found]
    assert late == [
        ("gpu-node-01", 5, 94, timedelta(seconds=100)),
        ("gpu-node-01", 5, 63, timedelta(seconds=140)),
        ("gpu-node-02", 1, 79, timedelta(seconds=195)),
        ("gpu-node-01", 6, 31, timedelta(seconds=300)),
    ]
    incidents = rows(config, "select node, kind, event_count, gpu_count from marts.incidents order by started_at")
    assert incidents == [("gpu-node-01", "xid_94", 3, 2), ("gpu-node-02", "xid_79", 1, 1)]
