"""Estimators with their uncertainty, each checked against published numbers."""

from gangline.estimates.chance import Block, BlockNull, block_null, session_blocks, without_longest
from gangline.estimates.composition import consecutive_jaccard, jaccard
from gangline.estimates.concentration import Lorenz, gini, hhi, lorenz, top_fraction_share, top_share, top_units
from gangline.estimates.estimate import Estimate
from gangline.estimates.incidence import IncidenceCurve, cumulative_incidence
from gangline.estimates.proportions import difference_of_proportions, fisher_p, proportion, ratio_of_proportions
from gangline.estimates.quantiles import Quantiles, median, quantile, quantiles
from gangline.estimates.rates import (
    dispersion_index,
    dispersion_p,
    event_count,
    mean_time_between,
    per_1000_node_days,
    poisson_bounds,
    rate,
    rate_ratio,
    rates_p,
)
from gangline.estimates.shifts import chance_less, rank_sum_p, shift
from gangline.estimates.survival import SurvivalCurve, kaplan_meier
from gangline.estimates.weibull import Gaps, WeibullFit, event_gaps, power_statement, weibull

__all__ = [
    "Block",
    "BlockNull",
    "Estimate",
    "Gaps",
    "IncidenceCurve",
    "Lorenz",
    "Quantiles",
    "SurvivalCurve",
    "WeibullFit",
    "block_null",
    "chance_less",
    "consecutive_jaccard",
    "cumulative_incidence",
    "difference_of_proportions",
    "dispersion_index",
    "dispersion_p",
    "event_count",
    "event_gaps",
    "fisher_p",
    "gini",
    "hhi",
    "jaccard",
    "kaplan_meier",
    "lorenz",
    "mean_time_between",
    "median",
    "per_1000_node_days",
    "poisson_bounds",
    "power_statement",
    "proportion",
    "quantile",
    "quantiles",
    "rank_sum_p",
    "rate",
    "rate_ratio",
    "rates_p",
    "ratio_of_proportions",
    "session_blocks",
    "shift",
    "top_fraction_share",
    "top_share",
    "top_units",
    "weibull",
    "without_longest",
]
