"""One page with everything on it and hostile names everywhere, made without a kernel."""

from datetime import timedelta

import altair as alt
import nbformat
import polars as pl
from nbformat import NotebookNode

from gangline.charts import heat, labels, theme
from gangline.config import Config
from gangline.estimates import Estimate
from gangline.report import Figure
from gangline.report.opening import open_page
from tests.report.making import HOSTILE, code, collecting, executed, text
from tests.report.test_sanitiser import PAYLOADS

SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>alert(5)</script></svg>'
QUESTION = "Which nodes do gang sessions leave out, <script>alert(0)</script>?"


def full_notebook(config: Config) -> NotebookNode:
    """An executed notebook that uses every part of a page."""
    with collecting() as opened:
        page = open_page(str(config.path), "2025-10-06", "2025-10-13", notebook="08_node_exclusions")
    rows = pl.DataFrame({"node": list(HOSTILE), "excluded_h": [float(n) for n in range(1, len(HOSTILE) + 1)]})
    drawn = labels.shortened(rows, "node")
    bars = alt.Chart(drawn).mark_bar()
    bars = bars.encode(
        x=theme.value_axis("excluded_h", "Excluded (h)", channel=alt.X),
        y=theme.name_axis("node_label"),
        tooltip="node:N",
    )
    many = pl.DataFrame({"step": range(40_000), "at": [page.window.start] * 40_000})
    notebook = executed(
        [
            (text(f"# {QUESTION}"), None),
            (code("page.answer(...)", "answer"), lambda: page.answer("**{}** stood out.", HOSTILE[0])),
            (code("page.headline(...)"), lambda: page.headline(_figures())),
            (code("page.banner(...)"), lambda: page.banner("Beware of {}.", HOSTILE[0])),
            (text("## Payloads\n\n" + "\n\n".join(PAYLOADS)), None),
            (text("## Nodes\n\n## Nodes\n\n### Detail"), None),
            (code("page.chart(...)"), lambda: page.chart(bars, title="Hours", caption=HOSTILE[1], rows=rows)),
            (code("page.chart(...)"), lambda: page.chart(_heat(config), title="Heat", caption="Cells.", rows=rows)),
            (code("page.table(...)"), lambda: page.table(rows, caption="Nodes")),
            (code("page.table(many)"), lambda: page.table(many, caption="Many rows")),
            (code("page.text(...)"), lambda: [page.text("{}", name) for name in HOSTILE]),
            (code("# </script><script>alert(3)</script>"), page.quality),
            (code("page.provenance()"), page.provenance),
            (code("page.done()"), page.done),
        ]
    )
    notebook.cells[1].outputs[:0] = [nbformat.v4.new_output("display_data", data=bundle) for bundle in opened]
    notebook.cells.insert(5, _foreign())
    return notebook


def _figures() -> list[Figure]:
    values = (0.50, 0.52, 0.49, 0.51, 0.50, 0.48, 0.52, 0.51)
    share = Estimate(0.53, "ratio", 531)
    return [Figure("a.share", share, 0.51, "<b>Top</b> three", "<i>Share</i>.", history=values)]


def _heat(config: Config) -> alt.LayerChart:
    page = open_page(str(config.path), "2025-10-06", "2025-10-13", notebook="x")
    page.con.close()
    step = timedelta(hours=6)
    at = pl.datetime_range(page.window.start, page.window.end, step, time_zone="UTC", eager=True, closed="left")
    names = [f"gpu{number:03d}" for number in range(20)]
    cells = pl.DataFrame({"name": names}).join(pl.DataFrame({"at": at}), how="cross")
    cells = cells.with_columns(value=pl.int_range(pl.len()).cast(pl.Float64) % 101)
    return heat.heat_map(heat.Grid(cells, names, page.window.start, page.window.end, step), "GPU use (%)", 0, 100)


def _foreign() -> NotebookNode:
    """A cell of outputs that our page did not make: cleaned, or not shown at all."""
    cell = code("display(...)")
    bundles = [{kind: payload} for payload in PAYLOADS for kind in ("text/html", "text/markdown")]
    bundles += [{kind: PAYLOADS[0]} for kind in ("text/vnd.mermaid", "text/latex", "text/plain")]
    bundles += [
        {"image/svg+xml": SVG},
        {"application/javascript": "alert(4)"},
        {"application/vnd.jupyter.widget-view+json": {"x": PAYLOADS[0]}},
    ]
    cell.outputs = [nbformat.v4.new_output("display_data", data=bundle) for bundle in bundles]
    cell.outputs.append(nbformat.v4.new_output("stream", name="stdout", text=PAYLOADS[0]))
    return cell
