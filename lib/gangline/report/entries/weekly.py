"""Figures of a week's first page that no other page has."""

from gangline.report.entries.entry import Entry
from gangline.report.figures import Direction

WEEKLY: dict[str, Entry] = {
    "weekly.abnormal_ends": Entry(
        "Ends of gang sessions", "Ends in the window that are neither completed nor planned.", Direction.LOWER
    ),
    "weekly.failure_ends": Entry("Of these, failures", "Without ends by a person or the scheduler.", Direction.LOWER),
    "weekly.mtbf_4w_h": Entry(
        "Training between ends, four weeks", "Training hours over such ends, 28 days up to the end.", Direction.HIGHER
    ),
    "weekly.down_h": Entry("Down", "Hours in which something that had trained was down.", Direction.LOWER),
    "weekly.lost_gpu_h": Entry("Lost GPU-hours", "Sum over the causes that can be told.", Direction.LOWER),
    "weekly.coverage": Entry("Telemetry read", "Seconds covered by scrapes over seconds wanted.", Direction.HIGHER),
}
