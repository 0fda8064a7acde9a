"""The figures' entries, one module a field; report.catalogue is all of them."""

from gangline.report.entries.checkpoints import CHECKPOINTS
from gangline.report.entries.entry import Entry
from gangline.report.entries.failures import FAILURES
from gangline.report.entries.operations import OPERATIONS
from gangline.report.entries.storage import STORAGE

ENTRIES: dict[str, Entry] = {**OPERATIONS, **CHECKPOINTS, **STORAGE, **FAILURES}

__all__ = ["ENTRIES", "Entry"]
