"""Pictures: one module per analysis, each function from a polars frame to an Altair chart in the house's look.

Examples
--------
A chart takes rows that SQL has already reduced and says what its axes mean::

    import altair as alt
    import polars as pl

    from gangline.charts import theme


    def exclusions_per_node(node_exclusions: pl.DataFrame) -> alt.Chart:
        bars = alt.Chart(node_exclusions).mark_bar(color=theme.BLUE)
        return bars.encode(x=theme.ratio_axis("excluded_ratio", "Excluded"), y=theme.name_axis("node", "Node"))
"""

import sys

if "rfc3987_syntax" not in sys.modules:
    # Altair validates with jsonschema, whose optional checker of international addresses builds a parser from a
    # grammar at import: 0.9 of Altair's 1.2 s. No chart names an address; without it jsonschema does not check them.
    sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]
