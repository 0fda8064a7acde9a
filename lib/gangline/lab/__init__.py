"""For an analyst in JupyterLab: the warehouse read-only, `%%sql` that gives polars frames, charts that draw offline.

Examples
--------
In a notebook that `gangline lab` opens::

    %load_ext gangline
    from gangline import lab

    here = lab.open_lab()
    here.tables()
"""

from gangline.lab.opening import Lab, open_lab
from gangline.lab.picking import Picker

__all__ = ["Lab", "Picker", "open_lab"]
