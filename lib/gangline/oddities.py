"""What each oddity means that a source reads but finds strange, and what to do about it."""

from typing import NamedTuple


class Meaning(NamedTuple):
    """An oddity in words: what was found and how it was read, and the mend."""

    meaning: str
    mend: str


NOTHING = "Nothing, unless figures depend on it."
NOT_DESCRIBED = Meaning("Read, but strange; this kind has no description yet.", "Look at the place that is named.")
_NO_COLUMN = Meaning("The export lacks this column, so what it tells is not known.", "Export with --format=ALL.")

ODDITIES: dict[str, Meaning] = {
    "ambiguous_local_time": Meaning(
        "A local time in the hour that a clock change repeats; the reading that keeps the order, else the earlier.",
        "Export in UTC, or with offsets.",
    ),
    "ambiguous_time": Meaning(
        "A local time in the hour that a clock change repeats; the earlier reading was taken.",
        "Export in UTC (TZ=UTC sacctmgr ...).",
    ),
    "answer_with_warnings": Meaning("The server answered, and warned.", "Read its warnings; export again if in doubt."),
    "bad_timestamp": Meaning("A step's time is no number; the step has none.", NOTHING),
    "blob_message": Meaning(
        'A kernel message that is no text; journalctl hides it as "blob data", and an event may stand in it.',
        "Export with journalctl -k -o json.",
    ),
    "clock_not_set": Meaning(
        "A clock that was not set, years off; the line has no time.",
        "Nothing: it is set once the node has the time.",
    ),
    "conflicting_samples": Meaning(
        "A series has two values at one instant; the larger was taken.",
        "Look whether two scrapers or replicas write the same labels.",
    ),
    "created_after_start": Meaning("A session was created after it started.", "Correct one of the two columns."),
    "dcgm_blank": Meaning("DCGM's code for “no value”; left out of every figure.", NOTHING),
    "empty_export": Meaning("The file holds no run.", "Export again, with runs chosen."),
    "end_before_start": Meaning("A session ends before it starts.", "Look at its status history in the database."),
    "ended_without_end": Meaning("The state says it is over, but no end is given.", "Fill in ended_at."),
    "ended_without_time": Meaning("The state says it is over, but no end is given.", "Repair with sacctmgr."),
    "exclude_unreadable": Meaning(
        "The submit line excludes nodes in a form that cannot be read; none counts as asked out.",
        "Look at the submit line that is named.",
    ),
    "exemplar_left_out": Meaning("An exemplar behind a sample was left out.", NOTHING),
    "fault_while_open": Meaning("A fault starts again on a node before it ended.", "Nothing: ends close in order."),
    "grid_points": Meaning(
        "Points of a query on a grid: values are repeated or rounded to it.",
        "Export raw samples (api/v1/export, or a range selector).",
    ),
    "histograms_left_out": Meaning("A series has native histograms beside numbers; those were left out.", NOTHING),
    "history_missing": Meaning("A run says it has steps, but the export holds none.", "Export with its history."),
    "history_row_no_object": Meaning("A row of a history is no object and was left out.", "Export again."),
    "impossible_local_time": Meaning(
        "A local time in the hour that a clock change skips; it was read as an hour later.",
        "Export in UTC, or with offsets.",
    ),
    "impossible_time": Meaning(
        "A time that no calendar or clock shows; the line has none.",
        "Look at the line that is named.",
    ),
    "infinite": Meaning("A sample is infinite.", NOTHING),
    "list_value": Meaning("A step's value is a list and was left out.", NOTHING),
    "log_without_records": Meaning("A run's log holds no record.", "The run died at its start; nothing to mend."),
    "media_value": Meaning("A step's value is a picture or a table and was left out.", NOTHING),
    "message_not_utf8": Meaning(
        "A kernel message that is no UTF-8; what is not shows as �.",
        NOTHING,
    ),
    "message_too_large": Meaning(
        "A kernel message too large for journalctl to print; it was left out.",
        "Export with journalctl -k -a -o json.",
    ),
    "nan_beside_infinity": Meaning("A series goes from NaN to infinity or back.", "Ask what the exporter divides by."),
    "nan_or_stale": Meaning("A sample is NaN, which is also how Prometheus marks a series that ended.", NOTHING),
    "never_started_with_start": Meaning("The state says it never started, but a start is given.", "Correct one."),
    "no_end_reason": Meaning("It ended, but no reason is given; it counts as unknown.", "Fill in end_reason."),
    "no_gpu_tres": Meaning(
        "No session names GPUs; nodes times gpus_per_node is taken.", "Export AllocTRES, or set gpus_per_node."
    ),
    "no_kind": Meaning("An incident without a kind.", "Fill in kind, so that the table by kind tells more."),
    "no_nodes": Meaning("A started session without nodes; it stands in no figure per node.", "Fill in nodes."),
    "no_step": Meaning("A row of a history has no step and stands for none.", NOTHING),
    "node_unknown": Meaning(
        "Nothing tells which node the log is of; its events stand at no node.",
        "Give the source its node, or name the file for it.",
    ),
    "nodes_without_start": Meaning("Nodes are given, but no start.", "Fill in started_at."),
    "not_utf8": Meaning("Bytes that are not UTF-8; each is shown as �.", "Export with LANG=C.UTF-8."),
    "open_with_end_time": Meaning(
        "Still running, but an end is given, as sacct --truncate writes it; the end was left out.",
        "Export without --truncate.",
    ),
    "other_time_zone": Meaning(
        "A line names another time zone than its source's; it was read in the source's.",
        "Set time_zone of the source, or export with journalctl --utc.",
    ),
    "pages_missing": Meaning("The answer counts more sessions than the file holds.", "Fetch the other pages too."),
    "partial_answer": Meaning("The server says that its answer is partial.", "Export again, in shorter stretches."),
    "rebuilt_record": Meaning(
        "A record that a line's end or a delimiter in free text had broken; it was put together by its columns.",
        "Nothing; a rare delimiter (sacct --delimiter) avoids it.",
    ),
    "rejects_not_listed": Meaning(
        "Rejects beyond the first 10,000 of a file are counted, not listed.",
        "Look at the first ones; it may be the wrong file.",
    ),
    "repeated_samples": Meaning(
        "A sample stands in the file more than once; it counts once.",
        "Nothing: chunks of an export overlap, and replicas say the same.",
    ),
    "requeued_without_duplicates": Meaning(
        "A requeued job of which earlier attempts are missing.", "Export with sacct --duplicates."
    ),
    "run_end_before_start": Meaning(
        "A run of W&B ends before it starts; its end is not known.", "Correct its heartbeat or Runtime."
    ),
    "running_with_end": Meaning("The state says it is running, but an end is given.", "Correct one of the two."),
    "session_unknown": Meaning(
        "The name of the file tells no session.",
        "Name it for the session, as slurm-1234.out.",
    ),
    "slurm_errors": Meaning("The file says that Slurm had errors while writing it.", "Read them; export again."),
    "start_without_nodes": Meaning("A start without nodes: cancelled while pending; read as never started.", NOTHING),
    "start_without_running_in_history": Meaning(
        "A start is given, but the status history never shows it running.", "Trust the history; see the session."
    ),
    "started_before_submitted": Meaning("It started before it was submitted.", "Look at the clocks of both hosts."),
    "started_without_nodes": Meaning("It started, but no nodes are given.", "Export NodeList."),
    "suspended": Meaning(
        "The node slept; times counted from its boot are late from then on.",
        "Export with journalctl, whose clock goes on.",
    ),
    "unknown_column": Meaning("A column that nothing reads.", "Check its spelling, if it should be read."),
    "unknown_state": Meaning("A run's state that is not known; it counts as unknown.", NOTHING),
    "unknown_status": Meaning(
        "A session's status that is not known; it counts as unknown.", "Add it to sql/seeds/end_reasons.csv."
    ),
    "unknown_status_info": Meaning(
        "A reason that is not known; the status decides alone.", "Add it to sql/seeds/end_reasons.csv."
    ),
    "unmapped_start_kind": Meaning("A start kind that is not known; the rules decide.", "See docs for the words."),
    "unmapped_state": Meaning("An end reason that is not known; it counts as unknown.", "Use one of the closed list."),
    "unreadable_batch_timeout": Meaning("A time limit that is no number; none is taken.", NOTHING),
    "unreadable_json_cell": Meaning("A cell that should hold JSON does not; it counts as empty.", "Export again."),
    "unreadable_kernel": Meaning("A kernel of a session cannot be read and was left out.", "Export again."),
    "unreadable_slot": Meaning("A count of accelerators that is no number.", "Look at the session that is named."),
    "unreadable_status_history": Meaning("A visit to a status without a readable time was left out.", NOTHING),
    "unreadable_value": Meaning("A step's value that cannot be read was left out.", NOTHING),
    "xid_line_not_understood": Meaning(
        "A line that holds an Xid, but not one that can be read: cut, damaged, or without a head.",
        "Look at the line, and export that log again; it counts in no figure.",
    ),
    "zero_length": Meaning("It ends in the instant in which it starts; it counts, with no time.", NOTHING),
    "zero_padded_bytes": Meaning("Zeros at the file's end, as a host that went down leaves them.", NOTHING),
}


def meaning_of(kind: str) -> Meaning:
    """Say what an oddity means.

    >>> meaning_of("no_gpus_column").mend
    'Export with --format=ALL.'
    """
    if kind.startswith("no_") and kind.endswith("_column"):
        return _NO_COLUMN
    return ODDITIES.get(kind, NOT_DESCRIBED)
