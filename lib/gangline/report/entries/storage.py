"""Figures of the path between memory and storage."""

from gangline.report.entries.entry import Entry

STORAGE: dict[str, Entry] = {}
