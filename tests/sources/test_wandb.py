"""The W&B source as the ingest sees it: which files are read, and real logs of two versions."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from gangline.sources import wandb
from tests.sources.wandb_writer import framed, only_run, read_path, rows, run

FINISHED = "wandb/wandb/offline-run-20261129_171750-h2finish01/run-h2finish01.wandb"
OLD_FINISHED = "wandb-0.15/offline-run-20261129_171933-oldfinish01/run-oldfinish01.wandb"
REAL = {
    FINISHED: ("finished", 0, 60, 0),
    "wandb/wandb/offline-run-20261129_171802-h2crash01/run-h2crash01.wandb": ("failed", 1, 25, 0),
    "wandb/wandb/offline-run-20261129_171808-h2kill01/run-h2kill01.wandb": ("crashed", None, 44, 0),
    "wandb/derived/run-truncated_tail.wandb": ("crashed", None, 59, 405),
    "wandb/derived/run-bitflip_at_20000.wandb": ("unknown", None, 19, 39_599),
    OLD_FINISHED: ("finished", 0, 40, 0),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A wandb folder: two runs, the link to the latest, a mark of a sync, and what else lies around."""
    home = tmp_path / "wandb"
    for stamp, run_id in (("20260301_101500", "k3x"), ("20260301_111500", "k4y")):
        place = home / f"offline-run-{stamp}-{run_id}"
        (place / "files").mkdir(parents=True)
        (place / f"run-{run_id}.wandb").write_bytes(framed([run(run_id)]))
        (place / "files" / "output.log").write_text("step 0\n")
    (home / "offline-run-20260301_101500-k3x" / "run-k3x.wandb.synced").touch()
    (home / "latest-run").symlink_to("offline-run-20260301_111500-k4y")
    (home / "debug.log").symlink_to("offline-run-20260301_111500-k4y/files/output.log")
    return home


class TestFiles:
    def test_a_wandb_folder_gives_each_log_once(self, folder: Path) -> None:
        assert [path.relative_to(folder).as_posix() for path in wandb.files(folder)] == [
            "offline-run-20260301_101500-k3x/run-k3x.wandb",
            "offline-run-20260301_111500-k4y/run-k4y.wandb",
        ]

    def test_all_that_a_glob_finds_gives_each_log_once(self, folder: Path) -> None:
        found = {path for match in folder.glob("*") for path in wandb.files(match)}
        found |= {path for match in folder.glob("*/*") for path in wandb.files(match)}
        assert len([path for path in found if path.name.endswith(".wandb")]) == 2

    def test_the_latest_runs_log_is_the_linked_one(self, folder: Path) -> None:
        target = folder / "offline-run-20260301_111500-k4y" / "run-k4y.wandb"
        assert wandb.files(folder / "latest-run") == [target]
        assert wandb.files(folder / "latest-run" / "run-k4y.wandb") == [target]

    def test_marks_of_a_sync_are_left_out(self, folder: Path) -> None:
        place = folder / "offline-run-20260301_101500-k3x"
        assert wandb.files(place / "run-k3x.wandb.synced") == []
        assert wandb.files(place) == [place / "run-k3x.wandb"]

    def test_an_export_is_itself(self, tmp_path: Path) -> None:
        (tmp_path / "history.csv").touch()
        assert wandb.files(tmp_path / "history.csv") == [tmp_path / "history.csv"]


class TestReal:
    @pytest.mark.parametrize("name", list(REAL))
    def test_logs(self, shared_data: Path, name: str) -> None:
        found = only_run(read_path(shared_data / "real" / name)[0])
        state, exit_code, history_rows, bytes_unread = REAL[name]
        assert (found["state"], found.get("exit_code"), found["history_rows"]) == (state, exit_code, history_rows)
        assert found["bytes_unread"] == bytes_unread
        assert (found["project"], found["run_group"], found["tags"][:2]) == (  # type: ignore[index]
            "llm-pretrain",
            "llama-70b-exp1",
            ["h100", "bf16"],
        )

    def test_rows_of_a_killed_run_end_where_it_logged_last(self, shared_data: Path) -> None:
        name = "wandb/wandb/offline-run-20261129_171808-h2kill01/run-h2kill01.wandb"
        batches, log = read_path(shared_data / "real" / name)
        losses = [row for row in rows(batches, "run_step_records") if row["metric"] == "train/loss"]
        assert [row["step"] for row in losses] == list(range(0, 440, 10))
        assert sum(row["value_kind"] == "nan" for row in losses) == 1
        assert [row["text"] for row in rows(batches, "console_records")][-1] == "step 440 loss 5.5107"
        assert log.first_at == datetime(2026, 11, 29, 17, 18, 8, 954295, tzinfo=UTC)

    def test_both_versions_name_the_same_metrics(self, shared_data: Path) -> None:
        new, old = (read_path(shared_data / "real" / name)[0] for name in (FINISHED, OLD_FINISHED))
        assert {row["metric"] for row in rows(new, "run_step_records")} == {
            row["metric"] for row in rows(old, "run_step_records")
        }

    def test_an_export_says_what_the_log_says(self, shared_data: Path) -> None:
        names = ("wandb/exports/wandb-history_finish.jsonl", FINISHED)
        exported, logged = (rows(read_path(shared_data / "real" / name)[0], "run_step_records") for name in names)
        wanted = ("step", "at", "metric", "value", "value_kind", "text")
        pick = lambda found: sorted(str([row.get(name) for name in wanted]) for row in found)  # noqa: E731
        assert pick(exported) == pick(logged)

    def test_pandas_csv(self, shared_data: Path) -> None:
        batches, log = read_path(shared_data / "real/wandb/exports/history_crash_pandas_with_index.csv")
        assert (log.records, log.rejected, only_run(batches)["last_step"]) == (25, 0, 240)
