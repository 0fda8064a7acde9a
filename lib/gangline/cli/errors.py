"""Which errors are the user's to mend, and the exit code of each."""

import sys

import duckdb

from gangline.build import BuildError
from gangline.config import ConfigError
from gangline.descriptions import UnknownTableError
from gangline.hostlists import HostListError
from gangline.ingest.finding import UnreadableKindError
from gangline.report.parameters import ParameterError
from gangline.warehouse import WarehouseError
from gangline.windows import WindowError

DONE, FAILED, USAGE, REFUSED, LOCKED = 0, 1, 2, 3, 4


class UsageError(ValueError):
    """A command was asked for something that cannot be."""


USAGE_ERRORS = (
    ConfigError,
    HostListError,
    ParameterError,
    UnknownTableError,
    UnreadableKindError,
    UsageError,
    WindowError,
)


def exit_code_of(error: BaseException) -> int | None:
    """The exit code of an expected error; None for one that is a defect and deserves its traceback."""
    if isinstance(error, WarehouseError):
        return error.exit_code
    if isinstance(error, USAGE_ERRORS):
        return USAGE
    if isinstance(error, BuildError | OSError | duckdb.IOException | duckdb.OutOfMemoryException):
        return FAILED
    return None


def say_error(error: BaseException) -> None:
    """Prints an expected error: what, where, the mend."""
    text = f"{error.filename}: {error.strerror}" if isinstance(error, OSError) and error.filename else str(error)
    if isinstance(error, duckdb.Error):
        text = text.splitlines()[0] + "; the warehouse is as it was"
    sys.stderr.write(f"gangline: {text}\n")
