"""What goes into the store comes out exactly, however it was cut, loaded and merged."""

import math
import tempfile
from datetime import UTC, date, datetime
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gangline.descriptions import describe
from gangline.sources.samples import SampleBatch
from gangline.store import layout, parts, settling, sink
from gangline.store.sweeping import sweep
from tests.store.stored import DAY, T0, Points, Stored, batch, stored

VALUES = st.one_of(st.floats(width=64), st.sampled_from([math.nan, -0.0, math.inf, 5e-324, 2.0**53 + 1]))
MAPS = st.dictionaries(st.integers(T0 - 3, T0 + 2 * DAY), VALUES, min_size=1, max_size=20)


def bits(points: Points) -> list[tuple[int, bytes]]:
    return [(time, np.float64(value).tobytes()) for time, value in sorted(points.items())]


@settings(max_examples=30, deadline=None)
@given(st.lists(MAPS, min_size=1, max_size=5), st.randoms())
def test_every_bit_comes_back(maps: list[Points], random: object) -> None:
    with tempfile.TemporaryDirectory() as folder, stored(Path(folder)) as made:
        for number, points in enumerate(maps):
            pairs = list(points.items())
            random.shuffle(pairs)  # type: ignore[attr-defined]
            made.load(f"f{number}", batch(pairs, operation=str(number)))
        made.settle()
        assert sorted(map(bits, made.raw().values())) == sorted(map(bits, maps))
        numbers = sum(1 for points in maps for value in points.values() if not math.isnan(value))
        assert len(made.in_sql()) == numbers


def test_shared_timestamps_are_kept_once_and_others_apart(tmp_path: Path) -> None:
    times = np.arange(T0, T0 + DAY, 30_000)
    with stored(tmp_path) as made:
        shared = [SampleBatch({"__name__": "m", "gpu": str(n)}, times, times % 7 * 1.0) for n in range(8)]
        made.load("f", *shared, batch({T0 + 5: 1.0}))
        made.settle()
        (path,) = (tmp_path / "telemetry/metric=m").iterdir()
        kept = made.con.execute(f"select count(times_ms), count(*) from read_parquet('{path}')").fetchone()
        assert kept == (2, 9)
        assert path.stat().st_size < 8 * times.size * 1.0
        assert len(made.in_sql()) == 8 * times.size + 1


def test_many_row_groups_a_day_share_no_timestamps_between_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "ROW_GROUP_SAMPLES", 10)
    times = np.arange(T0, T0 + 4_000, 1_000)
    with stored(tmp_path) as made:
        made.load("f", *(SampleBatch({"__name__": "m", "gpu": str(n)}, times, times * 1.0) for n in range(7)))
        made.settle()
        assert made.con.execute("select row_group_count from meta.sample_parts").fetchall() == [(4,)]
        assert len(made.in_sql()) == 28
        assert [list(points) for points in made.raw().values()] == [times.tolist()] * 7


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
@pytest.mark.parametrize("one_by_one", [True, False])
def test_overlapping_files_give_the_same_in_any_order(tmp_path: Path, order: tuple[int, ...], one_by_one: bool) -> None:
    files = [{T0: 1.0, T0 + 1: 2.0}, {T0 + 1: 3.0, T0 + DAY: 4.0}, {T0 + 1: math.nan, T0 + 2: math.nan}]
    with stored(tmp_path) as made:
        for number in order:
            made.load(f"f{number}", batch(files[number]))
            if one_by_one:
                made.settle()
        made.settle()
        (points,) = made.raw().values()
        assert repr(sorted(points.items())) == repr([(T0, 1.0), (T0 + 1, 3.0), (T0 + 2, math.nan), (T0 + DAY, 4.0)])
        assert [(time, value) for _, time, value in made.in_sql()] == [(T0, 1.0), (T0 + 1, 3.0), (T0 + DAY, 4.0)]
        counts = made.con.execute("select sum(repeat_count), sum(conflict_count) from meta.sample_parts").fetchone()
        assert counts == (2, 1)


def test_a_forgotten_file_leaves_what_others_gave(tmp_path: Path) -> None:
    with stored(tmp_path) as made:
        made.load("a", batch({T0: 1.0, T0 + 1: 2.0}))
        made.load("b", batch({T0 + 1: 9.0, T0 + 2: 3.0}))
        made.settle()
        assert made.in_sql()[1][2] == 9.0
        made.forget("b")
        made.settle()
        assert [value for *_, value in made.in_sql()] == [1.0, 2.0]
        made.load("b", batch({T0 + 1: 9.0, T0 + 2: 3.0}))
        made.settle()
        assert [value for *_, value in made.in_sql()] == [1.0, 9.0, 3.0]


def test_fillings_of_one_file_become_one_row_a_day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sink, "HELD_BYTES", 1)
    with stored(tmp_path) as made:
        made.load("f", batch({T0: 1.0}), batch({T0 + 2: 3.0, T0 + 1: 2.0}), batch({T0 + 1: 2.0}))
        made.settle()
        rows = made.con.execute("select file_id, is_live, row_group_count from meta.sample_parts").fetchall()
        assert rows == [("f", True, 1)]
        assert [value for *_, value in made.in_sql()] == [1.0, 2.0, 3.0]


def test_a_wide_day_is_merged_a_share_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settling, "MERGE_SAMPLES", 5)
    wide = [batch({T0: float(n), T0 + 1: 1.0}, cpu=str(n)) for n in range(20)]
    with stored(tmp_path) as made:
        made.load("a", *wide)
        made.load("b", *wide[5:], batch({T0 + 3: 7.0}, cpu="0"))
        made.settle()
        assert len(made.in_sql()) == 41
        assert made.con.execute("select count(*) from meta.sample_parts where is_live").fetchone() == (15,)


def test_blanks_of_dcgm_are_no_numbers_to_sql(tmp_path: Path) -> None:
    with stored(tmp_path) as made:
        blank = {T0: 55.0, T0 + 1: 9.223372036854776e18, T0 + 2: math.nan}
        made.load("f", batch(blank, "DCGM_FI_DEV_GPU_TEMP"), batch(blank, "m"))
        made.settle()
        assert sorted(value for *_, value in made.in_sql()) == [55.0, 55.0, 9.223372036854776e18]
        (samples,) = made.store.read("DCGM_FI_DEV_GPU_TEMP", T0, T0 + DAY).values()
        assert samples.values.tolist() == [55.0]
        assert len(made.raw("DCGM_FI_DEV_GPU_TEMP").popitem()[1]) == 3


def test_days_say_their_step_and_gaps(tmp_path: Path) -> None:
    with stored(tmp_path) as made:
        steady = {T0 + 30_000 * n: 1.0 for n in range(100) if not 40 <= n < 50}
        made.load("f", batch(steady | {T0 + 30_000 * 60: math.nan}))
        made.settle()
        rows = made.con.execute("select * exclude (series_id) from marts.series_days").fetchall()
        day, first = date(2024, 3, 1), datetime(2024, 3, 1, tzinfo=UTC)
        assert rows[0][:4] == ("m", day, 89, first)
        assert rows[0][5:] == (30_000, 1, 330_000)


def test_a_window_cuts_half_open_and_series_can_be_chosen(tmp_path: Path) -> None:
    with stored(tmp_path) as made:
        made.load("f", batch({T0: 1.0, T0 + 1: 2.0, T0 + DAY: 3.0}), batch({T0: 9.0}, operation="x"))
        chosen = [series_id for series_id, points in made.raw().items() if points[T0] == 1.0]
        read = made.store.read("m", T0 + 1, T0 + DAY, chosen)
        assert {key: samples.values.tolist() for key, samples in read.items()} == {chosen[0]: [2.0]}


def test_hostile_names_stay_in_the_folder_and_survive_sql(tmp_path: Path) -> None:
    with stored(tmp_path / "a [x], 'b' *") as made:
        made.load("f", batch({T0: 1.0}, "../../m'*[x]%2F"))
        made.settle()
        rows = made.con.execute("select metric, value from marts.samples").fetchall()
        assert rows == [("../../m'*[x]%2F", 1.0)]
        assert [path.parent.parent.name for path in (made.telemetry).glob("*/*")] == ["telemetry"]


def test_nothing_named_is_swept_and_leavings_wait_a_day(tmp_path: Path) -> None:
    with stored(tmp_path) as made:
        made.load("a", batch({T0: 1.0}))
        made.load("b", batch({T0: 2.0}, "n"))
        stray = made.telemetry / "metric=m/.writing-1-2"
        stray.write_bytes(b"x")
        assert sweep(made.con, made.telemetry) == [stray]
        made.forget("b")
        assert sweep(made.con, made.telemetry) == []
        made.con.execute("update meta.sample_leavings set left_at = left_at - interval 2 days")
        assert [path.parent.name for path in sweep(made.con, made.telemetry)] == ["metric=n"]
        made.settle()
        assert [value for *_, value in made.in_sql()] == [1.0]


def test_an_error_while_writing_reaches_the_reader_and_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "Error writing bytes to file")

    made = Stored(tmp_path)
    monkeypatch.setattr(parts, "_table", full)
    with pytest.raises(OSError, match="No space left on device; the warehouse is as it was") as raised:
        made.load("f", batch({T0: 1.0}))
    assert raised.value.filename == str(tmp_path / "telemetry/metric=m")
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == []
    made.con.close()


def test_an_empty_store_has_typed_views(tmp_path: Path) -> None:
    with stored(tmp_path) as made:
        made.settle()
        types = made.con.execute("select column_name, column_type from (describe marts.samples)").fetchall()
        assert dict(types)["at"] == "TIMESTAMP WITH TIME ZONE"
        before = types
        made.load("f", batch({T0: 1.0}))
        made.settle()
        assert made.con.execute("select column_name, column_type from (describe marts.samples)").fetchall() == before


def test_every_column_of_the_views_is_described_with_samples_and_without(tmp_path: Path) -> None:
    with stored(tmp_path) as made:
        for load in (False, True):
            if load:
                made.load("f", batch({T0: 1.0}))
            made.settle()
            told = dict(describe(made.con, "series_days").select("column", "description").iter_rows())
            assert str(told["step_ms"]).endswith("null where there is one sample. Unit: ms.")
            assert None not in [*told.values(), *describe(made.con, "samples")["description"]]


def test_folder_names_are_decoded_by_others() -> None:
    assert layout.metric_folder("a:b") == "metric=a%3Ab"
