"""Which node a kernel log is of: the line says, else the config, else the file's name or folder."""

import re
from pathlib import Path

from gangline.sources.read_log import SourceOptions

# What log files are called apart from their node.
_FILE_WORDS = frozenset(
    [
        *("dmesg", "kern", "kernel", "kmsg", "syslog", "messages", "journal", "journalctl", "log", "logs", "xid"),
        "mountstats",
        *("txt", "json", "jsonl", "export", "gz", "zst", "out", "var", "boot", "prev", "current", "raw", "decode"),
        *(
            "short",
            "iso",
            "precise",
            "full",
            "unix",
            "monotonic",
            "rfc",
            "ctime",
            "all",
            "part",
            "chunk",
            "copy",
            "file",
        ),
        *("week", "day", "run", "test", "tmp", "sample", "export", "exports", "crash", "dump", "archive", "new", "old"),
    ]
)
_PARTS = re.compile(r"[._]")
_DAY = re.compile(r"[-_.]?(?<!\d)20\d\d[-_]?[01]\d[-_]?[0-3]\d(?:[T_-]?\d{4,6})?(?!\d)")
_HOST = re.compile(r"(?=.*[A-Za-z])(?=.*\d)[A-Za-z0-9][A-Za-z0-9-]{1,62}")
_FOLDER_HOST = re.compile(r"[A-Za-z][A-Za-z-]*\d+(?:-\d+)*")  # folders are called many things, so it must look like one
_NO_HOST = frozenset({"localhost", "-", "(none)", "unknown"})


class NodeNames:
    """Gives the node and what named it: 'line', 'config', 'file_name' or 'none'.

    Examples
    --------
    >>> names = NodeNames(Path("kernel/dmesg_gpu071_20260302.log"), SourceOptions("kernel_log", node_strip=("^i-",)))
    >>> names.of(None), names.of("i-gpu064")
    (('gpu071', 'file_name'), ('gpu064', 'line'))
    """

    def __init__(self, path: Path, options: SourceOptions) -> None:
        self._strip = [re.compile(pattern) for pattern in options.node_strip]
        from_file = node_in_name(path)
        self._otherwise = (
            (options.node, "config") if options.node else (from_file, "file_name") if from_file else (None, "none")
        )

    def of(self, host: str | None) -> tuple[str | None, str]:
        """The node of a line with this host, null where it has none."""
        if host is None or host.lower() in _NO_HOST:
            return self._otherwise
        for pattern in self._strip:
            host = pattern.sub("", host)
        return host, "line"


def node_in_name(path: Path) -> str | None:
    """The one part of a file's name, or else of its folder's, that can be a node: letters and digits, no log word."""
    for text, shape in ((path.name, _HOST), (path.parent.name, _FOLDER_HOST)):
        parts = [_without_words(part) for part in _PARTS.split(_DAY.sub("", text))]
        found = sorted({part for part in parts if part and shape.fullmatch(part)})
        if found:
            return found[0] if len(found) == 1 else None
    return None


def _without_words(part: str) -> str | None:
    """`dmesg-gpu-071-log` is `gpu-071`; a log word in the middle makes it no node at all."""
    words = part.split("-")
    while words and _is_log_word(words[0]):
        words.pop(0)
    while words and _is_log_word(words[-1]):
        words.pop()
    return None if any(map(_is_log_word, words)) else "-".join(words)


def _is_log_word(word: str) -> bool:
    return word.lower() in _FILE_WORDS or word.lower().rstrip("0123456789") in _FILE_WORDS
