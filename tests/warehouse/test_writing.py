"""One writer on a copy, many readers on the published file."""

import multiprocessing
import os
from pathlib import Path

import duckdb
import pytest

from gangline.config import Config, load
from gangline.warehouse import WarehouseError, connect, writing
from gangline.warehouse.tables import SCHEMA_VERSION, set_build

CONFIG = '[cluster]\nname = "orion"\ntime_zone = "UTC"\n'


@pytest.fixture
def config(tmp_path: Path) -> Config:
    path = tmp_path / "cluster.toml"
    path.write_text(CONFIG)
    return load(path)


def _publish(config: Config, name: str, rebuild: bool = False) -> None:
    with writing(config, rebuild=rebuild) as con:
        con.execute("insert into meta.rejects values (?, null, 'none', null)", [name])
        set_build(con, schema_version=str(SCHEMA_VERSION), duckdb_version=duckdb.__version__)


def _kept(con: duckdb.DuckDBPyConnection) -> list[str]:
    return [name for (name,) in con.execute("select file_id from meta.rejects order by file_id").fetchall()]


def test_readers_see_the_old_file_until_the_new_one_is_whole(config: Config) -> None:
    _publish(config, "a")
    before = connect(config)
    _publish(config, "b")
    assert _kept(before) == ["a"]
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(_kept_seen, (config.path,)) == ["a", "b"]
    before.close()


def _kept_seen(path: Path) -> list[str]:
    with connect(load(path)) as con:
        return _kept(con)


def test_connections_are_utc_read_only_and_offline(config: Config) -> None:
    _publish(config, "a")
    with connect(config) as con:
        assert con.execute("select current_setting('TimeZone')").fetchone() == ("UTC",)
        assert con.execute("select current_setting('autoload_known_extensions')").fetchone() == (False,)
        with pytest.raises(duckdb.InvalidInputException):
            con.execute("delete from meta.rejects")


def test_an_error_while_writing_publishes_nothing(config: Config) -> None:
    _publish(config, "a")
    with pytest.raises(ZeroDivisionError):
        _fail_while_writing(config)
    with connect(config) as con:
        assert _kept(con) == ["a"]


def _fail_while_writing(config: Config) -> None:
    with writing(config) as con:
        con.execute("begin")
        con.execute("insert into meta.rejects values ('b', null, 'none', null)")
        raise ZeroDivisionError


def test_what_a_killed_writer_committed_is_gone_on_with(config: Config) -> None:
    _publish(config, "a")
    context = multiprocessing.get_context("spawn")
    killed = context.Process(target=_write_and_die, args=(config.path,))
    killed.start()
    killed.join()
    assert killed.exitcode == 9
    with connect(config) as con:
        assert _kept(con) == ["a"]
    _publish(config, "c")
    with connect(config) as con:
        assert _kept(con) == ["a", "b", "c"]


def _write_and_die(path: Path) -> None:
    with writing(load(path)) as con:
        con.execute("insert into meta.rejects values ('b', null, 'none', null)")
        os._exit(9)


def test_a_second_writer_is_told_who_holds_the_lock(config: Config) -> None:
    with writing(config) as con:
        set_build(con, schema_version=str(SCHEMA_VERSION))
        with pytest.raises(WarehouseError, match=f"process {os.getpid()} is writing") as caught, writing(config):
            pass
    assert caught.value.exit_code == 4


def test_a_copy_that_does_not_open_is_begun_again(config: Config) -> None:
    _publish(config, "a")
    Path(f"{config.folder}/warehouse.duckdb.building").write_bytes(b"no database")
    _publish(config, "b")
    with connect(config) as con:
        assert _kept(con) == ["a", "b"]


def test_rebuild_starts_empty_and_keeps_the_old_file(config: Config) -> None:
    _publish(config, "a")
    _publish(config, "b", rebuild=True)
    with connect(config) as con:
        assert _kept(con) == ["b"]
    with duckdb.connect(config.folder / "warehouse.duckdb.before-rebuild", read_only=True) as con:
        assert _kept(con) == ["a"]


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ({"schema_version": "99"}, f"its schema is version 99, this gangline reads {SCHEMA_VERSION}"),
        ({"duckdb_version": "99.1.0"}, f"made with DuckDB 99.1.0, this is {duckdb.__version__}"),
    ],
)
def test_other_versions_are_refused_and_never_overwritten(config: Config, facts: dict[str, str], said: str) -> None:
    with writing(config) as con:
        set_build(con, **{"schema_version": str(SCHEMA_VERSION)} | facts)
    content = (config.folder / "warehouse.duckdb").read_bytes()
    for use in (lambda: connect(config), lambda: _publish(config, "x")):
        with pytest.raises(WarehouseError, match=said) as caught:
            use()
        assert caught.value.exit_code == 4
        assert f"gangline ingest --rebuild -c {config.path}" in str(caught.value)
    assert (config.folder / "warehouse.duckdb").read_bytes() == content


def test_no_warehouse_names_the_command(config: Config) -> None:
    with pytest.raises(WarehouseError, match="make it with `gangline ingest -c") as caught:
        connect(config)
    assert caught.value.exit_code == 2


def test_a_file_that_is_no_database_is_one_line(config: Config) -> None:
    (config.folder / "warehouse.duckdb").write_bytes(b"x" * 5000)
    with pytest.raises(WarehouseError) as caught:
        connect(config)
    assert "\n" not in str(caught.value)
