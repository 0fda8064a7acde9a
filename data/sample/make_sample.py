"""Makes the sample export beside it: three weeks of an invented cluster of 12 nodes, the same bytes each time.

    python data/sample/make_sample.py [FOLDER]

writes `sacct.txt` (as `sacct -P -D` prints it, in the cluster's local time), `incidents.csv`, the runs of the gang
sessions (`history.csv`, `runs.csv`), node states (`events.txt`) and remarks (`annotations.csv`). The gang sessions
follow the script in `story.py`; random numbers of a fixed seed only roughen the times and fill the nodes left over.
"""

import csv
import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from io import StringIO
from pathlib import Path

import operators
import story
import training

FIRST_JOB_ID = 4101
FIRST_TICKET = 1041
COLUMNS = (
    "JobID|JobIDRaw|Cluster|User|Account|Partition|JobName|Submit|Start|End|Timelimit|State|ExitCode|NNodes|NodeList|"
    "AllocTRES|SubmitLine"
)
EXIT_CODES = {"FAILED": "1:0", "OUT_OF_MEMORY": "0:125", "NODE_FAIL": "1:0", "CANCELLED": "0:15", "PREEMPTED": "0:15"}
STEP_STATES = {"TIMEOUT": "CANCELLED", "NODE_FAIL": "CANCELLED", "PREEMPTED": "CANCELLED", "REQUEUED": "CANCELLED"}


@dataclass(frozen=True)
class Job:
    """One run of a Slurm job; `start` null where it never started, `end` null where it is still going or waiting."""

    name: str
    owner: str
    nodes: tuple[int, ...]
    submit: datetime
    start: datetime | None
    end: datetime | None
    state: str
    limit: str = "2-00:00:00"
    gpus_per_node: int = story.GPUS_PER_NODE
    submit_line: str = "sbatch run.sh"
    is_requeued: bool = False  # it keeps the id of the job before it in the list


Busy = dict[int, list[tuple[datetime, datetime]]]


def gang_jobs(dice: random.Random) -> list[Job]:
    """The gang sessions of the script, one after the other."""
    jobs: list[Job] = []
    end = story.START
    for gang in story.GANGS:
        submit, start = gang_times(gang.link, end, dice)
        length = timedelta(hours=gang.hours) + timedelta(seconds=dice.randint(-300, 300) * (gang.hours > 1))
        end = start + (timedelta(hours=gang.hours) if gang.state == "TIMEOUT" else length)
        jobs.append(gang_job(gang, submit, start, None if gang.state == "RUNNING" else end))
    return jobs


def gang_times(link: str | float, previous_end: datetime, dice: random.Random) -> tuple[datetime, datetime]:
    """When a gang was submitted, and when it started."""
    wait = timedelta(seconds=dice.randint(8, 40))
    if link == "auto":
        submit = previous_end + timedelta(seconds=dice.randint(603, 640))
    elif link == "requeue":
        submit = previous_end
        wait = timedelta(seconds=dice.randint(125, 170))
    elif link == "queued":
        return previous_end - timedelta(hours=9, seconds=dice.randint(0, 900)), previous_end + wait
    else:
        submit = previous_end + timedelta(minutes=float(link), seconds=dice.randint(0, 59))
    return submit, submit + wait


def gang_job(gang: story.Gang, submit: datetime, start: datetime, end: datetime | None) -> Job:
    """One gang session as Slurm keeps it."""
    nodes = tuple(node for node in story.NODES if node not in gang.left_out)
    asked_out = [node for node in gang.left_out if node not in story.HELD]
    exclude = f" --exclude={folded(asked_out)}" if asked_out else ""
    line = f"sbatch -N{len(nodes)}{exclude} --gres=gpu:8 train.sh"
    limit = "1-12:00:00" if gang.state == "TIMEOUT" else "5-00:00:00"
    return Job(gang.name, gang.owner, nodes, submit, start, end, gang.state, limit, 8, line, gang.link == "requeue")


def small_jobs(gangs: list[Job], dice: random.Random) -> list[Job]:
    """Jobs on two to four nodes, placed by the script beside a gang or in the pause after it."""
    jobs = []
    for small in story.SMALL:
        gang = gangs[small.gang]
        begin = gang.end if small.is_after else gang.start
        assert begin is not None
        start = begin + timedelta(hours=small.offset_h, seconds=dice.randint(0, 600))
        end = start + timedelta(hours=small.hours)
        jobs.append(Job(small.name, small.owner, small.nodes, start - timedelta(minutes=2), start, end, small.state))
    return jobs


def busy_times(jobs: list[Job]) -> Busy:
    """When each node is taken."""
    busy: Busy = {node: [] for node in story.NODES}
    for job in jobs:
        for node in job.nodes if job.start and job.start > story.START else ():
            busy[node].append((job.start or story.END, job.end or story.END))
    return busy


def free_times(taken: list[tuple[datetime, datetime]]) -> Iterator[tuple[datetime, datetime]]:
    """The gaps between a node's sessions."""
    at = story.START
    for start, end in [*sorted(taken), (story.END, story.END)]:
        if start - at > timedelta(minutes=45):
            yield at + timedelta(minutes=3), start - timedelta(minutes=3)
        at = max(at, end)


def single_jobs(busy: Busy, dice: random.Random) -> list[Job]:
    """Sessions on one node, as densely as the script wants them there."""
    return [
        single_job(node, start, end, dice)
        for node in story.NODES
        for begin, limit in free_times(busy[node])
        for start, end in stretches(begin, limit, story.HABITS.get(node, story.OTHER_HABIT), dice)
    ]


def stretches(
    begin: datetime, limit: datetime, habit: story.Habit, dice: random.Random
) -> Iterator[tuple[datetime, datetime]]:
    """Starts and ends of sessions between two instants: a pause, a session, a pause."""
    at = begin + timedelta(hours=dice.uniform(*habit.pause_h) * habit.first_pause_ratio)
    while limit - at > timedelta(minutes=20):
        end = min(at + timedelta(hours=dice.uniform(*habit.session_h)), limit)
        yield at.replace(microsecond=0), end.replace(microsecond=0)
        at = end + timedelta(hours=dice.uniform(*habit.pause_h))


def single_job(node: int, start: datetime, end: datetime, dice: random.Random) -> Job:
    """A session on one node; a few hold only half of its GPUs."""
    state = dice.choices(story.SINGLE_STATES, story.SINGLE_WEIGHTS)[0]
    name = dice.choice(story.DEBUG_NAMES if node in story.HELD else story.SINGLE_NAMES)
    owner = dice.choices(story.SINGLE_OWNERS, (6, 3, 2) if node in story.HELD else (2, 3, 3))[0]
    gpus = dice.choice((8, 8, 8, 4))
    submit = max(start - timedelta(seconds=dice.randint(5, 900)), story.START)
    limit = clock(end - start) if state == "TIMEOUT" else "12:00:00"
    return Job(name, owner, (node,), submit, start, end, state, limit, gpus)


def odd_jobs() -> list[Job]:
    """Jobs that never started, and those whose names or times are a trap."""
    return [
        Job(odd.name, odd.owner, odd.nodes, odd.submit, odd.start, odd.end, odd.state, "01:00:00", 1)
        for odd in story.ODD
    ]


def job_ids(jobs: list[Job]) -> dict[int, int]:
    """Slurm's id of each job, by submission."""
    ids: dict[int, int] = {}
    for position, job in sorted(enumerate(jobs), key=lambda item: (item[1].submit, item[0])):
        ids[position] = ids[position - 1] if job.is_requeued else FIRST_JOB_ID + len(set(ids.values()))
    return ids


def sacct_text(jobs: list[Job]) -> str:
    """All jobs as sacct prints them, by submission, with their steps."""
    ids = job_ids(jobs)
    ordered = sorted(ids, key=lambda position: (ids[position], jobs[position].submit))
    lines = [COLUMNS] + [line for position in ordered for line in job_lines(ids[position], jobs[position])]
    return "\n".join(lines) + "\n"


def job_lines(job_id: int, job: Job) -> Iterator[str]:
    """The line of an allocation, then those of its steps."""
    count = len(job.nodes) if job.start else 0
    gpus = count * job.gpus_per_node
    tres = f"billing={count},cpu={gpus * 12},gres/gpu:h100={gpus},gres/gpu={gpus},node={count}" if count else ""
    code = EXIT_CODES.get(job.state.split()[0], "0:0")
    nodes = folded(job.nodes) if count else "None assigned"
    partition = "train" if len(job.nodes) > 1 else "debug"
    texts = (job.limit, job.state, code, str(max(count, 1)), nodes, tres, job.submit_line)
    yield "|".join(
        (str(job_id), str(job_id), story.CLUSTER, job.owner, "lab", partition, job.name, *times(job), *texts)
    )
    for step, step_count in [("batch", 1), ("extern", count), ("0", count)][: 3 if count > 1 else min(count, 1) * 2]:
        yield step_line(f"{job_id}.{step}", step, job, step_count)


def step_line(step_id: str, step: str, job: Job, count: int) -> str:
    """The line of one step: no user, partition, limit or submit line."""
    base = job.state.split()[0]
    state = "COMPLETED" if step == "extern" and base != "RUNNING" else STEP_STATES.get(base, base)
    code = "" if base == "NODE_FAIL" else "0:0" if step == "extern" else EXIT_CODES.get(base, "0:0")
    name = {"0": "python"}.get(step, step)
    gpus = count * job.gpus_per_node
    tres = f"cpu={gpus * 12},gres/gpu:h100={gpus},gres/gpu={gpus},node={count}"
    nodes = folded(job.nodes[:count])
    begun = (stamp(job.start, "None"), *times(job)[1:])
    return "|".join(
        (step_id, step_id, story.CLUSTER, "", "lab", "", name, *begun, "", state, code, str(count), nodes, tres, "")
    )


def times(job: Job) -> tuple[str, str, str]:
    """Submit, Start and End as sacct prints them."""
    waiting = "Unknown" if job.end is None else "None"
    return stamp(job.submit, ""), stamp(job.start, waiting), stamp(job.end, "Unknown")


def stamp(at: datetime | None, missing: str) -> str:
    """A local time without its zone."""
    return at.strftime("%Y-%m-%dT%H:%M:%S") if at else missing


def clock(length: timedelta) -> str:
    """A time limit in whole minutes."""
    minutes = int(length.total_seconds() // 60)
    return f"{minutes // 60:02d}:{minutes % 60:02d}:00"


def folded(nodes: tuple[int, ...] | list[int]) -> str:
    """Node numbers as a host list."""
    runs: list[list[int]] = []
    for node in sorted(nodes):
        if runs and runs[-1][-1] == node - 1:
            runs[-1].append(node)
        else:
            runs.append([node])
    spans = [f"{run[0]:03d}" if len(run) == 1 else f"{run[0]:03d}-{run[-1]:03d}" for run in runs]
    return f"gpu{spans[0]}" if len(nodes) == 1 else f"gpu[{','.join(spans)}]"


def ticket_start(ticket: story.Ticket, gangs: list[Job], dice: random.Random) -> datetime:
    """When an incident began: shortly before the gang's end that it caused, or at the script's hour."""
    if ticket.gang is None:
        rough = timedelta(minutes=dice.randint(0, 59), seconds=dice.randint(0, 59))
        return story.START + timedelta(hours=ticket.at_h) + rough
    return (gangs[ticket.gang].end or story.END) - timedelta(minutes=ticket.before_min)


def incidents_text(gangs: list[Job], dice: random.Random) -> str:
    """The ticket list, by start."""
    rows = [(ticket_start(ticket, gangs, dice), ticket) for ticket in story.TICKETS]
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("incident_id", "node", "started_at", "ended_at", "kind", "class", "detail", "reporter"))
    for number, (start, ticket) in enumerate(sorted(rows), start=FIRST_TICKET):
        end = "" if ticket.hours is None else stamp(start + timedelta(hours=ticket.hours), "")
        name = f"gpu{ticket.node:03d}"
        writer.writerow((f"OPS-{number}", name, stamp(start, ""), end, ticket.kind, ticket.group, ticket.detail, "noc"))
    return text.getvalue()


def make_sample(folder: Path) -> None:
    """Writes the six files into a folder."""
    dice = random.Random(story.SEED)  # noqa: S311
    gangs = gang_jobs(dice)
    odd = odd_jobs()
    small = small_jobs(gangs, dice)
    jobs = gangs + small + odd + single_jobs(busy_times(gangs + small + odd), dice)
    (folder / "sacct.txt").write_bytes(sacct_text(jobs).encode())
    (folder / "incidents.csv").write_bytes(incidents_text(gangs, dice).encode())
    # Dice of their own, so that a change of the runs leaves the sessions as they are.
    runs = training.runs_of(gangs, job_ids(jobs), random.Random(story.SEED + 1))  # noqa: S311
    (folder / "history.csv").write_bytes(training.history_text(runs).encode())
    (folder / "runs.csv").write_bytes(training.runs_text(runs).encode())
    (folder / "events.txt").write_bytes(operators.events_text().encode())
    (folder / "annotations.csv").write_bytes(operators.notes_text().encode())


if __name__ == "__main__":
    make_sample(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
