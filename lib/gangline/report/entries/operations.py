"""Figures of sessions, exclusions, node incidents and recovery."""

from gangline.report.entries.entry import Entry
from gangline.report.figures import Direction

OPERATIONS: dict[str, Entry] = {
    "fleet.nodes": Entry("Nodes in service", "Nodes of the inventory that are in service in the window."),
    "fleet.sessions": Entry("Sessions", "Sessions that started in the window."),
    "fleet.multi_node_sessions": Entry("Multi-node sessions", "Sessions on at least two nodes that started."),
    "fleet.never_started": Entry("Never started", "Sessions created in the window that never held a node."),
    "fleet.gang_gpu_hours_share": Entry("Gang share of GPU-hours", "GPU-hours of gang sessions over those of all."),
    "exclusions.gang_sessions": Entry("Gang sessions", "Gang sessions that started in the window."),
    "exclusions.excluded_total": Entry("Exclusions", "Nodes left out by a gang session at its start, summed."),
    "exclusions.top3_share_sessions": Entry("Top three nodes, by count", "Their share of all exclusions."),
    "exclusions.top3_share_hours": Entry("Top three nodes, by hours", "Their share of all excluded node-hours."),
    "exclusions.gini_hours": Entry("Gini of excluded hours", "0: even over all candidate nodes; near 1: one node."),
    "exclusions.hhi_hours": Entry("Herfindahl index of excluded hours", "Sum of the squared shares of nodes."),
    "exclusions.null_top3_share_hours": Entry("Top three by chance", "The same share with sets drawn at random."),
    "exclusions.p_value": Entry("Chance of such a share", "Draws at least as concentrated, one-sided."),
    "exclusions.blocks": Entry("Blocks", "Runs of gang sessions that leave out the same nodes: the effective n."),
    "exclusions.nodes_below_5pct_share": Entry(
        "Nodes rarely left out", "Nodes left out by under 5 % of gang sessions."
    ),
    "exclusions.gang_time_share": Entry("Time covered by gangs", "Share of the window in which a gang session ran."),
    "exclusions.longest_gang_session_h": Entry("Longest gang session", "Of those that started in the window."),
    "exclusions.below_need_h": Entry(
        "Below the gang's need", "Hours with fewer usable nodes than a gang needs.", Direction.LOWER
    ),
    "overlap.fleet_ratio": Entry("Overlap", "Excluded node-hours in which a single-node session held the node."),
    "incidents.count": Entry("Node incidents", "Rows of incident files that start in the window.", Direction.LOWER),
    "incidents.nodes_affected": Entry("Nodes affected", "Nodes with at least one incident.", Direction.LOWER),
    "incidents.per_1000_node_days": Entry("Incident rate", "Per 1,000 in-service node-days.", Direction.LOWER),
    "incidents.duration_q1_h": Entry("Lower quartile of duration", "A quarter of incidents was over by then."),
    "incidents.duration_median_h": Entry("Median duration", "Half of the incidents was over by then.", Direction.LOWER),
    "incidents.duration_q3_h": Entry("Upper quartile of duration", "Three quarters of incidents were over by then."),
    "incidents.top5pct_nodes_share": Entry("Top 5 % of nodes", "Their share of all incident hours."),
    "incidents.gini_hours": Entry("Gini of incident hours", "Over all nodes in service, zeros included."),
    "incidents.weibull_shape": Entry("Weibull shape of gaps", "Below 1: short gaps: bunches, or unlike nodes."),
    "retries.chains": Entry("Retry chains", "Chains of automatic retries whose first attempt starts in the window."),
    "retries.attempts": Entry("Attempts", "Sessions of these chains, their first ones included."),
    "retries.retries": Entry("Retries", "Attempts less the first of each chain."),
    "retries.chains_recovered": Entry("Chains that recovered", "An attempt after the first reached training."),
    "retries.chains_censored": Entry("Chains still open", "Not recovered, and the last attempt was still running."),
    "retries.chain_success": Entry(
        "Chain success", "Chains in which a retry reached training, over those of which it is known.", Direction.HIGHER
    ),
    "retries.manual_sessions": Entry("Launches by hand", "Sessions that are in no chain."),
    "retries.manual_reached": Entry("Launches by hand that trained", "Those that reached training."),
    "retries.manual_success": Entry(
        "Success by hand", "Sessions in no chain that reached training, over those of which it is known."
    ),
    "retries.success_ratio": Entry("Chains over launches by hand", "Chain success over success by hand."),
    "retries.fisher_p": Entry("Chance of such a difference", "Fisher's exact test of the two successes."),
    "retries.retry_success": Entry("Success of one retry", "Retries that reached training, over those of all chains."),
    "retries.auto_gap_median_min": Entry("Gap before a retry", "Median from the end before to the retry's start."),
    "retries.auto_gap_q1_min": Entry("Gap before a retry, lower quartile", "A quarter of retries came sooner."),
    "retries.auto_gap_q3_min": Entry("Gap before a retry, upper quartile", "Three quarters of retries came sooner."),
    "retries.manual_gap_median_min": Entry("Gap before a launch by hand", "Median of links of at most a day."),
    "retries.manual_gap_min_min": Entry("Shortest gap by hand", "From the end before to the start."),
    "retries.manual_gap_max_min": Entry("Longest gap by hand", "Of links of at most a day."),
    "retries.failed_chain_h": Entry(
        "Hours of failed chains", "Attempts that did not train, of chains that did not recover.", Direction.LOWER
    ),
    "retries.failed_chain_gpu_h": Entry("GPU-hours of failed chains", "The same in GPU-hours.", Direction.LOWER),
    "retries.failed_chain_share": Entry(
        "Failed chains' share", "Their hours over hours of sessions that reached training.", Direction.LOWER
    ),
    "downtimes.episodes": Entry("Downtimes", "Training stopped by an end neither completed nor planned."),
    "downtimes.automatic_n": Entry("Restored by a retry", "Downtimes that a retry of a chain ended."),
    "downtimes.automatic_median_h": Entry("Median downtime, retries", "Downtimes that a retry ended.", Direction.LOWER),
    "downtimes.manual_n": Entry("Restored by a person", "Downtimes that a launch by hand ended."),
    "downtimes.manual_median_h": Entry("Median downtime, by hand", "Downtimes that a person ended.", Direction.LOWER),
    "downtimes.manual_min_h": Entry("Shortest downtime, by hand", "Downtimes that a person ended."),
    "downtimes.manual_max_h": Entry("Longest downtime, by hand", "Downtimes that a person ended."),
    "downtimes.prequeued_n": Entry("Restored from the queue", "By a session submitted before the failure."),
    "downtimes.first_manual_n": Entry("Answered by a person first", "The first session after the failure was by hand."),
    "downtimes.median_ratio": Entry("By hand over retries", "Ratio of the two median downtimes."),
    "downtimes.censored_n": Entry("Still down", "Nothing had reached training again by the window's end."),
    "downtimes.p_value": Entry("Chance of such a difference", "Rank sum of both kinds of downtime, two-sided."),
    "downtimes.km_median_h": Entry("Median downtime, all", "Kaplan-Meier, those still down included.", Direction.LOWER),
}
