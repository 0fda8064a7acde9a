"""Figures of failures, XID events and incidents."""

from gangline.report.entries.entry import Entry

FAILURES: dict[str, Entry] = {}
