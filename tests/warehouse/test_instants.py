"""One instant through every engine that samples and tables pass: none shifts it by a zone."""

from pathlib import Path

import polars as pl
import pyarrow.parquet as pq

from gangline.config import load
from gangline.warehouse.writing import writing

NOON_IN_SHANGHAI = 1_641_009_600  # polars#5010, #2723: 2022-01-01 12:00 there
ZONE = "Asia/Shanghai"


def test_an_instant_is_the_same_in_duckdb_arrow_polars_and_parquet(tmp_path: Path) -> None:
    (tmp_path / "cluster.toml").write_text(f'[cluster]\nname = "orion"\ntime_zone = "{ZONE}"\n')
    with writing(load(tmp_path / "cluster.toml")) as con:
        con.execute("create table moments as select timestamptz '2022-01-01 12:00:00+08' as \"at\"")
        table = con.sql("from moments").to_arrow_table()
        moments = pl.DataFrame(table)
        assert moments.select(pl.col("at").dt.epoch("s")).item() == NOON_IN_SHANGHAI
        local = moments.with_columns(pl.col("at").dt.convert_time_zone(ZONE))
        assert (local["at"].dt.hour().item(), local["at"].dt.epoch("s").item()) == (12, NOON_IN_SHANGHAI)
        local.write_parquet(tmp_path / "polars.parquet")
        pq.write_table(local.to_arrow(), tmp_path / "arrow.parquet")
        for path in ("polars.parquet", "arrow.parquet"):
            again = con.execute('select epoch("at") from read_parquet(?)', [str(tmp_path / path)]).fetchall()
            assert again == [(NOON_IN_SHANGHAI,)]
            assert pl.read_parquet(tmp_path / path)["at"].dt.epoch("s").to_list() == [NOON_IN_SHANGHAI]
        con.register("again", local.to_arrow())
        assert con.execute('select epoch("at") from again').fetchall() == [(NOON_IN_SHANGHAI,)]
