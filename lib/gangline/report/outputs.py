"""What a notebook's cell leaves for the page: markup that only this package writes, and data that the runner collects.

The page's template prints markup of the type `TRUSTED` as it is and cleans everything else, so nothing but this
package may make that type, and it builds it with `markupsafe`, which escapes every value.
"""

from typing import Any

from markupsafe import Markup

TRUSTED = "application/vnd.gangline.html"
PAGE = "application/vnd.gangline.page+json"
BANNER = "application/vnd.gangline.banner+json"
FIGURES = "application/vnd.gangline.figures+json"
DONE = "application/vnd.gangline.done+json"
MOST_OUTPUT_BYTES = 1_000_000


class OutputTooLargeError(ValueError):
    """A cell would leave more than a page can hold."""


def show(markup: Markup, text: str, for_lab: Markup | None = None) -> None:
    """Show trusted markup on the page; `text` stands for it where there is no HTML, `for_lab` in JupyterLab.

    Raises
    ------
    OutputTooLargeError
        Above 1 MB, with what to do about it.
    """
    size = len(markup.encode())
    if size > MOST_OUTPUT_BYTES:
        raise OutputTooLargeError(
            f"{text[:80]!r} takes {size / 1e6:.1f} MB of the page, the limit is 1 MB; show fewer rows"
        )
    publish({TRUSTED: str(markup), "text/html": str(for_lab or markup), "text/plain": text})


def leave(media_type: str, content: Any, text: str = "") -> None:
    """Leave data in the executed notebook, for the exporter and the runner; `text` is all that JupyterLab shows."""
    publish({media_type: content, "text/plain": text})


def publish(bundle: dict[str, Any]) -> None:
    """Hand a bundle of media types to the notebook; outside of one there is nobody to show it to."""
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.display import display

    if InteractiveShell.initialized():
        display(bundle, raw=True)  # type: ignore[no-untyped-call]
