"""From files to a published warehouse: found, told apart by content, read once, built, checked."""

from gangline.ingest.finding import FoundFile, find_files
from gangline.ingest.loading import FileOutcome, load_file
from gangline.ingest.running import IngestReport, ingest, rebuild_models

__all__ = ["FileOutcome", "FoundFile", "IngestReport", "find_files", "ingest", "load_file", "rebuild_models"]
