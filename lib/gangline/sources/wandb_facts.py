"""What single messages of a W&B log say about its run."""

import re
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any

from gangline.sources.wandb_run import Run
from gangline.sources.wandb_values import EPOCH, epoch_us, instant, put, take_out, value_of

Decode = Callable[[bytes], str]
RUN_TEXTS = ("entity", "project", "run_group", "job_type", "sweep", "host", "display_name", "notes")
ENVIRONMENT_TEXTS = ("program", "root", "executable", "gpu_type")
CREDENTIALS = re.compile(r"(?<=://)[^/@\s]+@")


def instant_us(timestamp: Any) -> int | None:
    """Microseconds since 1970 of a protobuf timestamp; null where it is unset or no instant."""
    return epoch_us(timestamp.seconds + timestamp.nanos / 1e9) if timestamp.seconds else None


def path_of(item: Any, decode: Decode) -> list[str]:
    """An item's key as its parts: 0.31 writes nested keys, 0.15 one key (whose dots are not parts)."""
    return [decode(part) for part in item.nested_key] or [decode(item.key)]


def item_value(item: Any, decode: Decode) -> object:
    """An item's value: JSON in every version so far, or one of the typed alternatives of newer schemas."""
    if item.value_json:
        return value_of(item.value_json)
    kind = item.WhichOneof("alternatives")
    if kind in (None, "none"):
        return None
    value = getattr(item, kind)
    if kind == "text":
        return decode(value)
    return value_of(value) if kind == "json" else value


def history_values(history: Any, decode: Decode) -> Iterator[tuple[str, object]]:
    """A history row's values by name, nested keys joined with dots."""
    for item in history.item:
        yield ".".join(path_of(item, decode)), item_value(item, decode)


def update_tree(tree: dict[str, object], update: Any, decode: Decode) -> None:
    """Applies a config or summary update: what it sets, then what it removes."""
    for item in update.update:
        put(tree, path_of(item, decode), item_value(item, decode))
    for item in update.remove:
        take_out(tree, path_of(item, decode))


def learn_run(run: Run, message: Any, decode: Decode) -> None:
    """Takes a run record: who, where, since when, resumed from which step."""
    if message.run_id:
        run.run_id, run.run_id_evidence = decode(message.run_id), "log"
    run.learn(**{name: decode(getattr(message, name)) for name in RUN_TEXTS})
    run.learn(
        tags=[decode(tag) for tag in message.tags],
        started_at=instant(instant_us(message.start_time)),
        prior_runtime_s=float(message.runtime),
        starting_step=message.starting_step,
        is_resumed=message.resumed,
        parent_run_id=decode(message.branch_point.run),
        git_commit=decode(message.git.commit),
    )
    run.see(instant_us(message.start_time))
    update_tree(run.config, message.config, decode)
    update_tree(run.summary, message.summary, decode)


def learn_environment(run: Run, message: Any, decode: Decode) -> None:
    """Takes an environment record (0.31 writes several, each with a part of the facts)."""
    run.learn(
        process_started_at=instant(instant_us(message.started_at)),
        host=decode(message.host),
        owner=decode(message.username),
        git_commit=decode(message.git.commit),
        writer_id=decode(message.writer_id),
    )
    run.see(instant_us(message.started_at))
    texts = {name: decode(getattr(message, name)) for name in ENVIRONMENT_TEXTS}
    lists = {"args": [CREDENTIALS.sub("***@", decode(argument)) for argument in message.args]}
    slurm = {"slurm": {decode(pair.key): decode(pair.value) for pair in message.slurm}}
    counts = {"gpu_count": message.gpu_count}
    run.metadata.update({name: fact for name, fact in {**texts, **lists, **slurm, **counts}.items() if fact})


def end_us(run: Run, runtime_s: int) -> int | None:
    """A run's end by its log, in microseconds since 1970: the latest instant, or start and runtime if they are later.

    The exit record itself has no time. The runtime of a resumed run counts the processes before, so it says nothing.
    """
    started_at = run.facts.get("started_at")
    if not isinstance(started_at, datetime) or run.facts.get("is_resumed") is True:
        return run.latest_us
    by_runtime_us = (started_at - EPOCH) // timedelta(microseconds=1) + runtime_s * 1_000_000
    return max(by_runtime_us, run.latest_us or by_runtime_us)
