"""Estimators with their uncertainty, each checked against published numbers; one module a kind.

Only `Estimate` is here: a page that carries figures need not wait for scipy.
"""

from gangline.estimates.estimate import Estimate

__all__ = ["Estimate"]
