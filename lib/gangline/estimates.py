"""Estimators with their uncertainty."""
