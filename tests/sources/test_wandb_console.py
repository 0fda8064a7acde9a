"""Console text of a log as lines."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from tests.sources.wandb_writer import (
    BASE_S,
    framed,
    output,
    read_bytes,
    rows,
    run,
)

BASE_AT = datetime.fromtimestamp(BASE_S, UTC)


def after(seconds: float) -> datetime:
    return BASE_AT + timedelta(seconds=seconds)


class TestConsole:
    def test_pieces_become_lines(self, tmp_path: Path) -> None:
        pieces = [output("step 1", BASE_S), output("oops\n", BASE_S + 1, 0), output(" ok\nstep 2\n\n", BASE_S + 2)]
        batches, _ = read_bytes(tmp_path, framed([run(), *pieces, output("no newline", BASE_S + 3)]))
        found = [
            (row["line"], row["stream"], row["text"], row["at"], row["ordinal"])
            for row in rows(batches, "console_records")
        ]
        assert found == [
            (3, "stderr", "oops", after(1), 1),
            (2, "stdout", "step 1 ok", after(0), 2),
            (4, "stdout", "step 2", after(2), 3),
            (5, "stdout", "no newline", after(3), 4),
        ]

    def test_of_a_progress_bar_the_last_text_counts(self, tmp_path: Path) -> None:
        bar = [output(f"\r{percent}%") for percent in (10, 50, 99)]
        batches, _ = read_bytes(tmp_path, framed([run(), *bar, output("\r100%\r\n")]))
        assert [row["text"] for row in rows(batches, "console_records")] == ["100%"]

    def test_a_line_without_end_is_cut(self, tmp_path: Path) -> None:
        batches, _ = read_bytes(tmp_path, framed([run(), *[output("x" * 3_000)] * 3]))
        assert [len(str(row["text"])) for row in rows(batches, "console_records")] == [4_000, 4_000, 1_000]
