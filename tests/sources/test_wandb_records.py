"""W&B logs as a whole: facts of the run, how it ended, and nothing lost where a record is odd."""

import gzip
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gangline.sources.records import SourceRefusedError
from tests.sources.wandb_writer import (
    BASE_S,
    exit_record,
    field,
    framed,
    history,
    item,
    items,
    only_run,
    output,
    read_bytes,
    record,
    rows,
    run,
    steps,
    timestamp,
    varint,
)

BASE_AT = datetime.fromtimestamp(BASE_S, UTC)


def after(seconds: float) -> datetime:
    return BASE_AT + timedelta(seconds=seconds)


class TestRun:
    def test_facts_of_a_run_record(self, tmp_path: Path) -> None:
        data = framed([run(config={"slurm_job_id": "4242", "lr": 3e-4}, starting_step=61_010, resumed=True)])
        found = only_run(read_bytes(tmp_path, data)[0])
        assert (found["run_id"], found["run_id_evidence"]) == ("k3x", "log")
        assert (found["entity"], found["project"], found["display_name"]) == ("lab", "llm", "llama")
        assert (found["started_at"], found["starting_step"], found["is_resumed"]) == (BASE_AT, 61_010, True)
        assert json.loads(str(found["config"])) == {"slurm_job_id": "4242", "lr": 3e-4}

    def test_environment_records_are_merged(self, tmp_path: Path) -> None:
        first = field(3, timestamp(BASE_S - 2)) + field(5, "--job=77") + field(6, "train.py") + field(12, "gpu062")
        slurm = field(27, field(1, "job_id") + field(2, "77"))
        second = field(5, "https://me:secret@host/x") + slurm + field(199, "writer-1")
        found = only_run(read_bytes(tmp_path, framed([run(), record(26, first), record(26, second)]))[0])
        assert (found["host"], found["writer_id"], found["process_started_at"]) == ("gpu062", "writer-1", after(-2))
        assert json.loads(str(found["metadata"])) == {
            "program": "train.py",
            "args": ["https://***@host/x"],
            "slurm": {"job_id": "77"},
        }

    def test_config_and_summary_updates(self, tmp_path: Path) -> None:
        late = record(5, items({"late": 1, "_wandb": {"t": 1}}))
        removal = record(5, field(2, field(1, "gone") + field(16, "null")))
        lowest = record(3, item(("loss", "min"), "NaN") + item("_step", "9"))
        data = framed([run(config={"gone": 2, "none": None}), late, removal, lowest])
        found = only_run(read_bytes(tmp_path, data)[0])
        assert json.loads(str(found["config"])) == {"none": None, "late": 1}
        assert json.loads(str(found["summary"])) == {"loss": {"min": "NaN"}, "_step": 9}

    def test_a_run_record_that_is_lost_leaves_the_files_name(self, tmp_path: Path) -> None:
        found = only_run(read_bytes(tmp_path, framed([history(0, BASE_S, loss=1.0)]))[0])
        assert (found["run_id"], found["run_id_evidence"]) == ("k3x", "file_name")

    def test_rows_before_the_run_record_get_its_id(self, tmp_path: Path) -> None:
        batches, _ = read_bytes(tmp_path, framed([history(0, BASE_S, loss=1.0), run("other")]))
        assert rows(batches, "run_step_records")[0]["run_id"] == "other"


class TestEnds:
    """Offline logs in W&B's online words."""

    @pytest.mark.parametrize(("code", "state"), [(0, "finished"), (1, "failed"), (255, "failed"), (-9, "failed")])
    def test_exit_codes(self, tmp_path: Path, code: int, state: str) -> None:
        found = only_run(read_bytes(tmp_path, framed([run(), history(0, BASE_S + 5), exit_record(code, 60)]))[0])
        assert (found["state"], found["exit_code"], found["end_evidence"]) == (state, code, "exit_record")
        assert (found["ended_at"], found["latest_at"]) == (after(60), after(5))

    def test_last_message_after_the_whole_seconds_of_the_runtime_is_the_end(self, tmp_path: Path) -> None:
        found = only_run(read_bytes(tmp_path, framed([run(), output("done\n", BASE_S + 60.25), exit_record(0, 60)]))[0])
        assert found["ended_at"] == after(60.25)

    def test_runtime_of_a_resumed_run_says_nothing_of_its_end(self, tmp_path: Path) -> None:
        data = framed([run(resumed=True), history(9, BASE_S + 5), exit_record(0, 90_000)])
        assert only_run(read_bytes(tmp_path, data)[0])["ended_at"] == after(5)

    def test_no_exit_record_is_crashed_and_has_no_end(self, tmp_path: Path) -> None:
        found = only_run(read_bytes(tmp_path, framed([run(), history(0, BASE_S + 5)]))[0])
        assert (found["state"], found["source_state"]) == ("crashed", "no exit record")
        assert found["end_evidence"] == "no_exit_record"
        assert "ended_at" not in found
        assert found["latest_at"] == after(5)

    def test_an_exit_record_of_a_pause_is_no_end(self, tmp_path: Path) -> None:
        pause = record(18, field(2, 60) + field(3, 1))
        assert only_run(read_bytes(tmp_path, framed([run(), pause]))[0])["end_evidence"] == "no_exit_record"

    def test_preempting_and_then_failed_is_preempted(self, tmp_path: Path) -> None:
        assert (
            only_run(read_bytes(tmp_path, framed([run(), record(23, b""), exit_record(1)]))[0])["state"] == "preempted"
        )
        assert (
            only_run(read_bytes(tmp_path, framed([run(), record(23, b""), exit_record(0)]))[0])["state"] == "finished"
        )


class TestAccounting:
    def test_records_of_other_kinds_are_ignored_by_name(self, tmp_path: Path) -> None:
        others = [record(number, b"") for number in (6, 7, 8, 11, 12, 20, 22)] + [field(1, 3), record(77, b"")]
        _, log = read_bytes(tmp_path, framed([run(), *others]))
        assert (log.records, log.loaded, log.rejected) == (10, 1, 0)
        assert log.ignored["unknown_record"] == 2
        assert log.ignored["stats_record"] == 1

    def test_a_record_that_is_no_message_is_rejected_alone(self, tmp_path: Path) -> None:
        broken = varint(2 << 3 | 2) + varint(99) + b"short"
        batches, log = read_bytes(tmp_path, framed([run(), broken, history(1, BASE_S, loss=2.0)]))
        assert [(reject.line, reject.reason) for reject in log.rejects] == [
            (2, "record 2 has a good checksum but is no W&B message; it alone is left out")
        ]
        assert steps(batches) == [(1, "loss", 2.0, "number")]

    def test_truncated_log_says_how_much_was_left(self, tmp_path: Path) -> None:
        kept = [run(), history(0, BASE_S, loss=1.0)]
        data, place = framed([*kept, history(1, BASE_S, loss=2.0)])[:-5], len(framed(kept))
        left = len(data) - place
        batches, log = read_bytes(tmp_path, data)
        assert steps(batches) == [(0, "loss", 1.0, "number")]
        assert [(reject.line, reject.reason) for reject in log.rejects] == [
            (
                3,
                f"the log ends inside a record at byte {place}: {left} bytes unread; usual after a crash, or in a copy "
                "of a live run; if the run has ended, copy its log again",
            )
        ]
        assert (only_run(batches)["state"], only_run(batches)["bytes_unread"]) == ("crashed", left)

    def test_a_corrupt_log_does_not_say_how_the_run_ended(self, tmp_path: Path) -> None:
        data = bytearray(framed([run(), history(0, BASE_S, loss=1.0), exit_record(0)]))
        data[-1] ^= 1
        found = only_run(read_bytes(tmp_path, bytes(data))[0])
        assert (found["state"], found["end_evidence"]) == ("unknown", "unread")

    def test_zero_padding_is_an_oddity_of_so_many_bytes(self, tmp_path: Path) -> None:
        batches, log = read_bytes(tmp_path, framed([run(), exit_record(0)]) + bytes(5_000))
        assert (log.rejected, log.oddities) == (0, {"zero_padded_bytes": (5_000, 2)})
        assert (only_run(batches)["state"], only_run(batches)["bytes_unread"]) == ("finished", 5_000)

    @pytest.mark.parametrize("data", [b"", b":W&B\xe1\xbe\x00"])
    def test_a_log_without_records_makes_no_run(self, tmp_path: Path, data: bytes) -> None:
        batches, log = read_bytes(tmp_path, data)
        assert batches == []
        assert log.oddities == {"log_without_records": (1, None)}

    def test_another_file_is_refused_with_the_mend(self, tmp_path: Path) -> None:
        with pytest.raises(SourceRefusedError, match=r"run-k3x\.wandb: no W&B log .*: copy it again"):
            read_bytes(tmp_path, b"step,loss\n1,2\n")

    def test_compressed_log_cut_short_gives_what_it_holds(self, tmp_path: Path) -> None:
        data = framed([run(), *(history(step, BASE_S, loss=1 / (step + 1)) for step in range(2_000))])
        packed = gzip.compress(data)
        batches, log = read_bytes(tmp_path, packed[: len(packed) // 2], "run-k3x.wandb.gz")
        assert 100 < len(steps(batches)) < 1_900
        assert log.rejected == 1

    def test_span_of_the_file(self, tmp_path: Path) -> None:
        _, log = read_bytes(tmp_path, framed([run(), history(0, BASE_S + 5), output("x\n", BASE_S + 9)]))
        assert (log.first_at, log.latest_at) == (BASE_AT, after(9))


WHOLE = [run(), *(history(step, BASE_S + step, loss=1 / (step + 1)) for step in range(40)), exit_record(0)]


@settings(max_examples=120, deadline=None)
@given(st.integers(min_value=0), st.integers(0, 255), st.booleans())
def test_damage_never_makes_up_rows(
    tmp_path_factory: pytest.TempPathFactory, place: int, mask: int, is_cut: bool
) -> None:
    whole = framed(WHOLE)
    folder = tmp_path_factory.getbasetemp()
    data = bytearray(whole)
    data[place % len(whole)] ^= mask
    try:
        batches, log = read_bytes(folder, bytes(data[: place % len(whole)] if is_cut else data))
    except SourceRefusedError:
        assert place % len(whole) < 7
        return
    everything = [(step, "loss", 1 / (step + 1), "number") for step in range(40)]
    assert steps(batches) == everything[: len(steps(batches))]
    assert is_cut or mask == 0 or log.rejected == 1


@settings(max_examples=120, deadline=None)
@given(st.integers(2, 30), st.binary(max_size=60))
def test_any_bytes_behind_a_good_checksum(tmp_path_factory: pytest.TempPathFactory, number: int, body: bytes) -> None:
    data = framed([run(), record(number, body), history(1, BASE_S, loss=2.0)])
    batches, log = read_bytes(tmp_path_factory.getbasetemp(), data)
    assert (1, "loss", 2.0, "number") in steps(batches)
    assert log.records == 3
