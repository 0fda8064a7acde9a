"""Figures of checkpoints, training time and lost time."""

from gangline.report.entries.entry import Entry

CHECKPOINTS: dict[str, Entry] = {}
