"""Figures of failures, XID events and incidents."""

from gangline.report.entries.entry import Entry
from gangline.report.figures import Direction

FAILURES: dict[str, Entry] = {
    "failures.xid_events": Entry(
        "XID events", "Kernel logs and the XID gauge, each once; a lower bound where only the gauge tells."
    ),
    "failures.incidents": Entry("Incidents", "Events of one node at most 10 min apart are one."),
    "failures.job_per_1000_node_days": Entry(
        "Job interruptions",
        "Ends neither completed nor planned of gangs that trained, per 1,000 node-days of training.",
        Direction.LOWER,
    ),
    "failures.node_per_1000_node_days": Entry(
        "Node incidents by log", "Incidents per 1,000 in-service node-days with a log or gauge.", Direction.LOWER
    ),
    "failures.share.not_attributed": Entry("Ends not attributed", "Ends of gangs that trained of which nothing tells."),
    "failures.share.host_hardware": Entry("Ends by hardware", "Of the same ends: of a node's hardware, ECC included."),
    "failures.share.ecc": Entry("Ends by ECC", "Of the same ends: memory errors of a GPU."),
    "failures.share.host_software": Entry("Ends by software", "Of the same ends: programs, drivers, memory, disks."),
    "failures.share.network": Entry("Ends by network", "Of the same ends: network, or a node that was lost."),
    "failures.share.other": Entry("Ends by other", "Of the same ends: NaN losses, time limits, preemption and so on."),
}
