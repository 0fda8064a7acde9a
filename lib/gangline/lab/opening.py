"""One open cluster: its warehouse read-only, its windows, and what its tables mean."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from gangline import warehouse
from gangline.config import Config, load_default
from gangline.descriptions import describe
from gangline.report.opening import export_window, found_config
from gangline.report.parameters import window
from gangline.warehouse.opening import path_of
from gangline.warehouse.querying import names_in, query
from gangline.windows import Window


@dataclass(slots=True)
class Lab:
    """A cluster as an analyst works with it; `open_lab` makes one.

    Attributes
    ----------
    con : duckdb.DuckDBPyConnection
        Read-only, in UTC: an ingest publishes beside it and is never held up, nor holds it up.
    whole : Window
        All that the warehouse holds.
    window : Window
        What `sql` binds to `$window_start` and `$window_end`; set it, or let a `Picker` set it.
    nodes : tuple of str
        What `sql` binds to `$nodes`; empty: all.
    """

    config: Config
    con: duckdb.DuckDBPyConnection
    whole: Window
    window: Window
    nodes: tuple[str, ...] = ()
    made_of: tuple[int, int] = field(default=(0, 0))

    def sql(self, text: str, /, **values: Any) -> pl.DataFrame:
        """Run a query; every `$name` in it is bound as a value, never pasted in.

        Bound without being given: `window_start`, `window_end`, `time_zone`, `nodes` (a list) and `cluster`.

        Raises
        ------
        duckdb.Error
            If the query is wrong, writes, or a `$name` has no value.
        """
        given = self._usual_values() | values
        wanted = {name: given[name] for name in names_in(self.con, text) if name in given}
        return query(self.con, text, **wanted)

    def tables(self, schema: str = "marts") -> pl.DataFrame:
        """Tables, views and macros of a schema with what they hold; an empty text gives all schemas."""
        things = describe(self.con)
        return things.filter(pl.col("name").str.starts_with(f"{schema}.")) if schema else things

    def describe(self, table: str) -> pl.DataFrame:
        """Columns of a table with type, meaning and unit.

        Raises
        ------
        UnknownTableError
            Where there is no such table; the message names the nearest.
        """
        return describe(self.con, table)

    def between(self, start: str, end: str) -> Window:
        """Make the window of two dates of the cluster's zone, the end not included, the one that is worked on."""
        self.window = Window.between(start, end, self.config.cluster.time_zone)
        return self.window

    @property
    def is_stale(self) -> bool:
        """Whether a newer warehouse was published since this one was opened; `reopen` turns to it."""
        return self.made_of != _identity(path_of(self.config))

    def reopen(self) -> None:
        """Turn to the warehouse as it is now; window and nodes stay."""
        self.con.close()  # DuckDB gives a process the file that it has open already, replaced or not
        self.con = warehouse.connect(self.config)
        self.made_of = _identity(path_of(self.config))
        was_whole = self.window == self.whole
        self.whole = export_window(self.con, self.config.cluster.time_zone)
        self.window = self.whole if was_whole else self.window

    def _usual_values(self) -> dict[str, Any]:
        return {
            "window_start": self.window.start,
            "window_end": self.window.end,
            "time_zone": self.window.time_zone,
            "nodes": list(self.nodes),
            "cluster": self.config.cluster.name,
        }


def open_lab(config: str = "", start: str = "", end: str = "") -> Lab:
    """Open a cluster's warehouse read-only.

    Parameters
    ----------
    config : str
        The cluster's TOML file, from the current folder or from the clone's; empty: the one that `gangline lab -c`
        or GANGLINE_CONFIG names, else the reference cluster, else the sample.
    start, end : str
        The window to begin with, dates of the cluster's zone, `end` not included; empty: the export's own edges.

    Raises
    ------
    ParameterError
        If a text is no date.
    ConfigError
        If the config cannot be used.
    WarehouseError
        If there is no warehouse, or another version made it.
    """
    loaded = load_default(found_config(config))
    con = warehouse.connect(loaded)
    whole = export_window(con, loaded.cluster.time_zone)
    return Lab(loaded, con, whole, window(start, end, whole), made_of=_identity(path_of(loaded)))


def _identity(path: Path) -> tuple[int, int]:
    seen = path.stat()
    return seen.st_ino, seen.st_mtime_ns
