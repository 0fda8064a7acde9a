"""Figures of requests to the storage and of its capacity."""

from gangline.report.entries.entry import Entry
from gangline.report.figures import Direction

STORAGE: dict[str, Entry] = {
    "nfs.write_request_s": Entry(
        "Time of a WRITE", "From queue to end, in saves: sum of time over sum of requests.", Direction.LOWER
    ),
    "nfs.write_queue_share": Entry("Queue share of WRITE", "Of that time, what passes before the request is sent."),
    "nfs.write_response_ms": Entry("Answer to a WRITE", "From sending to the answer, in saves.", Direction.LOWER),
    "nfs.write_kb": Entry("Size of a WRITE", "Bytes sent over requests, in saves."),
    "nfs.write_in_flight": Entry("WRITEs in flight", "A node's mean requests on the wire in a save."),
    "nfs.write_queue_p95_ms": Entry("Queue of WRITE, slow nodes", "95 % of nodes have a lower mean.", Direction.LOWER),
    "nfs.write_response_p95_ms": Entry(
        "Answer to a WRITE, slow nodes", "95 % of nodes have a lower mean.", Direction.LOWER
    ),
    "nfs.metadata_share": Entry("Metadata requests", "All but READ, WRITE and COMMIT, over all requests in saves."),
    "nfs.saves_measured": Entry("Saves measured", "Saves with NFS samples on nine tenths of their nodes."),
    "nfs.saves_50_writers_share": Entry("Saves of 50 writers", "Measured saves in which 50 nodes write in one step."),
    "nfs.read_request_ms": Entry(
        "Time of a READ", "From queue to end, in loads: sum of time over sum of requests.", Direction.LOWER
    ),
    "nfs.read_queue_share": Entry("Queue share of READ", "Of that time, what passes before the request is sent."),
    "nfs.read_response_ms": Entry("Answer to a READ", "From sending to the answer, in loads.", Direction.LOWER),
    "nfs.read_kb": Entry("Size of a READ", "Bytes received over requests, in loads."),
    "nfs.read_in_flight": Entry("READs in flight", "A node's mean requests on the wire in a load."),
    "nfs.handed_gb_per_node": Entry("Written per node", "Bytes handed to write() around a save, per node."),
    "nfs.handed_gb_per_save": Entry("Written per save", "The same, summed over the nodes of a save."),
    "nfs.sent_over_handed": Entry("Sent over written", "Bytes of NFS WRITE over those handed to write()."),
    "nfs.read_reuse_share": Entry("Read from memory", "Bytes of read() that no NFS READ brought meanwhile."),
    "nfs.load_tail_share": Entry(
        "Tail of loads", "Median share of a load in which its last tenth of bytes comes.", Direction.LOWER
    ),
    "nfs.capacity_used_share": Entry("Storage used", "Of the largest shared file system, latest sample."),
    "nfs.capacity_growth_tb_per_day": Entry("Growth of the storage", "Straight line through its days."),
    "nfs.days_until_full": Entry("Days until full", "What is available over that growth.", Direction.HIGHER),
}
