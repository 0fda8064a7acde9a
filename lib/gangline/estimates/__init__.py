"""Estimators with their uncertainty, each checked against published numbers."""

from gangline.estimates.estimate import Estimate

__all__ = ["Estimate"]
