"""Widgets that set a lab's window and nodes, and pictures that follow them."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gangline.lab.opening import Lab
from gangline.windows import Window

if TYPE_CHECKING:
    import altair as alt

Picture = Callable[..., "alt.TopLevelMixin"]
MOST_WEEKS = 104
MOST_NODES = 4
OWN_DATES = "dates below"
ALL_NODES = f"Nodes (none: all; at most {MOST_NODES} are drawn)"


class Picker:
    """Choices of window and nodes, shown above what follows them.

    Parameters
    ----------
    here : Lab
        Its `window` and `nodes` follow the choices.
    """

    def __init__(self, here: Lab) -> None:
        import ipywidgets as widgets

        self.here = here
        weeks = weeks_of(here.whole)
        names = [here.whole.label, *(week.label for week in weeks), OWN_DATES]
        self._windows = dict(zip(names, [here.whole, *weeks], strict=False))
        self.window = widgets.Dropdown(options=names, description="Window")
        self.start = widgets.DatePicker(description="From", value=here.whole.local_start.date())
        self.end = widgets.DatePicker(description="To", value=here.whole.local_end.date())
        self.nodes = widgets.SelectMultiple(options=nodes_of(here), description="Nodes", rows=6)
        self.said = widgets.Label(ALL_NODES)
        dates = widgets.VBox([self.window, self.start, self.end])
        self.box = widgets.HBox([dates, widgets.VBox([self.nodes, self.said])])
        self._followers: list[Callable[[], None]] = []
        for control in (self.window, self.start, self.end, self.nodes):
            control.observe(self._take, names="value")

    def _ipython_display_(self) -> None:
        from IPython.display import display

        display(self.box)  # type: ignore[no-untyped-call]

    def follow(self, picture: Picture, **arguments: Any) -> Any:
        """Show a picture of the lab (`gangline.lab.pictures`, or your own of a `Lab`) that follows the choices.

        Parameters
        ----------
        picture : callable
            From the lab, and the arguments, to a chart.

        Returns
        -------
        ipywidgets.Output
            What a cell shows as its last line.
        """
        import ipywidgets as widgets

        place = widgets.Output()

        def draw() -> None:
            place.clear_output(wait=True)
            with place:
                _show(picture, self.here, arguments)

        self._followers.append(draw)
        draw()
        return place

    def _take(self, _change: object) -> None:
        if (window := self._chosen()) is None:
            self.said.value = "The window's end is not after its start."
            return
        self.here.window, self.here.nodes = window, tuple(self.nodes.value)
        self.said.value = ALL_NODES
        for draw in self._followers:
            draw()

    def _chosen(self) -> Window | None:
        if self.window.value != OWN_DATES:
            return self._windows[self.window.value]
        start, end = self.start.value, self.end.value
        if start is None or end is None or end <= start:
            return None
        return Window.between(str(start), str(end), self.here.config.cluster.time_zone)


def weeks_of(whole: Window) -> list[Window]:
    """The ISO weeks that a window reaches into, newest first, two years at most."""
    if not whole.days:
        return []
    year, week, _ = whole.local_end.isocalendar()
    newest = Window.week(f"{year}-W{week:02d}", whole.time_zone)
    weeks = (newest, *newest.before(MOST_WEEKS - 1))
    return [week for week in weeks if whole.start < week.end and week.start < whole.end]


def nodes_of(here: Lab) -> list[str]:
    """The inventory's nodes, by name."""
    names: list[str] = here.sql("select node from marts.nodes order by node")["node"].to_list()
    return names


def _show(picture: Picture, here: Lab, arguments: dict[str, Any]) -> None:
    """The picture, or in one line why there is none: a choice without rows is no defect."""
    from IPython.display import display

    try:
        display(picture(here, **arguments))  # type: ignore[no-untyped-call]
    except ValueError as error:
        print(error)  # noqa: T201
