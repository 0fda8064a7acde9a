"""Charts in JupyterLab without a network: Lab's own Vega draws them, however many rows they hold.

JupyterLab brings Vega-Lite 5 and knows no other by its media type, so the specification is handed over as that; what
altair 6 writes and version 5 does not know, it leaves out.
"""

from typing import TYPE_CHECKING, Any

from gangline.lab.thinning import thinned

if TYPE_CHECKING:
    import altair as alt
    from IPython.core.interactiveshell import InteractiveShell

MEDIA_TYPE = "application/vnd.vegalite.v5+json"
SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"  # a name: nothing is fetched from it


def register(shell: "InteractiveShell") -> None:
    """Show altair's charts as `bundle` says, and let no number of rows be an error."""
    import altair as alt

    alt.data_transformers.enable("default", max_rows=None)
    if shell.display_formatter is not None:
        shell.display_formatter.mimebundle_formatter.for_type(alt.TopLevelMixin, bundle)


def bundle(chart: "alt.TopLevelMixin", include: object = None, exclude: object = None) -> dict[str, Any]:
    """Turn a chart into what JupyterLab draws, thinned where no eye could tell, which the chart then says."""
    spec = thinned(chart.to_dict())
    return {MEDIA_TYPE: {**spec, "$schema": SCHEMA}, "text/plain": f"{type(chart).__name__}: drawn in JupyterLab"}
