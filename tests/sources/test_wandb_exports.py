"""W&B exports in JSON and Parquet: bare NaN, runs of the API in its several shapes, rows that are said to exist."""

import contextlib
import json
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gangline.sources.records import SourceRefusedError
from tests.sources.wandb_writer import only_run, read_bytes, read_path, rows, steps

API_RUN = {
    "id": "UnVuOnYxOms4eA==",
    "name": "k3x",
    "displayName": "llama-70b",
    "state": "crashed",
    "group": "exp1",
    "jobType": "train",
    "createdAt": "2026-03-01T10:00:00",
    "heartbeatAt": "2026-03-01T12:30:00Z",
    "tags": ["h100"],
    "user": {"name": "Kim", "username": "kim"},
    "config": '{"lr": {"value": 0.1, "desc": null}, "job": "77"}',
    "summaryMetrics": '{"_step": 90, "_runtime": 8900.5, "loss": NaN}',
    "historyLineCount": 91,
}


class TestHistoryLines:
    def test_bare_nan_in_line_101_of_201(self, tmp_path: Path) -> None:
        lines = [f'{{"_step": {step}, "loss": {"NaN" if step == 100 else 1.5}}}\n' for step in range(201)]
        batches, log = read_bytes(tmp_path, "".join(lines).encode(), "history.jsonl")
        assert (log.records, log.loaded, len(steps(batches))) == (201, 201, 201)
        assert steps(batches)[100] == (100, "loss", None, "nan")

    def test_a_broken_line_costs_only_itself(self, tmp_path: Path) -> None:
        text = b'{"_step": 0, "loss": 1}\n{"_step": 1, "lo\n{"_step": 2, "loss": 3}\n{"_step": 3, "lo'
        batches, log = read_bytes(tmp_path, text, "history.jsonl")
        assert [row[0] for row in steps(batches)] == [0, 2]
        assert [reject.line for reject in log.rejects] == [2, 4]

    def test_lines_that_are_no_history_are_rejected(self, tmp_path: Path) -> None:
        batches, log = read_bytes(tmp_path, b'{"_step": 0, "loss": 1}\n{"loss": 2}\n3\n', "history.jsonl")
        assert [(reject.line, reject.text) for reject in log.rejects] == [(2, "{'loss': 2}"), (3, "3")]
        assert len(steps(batches)) == 1

    def test_the_folder_of_an_old_run_names_it(self, tmp_path: Path) -> None:
        name = "run-20200301_101500-k3x/wandb-history.jsonl"
        assert only_run(read_bytes(tmp_path, b'{"_step": 0, "loss": 1}\n', name)[0])["run_id"] == "k3x"

    def test_an_array_of_rows(self, tmp_path: Path) -> None:
        batches, _ = read_bytes(tmp_path, b'[{"_step": 0, "loss": 1}, {"_step": 1, "loss": null}]', "h.json")
        assert steps(batches) == [(0, "loss", 1.0, "number"), (1, "loss", None, "null")]


class TestApiRuns:
    def test_a_run_of_the_graphql_api(self, tmp_path: Path) -> None:
        found = only_run(read_bytes(tmp_path, json.dumps(API_RUN).encode(), "run.json")[0])
        assert (found["run_id"], found["display_name"], found["owner"]) == ("k3x", "llama-70b", "kim")
        assert (found["run_group"], found["job_type"], found["tags"]) == ("exp1", "train", ["h100"])
        assert (found["state"], found["end_evidence"]) == ("crashed", "source_state")
        assert found["config"] == '{"lr": 0.1, "job": "77"}'
        assert found["summary"] == '{"_step": 90, "_runtime": 8900.5, "loss": "NaN"}'
        assert (found["started_at"], found["ended_at"]) == (
            datetime(2026, 3, 1, 10, tzinfo=UTC),
            datetime(2026, 3, 1, 12, 30, tzinfo=UTC),
        )
        assert (found["expected_rows"], found["last_step"], found["runtime_s"]) == (91, 90, 8900.5)

    def test_a_run_of_the_python_api(self, tmp_path: Path) -> None:
        run = {"id": "k3x", "name": "llama-70b", "state": "running", "heartbeat_at": "2026-03-01T12:30:00.123456789Z"}
        found = only_run(read_bytes(tmp_path, json.dumps(run).encode(), "run.json")[0])
        assert (found["run_id"], found["display_name"], found["state"]) == ("k3x", "llama-70b", "running")
        assert found["latest_at"] == datetime(2026, 3, 1, 12, 30, 0, 123456, tzinfo=UTC)
        assert "ended_at" not in found

    @pytest.mark.parametrize(
        "shape",
        [
            [API_RUN, {**API_RUN, "name": "k4"}],
            {"runs": [API_RUN, {**API_RUN, "name": "k4"}]},
            {"data": {"project": {"runs": {"edges": [{"node": API_RUN}, {"node": {**API_RUN, "name": "k4"}}]}}}},
        ],
    )
    def test_shapes_of_a_page(self, tmp_path: Path, shape: object) -> None:
        batches, log = read_bytes(tmp_path, json.dumps(shape, indent=1).encode(), "runs.json")
        assert [row["run_id"] for row in rows(batches, "run_records")] == ["k3x", "k4"]
        assert (log.records, log.loaded) == (2, 2)

    def test_history_within_a_run_with_fewer_rows_than_counted(self, tmp_path: Path) -> None:
        run = {**API_RUN, "history": [{"_step": 0, "loss": 1}, "odd"]}
        batches, log = read_bytes(tmp_path, json.dumps(run).encode(), "run.json")
        assert steps(batches) == [(0, "loss", 1.0, "number")]
        assert only_run(batches)["is_sampled"] is True
        assert log.oddities == {"history_row_no_object": (1, 1)}

    def test_times_that_cannot_be(self, tmp_path: Path) -> None:
        ends = {"createdAt": "2026-03-01T12:00:00Z", "heartbeatAt": "2026-03-01T11:00:00Z"}
        far = {"createdAt": "0001-01-01T00:00:00", "heartbeatAt": "9999-12-31T23:59:59.999999-12:00"}
        runs = [{**API_RUN, **times, "name": name} for name, times in (("ends", ends), ("far", far))]
        runs += [{**API_RUN, **ends, "heartbeatAt": None, "summaryMetrics": '{"_runtime": 1e300}', "name": "long"}]
        batches, log = read_bytes(tmp_path, json.dumps(runs).encode(), "runs.json")
        found = {row["run_id"]: (row.get("started_at"), row.get("ended_at")) for row in rows(batches, "run_records")}
        noon = datetime(2026, 3, 1, 12, tzinfo=UTC)
        assert found == {"ends": (noon, None), "far": (None, None), "long": (noon, None)}
        assert log.oddities == {"run_end_before_start": (1, 1)}

    def test_a_metric_may_be_called_node(self, tmp_path: Path) -> None:
        text = '{"_step": 1, "node": 3}\n{"_step": 2, "node": "gpu001"}\n{"_step": 3, "node": {"_step": 9}}\n'
        batches, log = read_bytes(tmp_path, text.encode(), "history.jsonl")
        assert [step[:2] for step in steps(batches)] == [(1, "node"), (2, "node"), (3, "node._step")]
        assert (log.records, log.loaded) == (3, 3)

    def test_an_empty_history_of_a_run_with_steps_is_missing_not_no_progress(self, tmp_path: Path) -> None:
        run = {"name": "k3x", "displayName": "x", "state": "running", "lastHistoryStep": 61_010, "history": []}
        batches, log = read_bytes(tmp_path, json.dumps(run).encode(), "run.json")
        assert log.oddities == {"history_missing": (1, 1)}
        assert (only_run(batches)["is_sampled"], only_run(batches)["last_step"]) == (True, 61_010)

    @pytest.mark.parametrize(
        ("word", "state"),
        [("finished", "finished"), ("FAILED", "failed"), ("killed", "killed"), ("preempting", "running")],
    )
    def test_states(self, tmp_path: Path, word: str, state: str) -> None:
        run = {"name": "k3x", "displayName": "x", "state": word}
        assert only_run(read_bytes(tmp_path, json.dumps(run).encode(), "run.json")[0])["state"] == state


NAMES = ("history.jsonl", "history.csv", "runs.json", "table.csv", "panel.csv")
SEEDS = (
    b'{"_step": 0, "loss": 1.5}\n{"_step": 1, "loss": NaN, "deep": {"a": [1]}}\n',
    b',_step,loss,text\n0,1,2.5,"a, b"\n1,2,nan,\n',
    json.dumps([API_RUN, {**API_RUN, "history": [{"_step": 1}]}]).encode(),
    b'Name,State,Tags,Created,Runtime,lr\nllama,finished,"a,b",2026-03-01T10:00:00Z,90,0.1\n',
    b'"Step","a - loss","a - loss__MIN"\n"1","2","2"\n',
)


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from(list(zip(NAMES, SEEDS, strict=True))),
    st.integers(min_value=0),
    st.binary(max_size=6),
    st.booleans(),
)
def test_damaged_exports_are_read_or_refused_and_balance(
    tmp_path_factory: pytest.TempPathFactory, seed: tuple[str, bytes], place: int, added: bytes, is_cut: bool
) -> None:
    name, data = seed
    at = place % len(data)
    rest = b"" if is_cut else data[at + len(added) :]
    with contextlib.suppress(SourceRefusedError):
        batches, log = read_bytes(tmp_path_factory.getbasetemp(), data[:at] + added + rest, name)
        assert log.loaded <= log.records
        assert len({row["run_id"] for row in rows(batches, "run_records")}) == len(rows(batches, "run_records"))


@pytest.mark.parametrize("depth", [50, 900, 100_000])
def test_nesting_without_end(tmp_path: Path, depth: int) -> None:
    nested = '{"a":' * depth + "1" + "}" * depth
    text = f'{{"_step": 0, "loss": 1}}\n{{"_step": 1, "deep": {nested}}}\n{"[" * depth}{"]" * depth}\n'
    batches, log = read_bytes(tmp_path, text.encode(), "history.jsonl")
    assert steps(batches)[0] == (0, "loss", 1.0, "number")
    assert log.records == 3


class TestParquet:
    def test_nan_and_absent_are_told_apart(self, tmp_path: Path) -> None:
        path = tmp_path / "run-k3x-history:v0" / "0000.parquet"
        path.parent.mkdir()
        frame = pl.DataFrame({"_step": [0, 1, 2], "loss": [1.5, float("nan"), None], "_timestamp": [1.78e9] * 3})
        frame.write_parquet(path)
        batches, log = read_path(path)
        assert steps(batches) == [(0, "loss", 1.5, "number"), (1, "loss", None, "nan")]
        assert (only_run(batches)["run_id"], only_run(batches)["history_rows"]) == ("k3x", 3)
        assert (log.records, log.loaded) == (3, 3)

    def test_typed_timestamps(self, tmp_path: Path) -> None:
        at = datetime(2026, 3, 1, tzinfo=UTC)
        pl.DataFrame({"_step": [0], "_timestamp": [at], "loss": [1.0]}).write_parquet(tmp_path / "h.parquet")
        assert rows(read_path(tmp_path / "h.parquet")[0], "run_step_records")[0]["at"] == at

    def test_damaged_and_other_files_are_refused(self, tmp_path: Path) -> None:
        path = tmp_path / "h.parquet"
        pl.DataFrame({"_step": [0], "loss": [1.0]}).write_parquet(path)
        with pytest.raises(SourceRefusedError, match=r"cut\.parquet: no readable Parquet"):
            read_bytes(tmp_path, path.read_bytes()[:-9], "cut.parquet")
        pl.DataFrame({"node": ["a"]}).write_parquet(path)
        with pytest.raises(SourceRefusedError, match=r"h\.parquet: no W&B history: it has no column _step"):
            read_path(path)
