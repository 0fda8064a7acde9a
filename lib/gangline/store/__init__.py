"""Samples beside the warehouse: Parquet, one folder per metric, one row per series and day, exact to the bit.

A file is written once, named by its content, and only counts where `meta.sample_parts` names it; so a killed writer
leaves nothing but files that the next one sweeps away, and readers keep what they opened.
"""
