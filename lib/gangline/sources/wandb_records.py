"""A `.wandb` log, record by record, into a run's row, its steps and its console lines."""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from gangline.estimates.wording import counted
from gangline.sources.files import InputFile
from gangline.sources.records import Batch, ReadLog, SourceRefusedError
from gangline.sources.wandb_console import ConsoleBuffer
from gangline.sources.wandb_facts import end_us, history_values, instant_us, learn_environment, learn_run, update_tree
from gangline.sources.wandb_log import Damage, LogRecords
from gangline.sources.wandb_messages import DecodeError, record_class
from gangline.sources.wandb_names import run_id_in
from gangline.sources.wandb_run import Run, RunState, exit_state, run_batch
from gangline.sources.wandb_steps import STEP, StepBuffer
from gangline.sources.wandb_values import instant

STREAMS = {0: "stderr", 1: "stdout"}
DAMAGE_MENDS = {
    "truncated": "usual after a crash, or in a copy of a live run; if the run has ended, copy its log again",
    "corrupt": "copy the log again from where it was written",
}


def read_log(file: InputFile, log: ReadLog) -> Iterator[Batch]:
    """Reads a log up to its end or its first damage, which is one reject; every row before the damage is kept."""
    taker = RecordTaker(file, log)
    with file.open() as stream:
        records = LogRecords(stream)
        if (fault := records.header_fault()) is not None:
            raise SourceRefusedError(f"{file.path}: {fault}")
        for number, data in enumerate(records, start=1):
            taker.take(number, data)
            yield from taker.batches()
    taker.finish(records.damage)
    yield from taker.batches(is_over=True)


@cache
def _record_class() -> Any:
    return record_class()


class RecordTaker:
    """Judges each record of one log, and at the end the log itself."""

    def __init__(self, file: InputFile, log: ReadLog) -> None:
        self.log = log
        self.run = Run(run_id_in(file.path), "file_name")
        self.steps = StepBuffer(log)
        self.console = ConsoleBuffer()
        self.number = 0
        self.exit: Any = None
        self.takers: dict[str, Callable[[Any], None]] = {
            "history": self._history,
            "summary": lambda message: update_tree(self.run.summary, message, self.decode),
            "config": lambda message: update_tree(self.run.config, message, self.decode),
            "run": lambda message: learn_run(self.run, message, self.decode),
            "exit": self._exit,
            "environment": lambda message: learn_environment(self.run, message, self.decode),
            "output_raw": self._output,
            "output": self._output,
            "output_logger": self._logger_output,
            "preempting": lambda _: self.run.learn(is_preempting=True),
            "header": lambda message: self.run.learn(writer_version=self.decode(message.version_info.producer)),
        }

    def decode(self, raw: bytes) -> str:
        """Text of the record in hand; bytes that are no UTF-8 are replaced and counted."""
        try:
            return raw.decode()
        except UnicodeDecodeError:
            self.log.odd("not_utf8", self.number)
            return raw.decode(errors="replace")

    def take(self, number: int, data: bytes) -> None:
        """Takes one record, by its kind; what cannot be decoded is rejected by its number."""
        self.log.split()
        self.number = number
        try:
            record = _record_class().FromString(data)
        except DecodeError:
            self.log.reject(number, f"record {number} has a good checksum but is no W&B message; it alone is left out")
            return
        kind = record.WhichOneof("alternatives")
        if kind == "stats":
            self.run.see(instant_us(record.stats.timestamp))
        if kind not in self.takers:
            self.log.ignore(f"{kind or 'unknown'}_record")
            return
        self.takers[kind](getattr(record, kind))
        self.log.load()

    def batches(self, is_over: bool = False) -> Iterator[Batch]:
        """What is due; at the end of the file also the run's own row, if the file holds any record."""
        yield from self.steps.batches(is_over)
        yield from self.console.batches(self.run, is_over)
        if is_over and self.number:
            yield run_batch([self.run], self.log)

    def finish(self, damage: Damage | None) -> None:
        """Judges how the log ends, and how the run did."""
        unread = damage.bytes_unread if damage else 0
        if damage and damage.kind == "zero_padded":
            self.log.odd("zero_padded_bytes", self.number, unread)
        elif damage:
            self.log.split()
            what = f"{damage.what} at byte {damage.at_byte}: {counted(unread, 'bytes')} unread"
            self.log.reject(self.number + 1, f"{what}; {DAMAGE_MENDS[damage.kind]}")
        if not self.number:
            self.log.odd("log_without_records")
        self.run.learn(bytes_unread=unread)
        self._judge_end(is_end_unread=damage is not None and damage.kind == "corrupt")

    def _judge_end(self, is_end_unread: bool) -> None:
        """Says the state by the exit record; without one the run may still be going, so it has no end."""
        run = self.run
        if self.exit is not None:
            code = self.exit.exit_code
            state = exit_state(code, run.facts.get("is_preempting") is True)
            run.learn(state=str(state), source_state=f"exit code {code}", end_evidence="exit_record", exit_code=code)
            run.learn(runtime_s=float(self.exit.runtime), ended_at=instant(end_us(run, self.exit.runtime)))
        elif is_end_unread:
            run.learn(state=str(RunState.UNKNOWN), source_state="unread", end_evidence="unread")
        else:
            run.learn(state=str(RunState.CRASHED), source_state="no exit record", end_evidence="no_exit_record")

    def _history(self, message: Any) -> None:
        row = dict(history_values(message, self.decode))
        if STEP not in row and message.HasField("step"):
            row[STEP] = message.step.num
        self.steps.add(self.run, self.number, row)

    def _exit(self, message: Any) -> None:
        # A paused process writes an exit record too, marked as not complete.
        self.exit = None if message.not_complete else message

    def _output(self, message: Any) -> None:
        at_us = instant_us(message.timestamp)
        self.run.see(at_us)
        stream = STREAMS.get(message.output_type, "log")
        self.console.add(stream, self.number, at_us, self.decode(message.line))

    def _logger_output(self, message: Any) -> None:
        self.console.add("log", self.number, None, self.decode(message.line) + "\n")
