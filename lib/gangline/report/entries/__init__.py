"""The figures' entries, one module a field; report.catalogue is all of them."""

from gangline.report.entries.checkpoints import CHECKPOINTS
from gangline.report.entries.entry import Entry
from gangline.report.entries.failures import FAILURES
from gangline.report.entries.operations import OPERATIONS
from gangline.report.entries.storage import STORAGE
from gangline.report.entries.weekly import WEEKLY

ENTRIES: dict[str, Entry] = {**OPERATIONS, **CHECKPOINTS, **STORAGE, **FAILURES, **WEEKLY}

__all__ = ["ENTRIES", "Entry"]
