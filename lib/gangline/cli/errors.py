"""Which errors are the user's to mend, and the exit code of each."""

import errno
import sys

import duckdb

from gangline.build import BuildError
from gangline.config import ConfigError
from gangline.descriptions import UnknownTableError
from gangline.hostlists import HostListError
from gangline.ingest.finding import UnreadableKindError
from gangline.postmortem.subjects import SubjectError
from gangline.report.authored import AuthoredError
from gangline.report.parameters import ParameterError
from gangline.roles import RoleError
from gangline.warehouse import WarehouseError
from gangline.warehouse.opening import UNWRITTEN
from gangline.windows import WindowError

AS_IT_WAS = "; the warehouse is as it was"
DONE, FAILED, USAGE, REFUSED, LOCKED = 0, 1, 2, 3, 4


class UsageError(ValueError):
    """A command was asked for something that cannot be."""


USAGE_ERRORS = (
    AuthoredError,
    ConfigError,
    HostListError,
    ParameterError,
    RoleError,
    SubjectError,
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
    if isinstance(error, BuildError | OSError | duckdb.IOException | duckdb.OutOfMemoryException) or _is_full(error):
        return FAILED
    return None


def say_error(error: BaseException) -> None:
    """Prints an expected error: what, where, the mend."""
    text = f"{error.filename}: {error.strerror}" if isinstance(error, OSError) and error.filename else str(error)
    if _is_full(error):
        said = text.splitlines()[0].removesuffix(AS_IT_WAS)
        text = f"{said}; make room there and run it again: the warehouse is as it was"
    elif isinstance(error, duckdb.Error):
        text = text.splitlines()[0] + AS_IT_WAS
    sys.stderr.write(f"gangline: {text}\n")


def _is_full(error: BaseException) -> bool:
    """DuckDB wraps a disk that is full in whatever error the step at work has."""
    if isinstance(error, OSError):
        return error.errno in {errno.ENOSPC, errno.EDQUOT}
    return isinstance(error, duckdb.Error | BuildError) and UNWRITTEN in str(error)
