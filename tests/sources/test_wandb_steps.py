"""History rows of a log: values told apart, keys of both layouts, steps taken twice, odd values."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from gangline.sources import wandb_steps
from tests.sources.wandb_writer import (
    BASE_S,
    field,
    framed,
    history,
    item,
    only_run,
    read_bytes,
    record,
    rows,
    run,
    steps,
)

BASE_AT = datetime.fromtimestamp(BASE_S, UTC)


def after(seconds: float) -> datetime:
    return BASE_AT + timedelta(seconds=seconds)


class TestSteps:
    def test_nan_infinities_null_text_and_absent_are_told_apart(self, tmp_path: Path) -> None:
        values = {"a": 1.5, "b": "NaN", "c": None, "d": "stage 2", "e": True, "f": "-Infinity", "g": 3}
        bare = record(2, item("x", "NaN") + item("y", "Infinity") + item("z", "-Infinity") + item("_step", "1"))
        batches, _ = read_bytes(tmp_path, framed([run(), history(0, BASE_S, **values), bare]))
        assert steps(batches) == [
            (0, "a", 1.5, "number"),
            (0, "b", None, "nan"),
            (0, "c", None, "null"),
            (0, "d", None, "text"),
            (0, "e", 1.0, "bool"),
            (0, "f", None, "minus_infinity"),
            (0, "g", 3.0, "number"),
            (1, "x", None, "nan"),
            (1, "y", None, "infinity"),
            (1, "z", None, "minus_infinity"),
        ]
        assert rows(batches, "run_step_records")[3]["text"] == "stage 2"

    def test_typed_values_of_newer_schemas(self, tmp_path: Path) -> None:
        typed = {
            "i": field(5, 2 * 7 - 1),
            "n": field(6, 2.5),
            "t": field(7, "hi"),
            "j": field(8, "[1]"),
            "o": field(3, 0),
        }
        body = b"".join(field(1, field(1, key) + value) for key, value in typed.items())
        batches, log = read_bytes(tmp_path, framed([run(), record(2, body + field(2, field(1, 5)))]))
        assert steps(batches) == [
            (5, "i", -7.0, "number"),
            (5, "n", 2.5, "number"),
            (5, "t", None, "text"),
            (5, "o", None, "null"),
        ]
        assert log.oddities == {"list_value": (1, 2)}

    def test_nested_keys_of_both_layouts_are_one(self, tmp_path: Path) -> None:
        new = record(2, item(("eval", "by", "en"), "8") + item("_step", "0"))
        old = history(1, None, eval={"by": {"en": 9}})
        assert steps(read_bytes(tmp_path, framed([run(), new, old]))[0]) == [
            (0, "eval.by.en", 8.0, "number"),
            (1, "eval.by.en", 9.0, "number"),
        ]

    def test_media_of_both_layouts_are_counted_and_left_out(self, tmp_path: Path) -> None:
        new = record(
            2, item(("hist", "values"), "[1]") + item(("hist", "n"), "3") + item(("hist", "_type"), '"histogram"')
        )
        old = history(1, None, hist={"_type": "histogram", "values": [1], "n": 3}, history_len=4)
        batches, log = read_bytes(tmp_path, framed([run(), new, old]))
        assert steps(batches) == [(1, "history_len", 4.0, "number")]
        assert log.oddities == {"media_value": (2, 2), "no_step": (1, 2)}

    def test_step_of_the_message_where_the_row_has_none(self, tmp_path: Path) -> None:
        rest = [record(2, item("loss", "1.0") + field(2, b"")), record(2, item("loss", "2.0") + field(2, field(1, 9)))]
        assert [row[0] for row in steps(read_bytes(tmp_path, framed([run(), *rest]))[0])] == [0, 9]

    def test_steps_that_were_taken_twice_stay_with_their_times(self, tmp_path: Path) -> None:
        data = framed([run(), *(history(step, BASE_S + at, loss=1.0) for at, step in enumerate((1, 2, 3, 2, 3, 4)))])
        batches, _ = read_bytes(tmp_path, data)
        found = [(row["step"], row["at"]) for row in rows(batches, "run_step_records")]
        assert found == [(1, after(0)), (2, after(1)), (3, after(2)), (2, after(3)), (3, after(4)), (4, after(5))]
        assert only_run(batches)["last_step"] == 4

    def test_broken_values_and_odd_places_cost_only_themselves(self, tmp_path: Path) -> None:
        odd = item("deep", "[" * 100_000) + item("cut", '{"a": ') + item("loss", "2.5") + item("_timestamp", "12")
        batches, log = read_bytes(tmp_path, framed([run(), record(2, odd + item("_step", "1e300"))]))
        assert [row[1:] for row in steps(batches)] == [
            ("deep", None, "unreadable"),
            ("cut", None, "unreadable"),
            ("loss", 2.5, "number"),
        ]
        assert log.oddities == {"unreadable_value": (2, 2), "bad_step": (1, 2), "bad_timestamp": (1, 2)}

    def test_numbers_that_no_float_holds(self, tmp_path: Path) -> None:
        huge = item("a", "1e999") + item("b", "9" * 400) + item("c", "9" * 5_000) + item("d", "1_000")
        batches, _ = read_bytes(tmp_path, framed([run(), record(2, huge)]))
        assert [row[3] for row in steps(batches)] == ["infinity", "infinity", "unreadable", "unreadable"]

    def test_text_that_is_no_utf8(self, tmp_path: Path) -> None:
        body = field(1, field(1, b"lo\xffss") + field(16, '"\\ud800 x"'))
        batches, log = read_bytes(tmp_path, framed([run(), record(2, body)]))
        assert rows(batches, "run_step_records")[0]["metric"] == "lo\ufffdss"
        assert rows(batches, "run_step_records")[0]["text"] == "\ufffd x"
        assert log.oddities["not_utf8"] == (1, 2)

    def test_batches_are_bounded(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(wandb_steps, "BATCH_ROWS", 100)
        batches, _ = read_bytes(tmp_path, framed([run(), *(history(step, BASE_S, a=1, b=2) for step in range(250))]))
        assert [len(batch.frame) for batch in batches if batch.table == "run_step_records"] == [100] * 5
