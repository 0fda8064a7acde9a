"""W&B's CSV files: histories, the runs table, panels; and what tells them apart."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from gangline.sources.records import SourceRefusedError
from tests.sources.wandb_writer import only_run, read_bytes, rows, steps

SAMPLED = "".join(f"{step * 7},{step * 7},0.5\n" for step in range(500))


def read_text(folder: Path, text: str, name: str = "run-k3x-history.csv", **options: str):  # type: ignore[no-untyped-def]
    return read_bytes(folder, text.encode(), name, **options)


class TestHistory:
    def test_pandas_index_is_no_metric_and_empty_is_absent(self, tmp_path: Path) -> None:
        text = ",_step,train/loss,_timestamp,_runtime,text\n0,10,2.5,1780000000.5,1.25,\n1,20,,1780000001,2,한글\n"
        batches, log = read_text(tmp_path, text)
        assert steps(batches) == [(10, "train/loss", 2.5, "number"), (20, "text", None, "text")]
        assert rows(batches, "run_step_records")[0] == {
            "line": 2,
            "run_id": "k3x",
            "step": 10,
            "at": datetime.fromtimestamp(1_780_000_000.5, UTC),
            "runtime_s": 1.25,
            "metric": "train/loss",
            "value": 2.5,
            "value_kind": "number",
        }
        assert (log.records, log.loaded) == (2, 2)

    def test_cells_that_are_no_finite_number(self, tmp_path: Path) -> None:
        batches, _ = read_text(tmp_path, "_step,a,b,c,d,e\n1,inf,-inf,nan,True,20260301_1015\n")
        kinds = [row[1:] for row in steps(batches)]
        assert kinds == [
            ("a", None, "infinity"),
            ("b", None, "minus_infinity"),
            ("c", None, "nan"),
            ("d", 1.0, "bool"),
            ("e", None, "text"),
        ]

    def test_default_sample_of_500_rows_is_flagged(self, tmp_path: Path) -> None:
        batches, _ = read_text(tmp_path, ",_step,loss\n" + SAMPLED)
        assert (only_run(batches)["history_rows"], only_run(batches)["is_sampled"]) == (500, True)

    def test_500_steps_without_a_gap_are_no_sample(self, tmp_path: Path) -> None:
        batches, _ = read_text(tmp_path, "_step,loss\n" + "".join(f"{step},1\n" for step in range(500)))
        assert only_run(batches)["is_sampled"] is False

    def test_501_rows_are_no_default_sample(self, tmp_path: Path) -> None:
        batches, _ = read_text(tmp_path, ",_step,loss\n" + SAMPLED + "500,9000,1\n")
        assert only_run(batches)["is_sampled"] is False

    def test_runs_in_one_file_by_their_column(self, tmp_path: Path) -> None:
        batches, _ = read_text(tmp_path, "Step,run_id,loss\n1,aa,1\n1,bb,2\n2,aa,3\n", "all.csv")
        assert [(row["run_id"], row["step"]) for row in rows(batches, "run_step_records")] == [
            ("aa", 1),
            ("bb", 1),
            ("aa", 2),
        ]
        found = [(row["run_id"], row["run_id_evidence"], row["history_rows"]) for row in rows(batches, "run_records")]
        assert found == [("aa", "column", 2), ("bb", "column", 1)]

    def test_ragged_rows_are_rejected_by_line(self, tmp_path: Path) -> None:
        batches, log = read_text(tmp_path, "_step,loss\n1,2\n3\n4,5\n")
        assert [row[0] for row in steps(batches)] == [1, 4]
        assert [reject.line for reject in log.rejects] == [3]

    def test_delimiter_of_the_entry(self, tmp_path: Path) -> None:
        assert steps(read_text(tmp_path, "_step;loss\n1;2\n", delimiter=";")[0]) == [(1, "loss", 2.0, "number")]

    def test_header_alone_is_an_empty_export(self, tmp_path: Path) -> None:
        batches, log = read_text(tmp_path, "_step,loss\n")
        assert (batches, log.oddities) == ([], {"empty_export": (1, None)})


class TestRunsTable:
    TEXT = (
        'State,Name,Tags,Created,Runtime,User,lr,_step,ID\nFinished,llama,"h100, bf16",2026-03-01T10:00:00.000Z,90,kim,'
        "0.1,400,k3x\nzombie,other,,2026-03-01 19:00:00,,,,,\n"
    )

    def test_columns_are_found_by_name(self, tmp_path: Path) -> None:
        batches, _ = read_text(tmp_path, self.TEXT, "table.csv")
        found = rows(batches, "run_records")[0]
        assert (found["run_id"], found["display_name"], found["owner"]) == ("k3x", "llama", "kim")
        assert (found["state"], found["source_state"], found["end_evidence"]) == (
            "finished",
            "Finished",
            "source_state",
        )
        assert found["tags"] == ["h100", "bf16"]
        assert (found["config"], found["summary"]) == ('{"lr": 0.1}', '{"_step": 400}')
        assert (found["started_at"], found["ended_at"]) == (
            datetime(2026, 3, 1, 10, tzinfo=UTC),
            datetime(2026, 3, 1, 10, 1, 30, tzinfo=UTC),
        )
        assert (found["last_step"], found["history_rows"]) == (400, 0)

    @pytest.mark.parametrize(
        ("created", "runtime", "odd"),
        [
            ("2026-03-01T10:00:00Z", "-90", {"run_end_before_start": (1, 2)}),
            ("2026-03-01T10:00:00Z", "1e300", {}),
            ("2026-03-01T10:00:00Z", "1e308", {}),
            ("9999-12-31T23:59:59-14:00", "10", {}),
            ("0001-01-01T00:00:00+14:00", "10", {}),
        ],
    )
    def test_times_that_cannot_be(
        self, tmp_path: Path, created: str, runtime: str, odd: dict[str, tuple[int, int]]
    ) -> None:
        batches, log = read_text(tmp_path, f"Name,State,Created,Runtime\na,finished,{created},{runtime}\n", "t.csv")
        assert "ended_at" not in only_run(batches)
        assert ("started_at" in only_run(batches)) is created.startswith("2026")
        assert log.oddities == odd

    def test_a_line_without_name_and_id_is_no_run(self, tmp_path: Path) -> None:
        batches, log = read_text(tmp_path, "Name,State,ID\n,,\n,running,k3x\n", "table.csv")
        assert only_run(batches)["run_id"] == "k3x"
        assert [(reject.line, reject.reason.partition(":")[0]) for reject in log.rejects] == [
            (2, "a run without a name and an id")
        ]

    def test_state_not_known_and_name_instead_of_id_and_local_time(self, tmp_path: Path) -> None:
        batches, log = read_text(tmp_path, self.TEXT, "table.csv", time_zone="Asia/Seoul")
        found = rows(batches, "run_records")[1]
        assert (found["run_id"], found["run_id_evidence"], found["state"]) == ("other", "display_name", "unknown")
        assert found["started_at"] == datetime(2026, 3, 1, 10, tzinfo=UTC)
        assert log.oddities == {"unknown_state": (1, 3)}


class TestPanel:
    HEADER = '"Step","a - b - train/loss","a - b - train/loss__MIN","a - b - train/loss__MAX","c - train/loss"\n'

    def test_curves_by_run_name(self, tmp_path: Path) -> None:
        batches, log = read_text(tmp_path, self.HEADER + '"10","2.5","2","3",""\n"20","","","","4"\n', "panel.csv")
        found = [(row["run_id"], row["step"], row["metric"], row["value"]) for row in rows(batches, "run_step_records")]
        assert found == [("a - b", 10, "train/loss", 2.5), ("c", 20, "train/loss", 4.0)]
        assert [(row["run_id_evidence"], row["is_sampled"]) for row in rows(batches, "run_records")] == [
            ("display_name", True)
        ] * 2
        assert log.loaded == 2

    def test_wall_time_in_seconds_and_milliseconds(self, tmp_path: Path) -> None:
        text = "Wall Time,c - loss\n1780000000.5,1\n1780000001500,2\n"
        batches, _ = read_text(tmp_path, text, "panel.csv")
        assert [row["at"].timestamp() for row in rows(batches, "run_step_records")] == [
            1_780_000_000.5,
            1_780_000_001.5,
        ]  # type: ignore[attr-defined]

    def test_relative_time(self, tmp_path: Path) -> None:
        batches, _ = read_text(tmp_path, "Relative Time (Process),c - loss\n12.5,1\n", "panel.csv")
        assert rows(batches, "run_step_records")[0]["runtime_s"] == 12.5


@pytest.mark.parametrize("text", ["", "a,b\n1,2\n", 'Name,"x\n', "Name,Owner\nx,y\n"])
def test_other_tables_are_refused_with_what_is_expected(tmp_path: Path, text: str) -> None:
    with pytest.raises(SourceRefusedError, match=r"other\.csv:1: no W&B table: .*expected a history \(_step\)"):
        read_text(tmp_path, text, "other.csv")
