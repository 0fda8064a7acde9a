"""A session export of any size: one gang at a time beside many single-node sessions, as sacct text."""

import random
from pathlib import Path

HEADER = "JobID|JobIDRaw|Cluster|User|Partition|JobName|Submit|Start|End|State|NNodes|NodeList|AllocTRES\n"
NODES = 2000
GANG_SHARE = 0.01
GANG_S = 3000
EPOCH = 1_767_225_600
CONFIG = """
[cluster]
name = "bench"
time_zone = "UTC"
nodes = ["n[0001-2000]"]
gang_min_nodes = 1500
[[sources]]
kind = "slurm"
path = "raw/sacct.txt"
"""
STATES = ("COMPLETED", "FAILED", "CANCELLED by 1001", "TIMEOUT", "NODE_FAIL")


def write_cluster(folder: Path, sessions: int, seed: int = 1) -> Path:
    """Writes a config and `sessions` jobs of which 1 % are gangs on 1,900 nodes; gives the config's path."""
    (folder / "raw").mkdir(parents=True, exist_ok=True)
    (folder / "cluster.toml").write_text(CONFIG)
    numbers = random.Random(seed)
    with (folder / "raw" / "sacct.txt").open("w") as out:
        out.write(HEADER)
        for job in range(1, sessions + 1):
            out.write(_gang(job, numbers) if job % 100 == 0 else _single(job, numbers, sessions))
    return folder / "cluster.toml"


def _gang(job: int, numbers: random.Random) -> str:
    start = EPOCH + job // 100 * (GANG_S + 120)
    first = numbers.randrange(1, 102)
    nodes = f"n[{first:04d}-{first + 1899:04d}]"
    return _row(job, "pretrain", start, start + GANG_S, numbers.choice(STATES), 1900, nodes)


def _single(job: int, numbers: random.Random, sessions: int) -> str:
    start = EPOCH + numbers.randrange(sessions // 100 * (GANG_S + 120))
    node = f"n{min(NODES, 1 + int(numbers.expovariate(1 / 300))):04d}"
    return _row(job, f"debug{job % 50}", start, start + numbers.randrange(60, 20_000), numbers.choice(STATES), 1, node)


def _row(job: int, name: str, start: int, end: int, state: str, count: int, nodes: str) -> str:
    user, gpus = f"user{job % 40}", count * 8
    tres = f"billing={gpus},gres/gpu={gpus},node={count}"
    return f"{job}|{job}|big|{user}|gpu|{name}|{start - 60}|{start}|{end}|{state}|{count}|{nodes}|{tres}\n"
