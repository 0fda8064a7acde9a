"""Report pages: what a notebook imports to write one (docs/reports.md shows how).

Examples
--------
::

    from gangline import report
    page = report.open_page(config, start, end, notebook="08_node_exclusions")
"""

from gangline.report.figures import Direction, Figure
from gangline.report.opening import open_page
from gangline.report.page import Page
from gangline.report.parameters import ParameterError
from gangline.report.wording import listed
from gangline.report.wording import prose as markup

__all__ = ["Direction", "Figure", "Page", "ParameterError", "listed", "markup", "open_page"]
