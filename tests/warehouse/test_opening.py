"""Opening the warehouse: what was made by other SQL is told in a line, not by a query that fails."""

import re
from pathlib import Path

import pytest

from gangline import lab, warehouse
from gangline.config import Config, load
from gangline.definitions import sql_hash
from gangline.report import open_page
from gangline.warehouse.opening import OutdatedError, connect_as_built
from gangline.warehouse.tables import SCHEMA_VERSION, get_build, set_build


@pytest.fixture
def config(tmp_path: Path) -> Config:
    (tmp_path / "cluster.toml").write_text('[cluster]\nname = "orion"\ntime_zone = "UTC"\n')
    return load(tmp_path / "cluster.toml")


def _publish(config: Config, **facts: str) -> None:
    with warehouse.writing(config) as con:
        set_build(con, schema_version=str(SCHEMA_VERSION), **facts)


def test_a_warehouse_of_other_sql_is_told_with_the_mend(config: Config) -> None:
    _publish(config, sql_hash="0" * 64)
    said = re.escape(
        f"{config.folder}/warehouse.duckdb: its tables were made by other SQL than that of this gangline; "
        f"`gangline ingest -c {config.path}` makes them again, as `gangline report` does by itself"
    )
    for opened in (
        lambda: warehouse.connect(config),
        lambda: open_page(str(config.path), notebook="04_incidents"),
        lambda: lab.open_lab(str(config.path)),
    ):
        with pytest.raises(OutdatedError, match=f"^{said}$") as raised:
            opened()
        assert raised.value.exit_code == 4


def test_what_it_holds_can_be_told_all_the_same(config: Config) -> None:
    _publish(config, sql_hash="0" * 64)
    with connect_as_built(config) as con:
        assert get_build(con)["sql_hash"] == "0" * 64


def test_a_warehouse_of_this_sql_opens(config: Config) -> None:
    _publish(config, sql_hash=sql_hash())
    warehouse.connect(config).close()
