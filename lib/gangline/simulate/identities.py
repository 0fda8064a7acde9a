"""Ids, names and accounts of what is drawn: the same for the same seed."""

import uuid

NAMESPACE = uuid.uuid5(uuid.NAMESPACE_DNS, "plan.simulate.gangline")
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
RUN_ID_LENGTH = 8
PRETRAINING = "llm-pretrain"
PRETRAINER, TESTER = "AKSIMPRETRAIN000001", "AKSIMBENCHMARK00002"
HOLDERS = ("AKSIMOPERATOR000003", "AKSIMOPERATOR000004", "AKSIMEVALUATE000005")


def session_id(seed: int, kind: str, number: int) -> str:
    """A session's uuid.

    Examples
    --------
    >>> session_id(1, "gang", 0) == session_id(1, "gang", 0) != session_id(2, "gang", 0)
    True
    """
    return str(uuid.uuid5(NAMESPACE, f"{seed}/{kind}/{number}"))


def run_id(seed: int, number: int) -> str:
    """A W&B run id: eight letters and digits."""
    value = uuid.uuid5(NAMESPACE, f"{seed}/run/{number}").int
    letters = []
    for _ in range(RUN_ID_LENGTH):
        value, digit = divmod(value, len(DIGITS))
        letters.append(DIGITS[digit])
    return "".join(letters)
