"""What a submit line asks for: the nodes that it wants left out."""

import shlex

from gangline.hostlists import expand

NO_VALUE_SHORT = frozenset("HkOsQvWIluZXEhV")
NO_VALUE_LONG = frozenset(
    {
        "--contiguous", "--disable-stdout-job-summary", "--exact", "--hold", "--ignore-pbs", "--label", "--multi-prog",
        "--no-kill", "--no-requeue", "--overcommit", "--overlap", "--oversubscribe", "--parsable", "--preserve-env",
        "--pty", "--quiet", "--reboot", "--requeue", "--spread-job", "--test-only", "--unbuffered", "--use-min-nodes",
        "--verbose", "--wait", "--exclusive", "--resv-ports", "--propagate", "--nice", "--kill-on-bad-exit",
    }
)  # fmt: skip


def excluded_nodes(submit_line: str) -> tuple[str, ...] | None:
    """Nodes that a submit line excludes by `-x` or `--exclude`, null where it names none.

    Directives inside the batch script do not show in the line, so that none named is not none excluded. Only the
    options before the script's name count: what follows belongs to the script.

    Raises
    ------
    HostListError
        If what it excludes is no host list (a file of names, say).

    Examples
    --------
    >>> excluded_nodes("sbatch -N3 --exclude=gpu[007-008] -J a train.sh -x gpu001")
    ('gpu007', 'gpu008')
    >>> excluded_nodes("sbatch train.sh") is None
    True
    """
    if "-x" not in submit_line and "--exc" not in submit_line:
        return None
    words = _words(submit_line)[1:]
    while words and words[0].startswith("-"):
        option, value, words = _taken(words)
        if option in ("-x", "--exclude"):
            return expand(value)
    return None


def _taken(words: list[str]) -> tuple[str, str, list[str]]:
    """The first option with its value, and the words after both."""
    word, rest = words[0], words[1:]
    if word.startswith("--"):
        option, equals, value = word.partition("=")
        has_value = bool(equals) or option in NO_VALUE_LONG
    else:
        option, value = word[:2], word[2:]
        has_value = bool(value) or option[1:] in NO_VALUE_SHORT
    return (option, value, rest) if has_value else (option, "".join(rest[:1]), rest[1:])


def _words(submit_line: str) -> list[str]:
    try:
        return shlex.split(submit_line)
    except ValueError:  # the accounting has dropped the quotes that made the line whole
        return submit_line.split()
