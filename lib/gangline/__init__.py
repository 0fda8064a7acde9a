"""Offline operations-log analytics for GPU training clusters."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

__version__ = "0.1.0"


def load_ipython_extension(shell: "InteractiveShell") -> None:
    """What `%load_ext gangline` does: `%%sql`, and charts that JupyterLab draws without a network."""
    import polars as pl

    from gangline.lab import drawing, magic

    pl.Config.set_tbl_rows(40).set_fmt_str_lengths(120)

    magic.register(shell)
    drawing.register(shell)
