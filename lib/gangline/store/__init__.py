"""Samples beside the warehouse: Parquet, one folder per metric, one row per series and day, exact to the bit.

A file is written once, named by its content, and only counts where `meta.sample_parts` names it; so a killed writer
leaves nothing but files that the next one sweeps away, and readers keep what they opened.
"""

from gangline.store.identity import NodeRule, SeriesIdentity, identify
from gangline.store.reading import SampleStore, SeriesSamples
from gangline.store.sink import SampleSink
from gangline.store.tables import create_store_tables, publish_views

__all__ = [
    "NodeRule",
    "SampleSink",
    "SampleStore",
    "SeriesIdentity",
    "SeriesSamples",
    "create_store_tables",
    "identify",
    "publish_views",
]
