"""Figures of checkpoints, training time and lost time."""

from gangline.report.entries.entry import Entry
from gangline.report.figures import Direction

CHECKPOINTS: dict[str, Entry] = {
    "checkpoints.saves": Entry("Saves", "Saves of gang sessions that start in the window."),
    "checkpoints.interval_median_h": Entry("Interval between saves", "Median between starts, of one stage."),
    "checkpoints.stall_median_s": Entry("Stall of a save", "Median time that training stood still for it."),
    "checkpoints.young_optimum_min": Entry("Optimal interval", "Young: what loses least to saves and ends together."),
    "checkpoints.actual_over_optimum": Entry("Interval over optimum", "Median interval over Young's optimum."),
    "checkpoints.overhead_actual": Entry(
        "Overhead now", "Training time lost to saves and to work done again, at the interval as it is.", Direction.LOWER
    ),
    "checkpoints.overhead_optimum": Entry("Overhead at the optimum", "The least that saves and ends can cost."),
    "checkpoints.runs": Entry("Runs", "Linked runs of gang sessions in the window, open ones included."),
    "checkpoints.abnormal_ends": Entry("Ends", "Ends of these that are neither completed nor planned."),
    "checkpoints.failure_ends": Entry("Failures", "Ends that were failures alone.", Direction.LOWER),
    "checkpoints.training_h": Entry("Training hours", "Wall time of these runs in the window, loads included."),
    "checkpoints.mtbf_h": Entry(
        "Training hours per end", "Time between ends that are neither completed nor planned.", Direction.HIGHER
    ),
    "checkpoints.lost_mean_h": Entry("Work lost at an end", "Mean, by steps done again, else since the last save."),
    "checkpoints.lost_total_h": Entry("Work lost in all", "The same, summed over ends.", Direction.LOWER),
    "checkpoints.loads": Entry("Loads", "First loads of gang sessions that were long enough."),
    "checkpoints.load_median_min": Entry("Length of a load", "Median.", Direction.LOWER),
    "checkpoints.load_mean_min": Entry("Mean length of a load", "Mean.", Direction.LOWER),
    "checkpoints.load_read_share_of_max": Entry("Read rate of loads", "Mean rate over the storage's maximum."),
    "checkpoints.load_peak_share_of_max": Entry("Peak of loads", "Mean of peak rates over the storage's maximum."),
    "checkpoints.save_write_share_of_max": Entry("Write rate of saves", "Mean rate over the storage's maximum."),
}
