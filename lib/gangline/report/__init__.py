"""Report pages: what a notebook imports to write one (docs/reports.md shows how).

Examples
--------
::

    from gangline import report
    page = report.open_page(config, start, end, notebook="08_node_exclusions")
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gangline.report.figures import Direction, Figure
    from gangline.report.opening import open_page
    from gangline.report.page import Page
    from gangline.report.parameters import ParameterError
    from gangline.report.wording import listed
    from gangline.report.wording import prose as markup

__all__ = ["Direction", "Figure", "Page", "ParameterError", "listed", "markup", "open_page"]

_PLACES = {
    "Direction": ("figures", "Direction"),
    "Figure": ("figures", "Figure"),
    "Page": ("page", "Page"),
    "ParameterError": ("parameters", "ParameterError"),
    "listed": ("wording", "listed"),
    "markup": ("wording", "prose"),
    "open_page": ("opening", "open_page"),
}


def __getattr__(name: str) -> Any:
    """Import a name when it is asked for: the command line needs an error of this package, not its estimators."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, attribute = _PLACES[name]
    return getattr(import_module(f"{__name__}.{module}"), attribute)
