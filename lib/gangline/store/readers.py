"""Shares filled by this process and a second one, each taking the next as it is free; results in order."""

import os
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from itertools import count
from typing import Self

from gangline.sources.metering import Meter
from gangline.store.filling import Filled, fill
from gangline.store.second_reader import SecondReader, SecondReaderLostError
from gangline.store.shares import Share

HELPED_MIN_BYTES = 64 << 20  # of text, below which a second process costs more than it brings
Work = tuple[int, Share]


def is_worth_a_helper(text_bytes: int) -> bool:
    """True where there is a second core that may be used, and enough to read."""
    return text_bytes >= HELPED_MIN_BYTES and _cores() > 1


def fill_all(
    shares: Iterator[Share], is_helped: bool, meter: Meter = lambda done, total: None
) -> Iterator[tuple[Share, Filled]]:
    """Yields each share with what it came to, in the order of the shares.

    They are fetched one at a time, and taken by whoever is free. A second process that is lost costs its share's time:
    this one reads it again.
    """
    if not is_helped:
        yield from _Line(shares, meter)
        return
    with closing(SecondReader()) as helper, closing(_Ahead(shares)) as ahead:
        line = _Line(ahead, meter)
        feeder = threading.Thread(target=line.feed, args=(helper,), daemon=True)
        feeder.start()
        try:
            yield from line
        finally:
            line.close()


class _Ahead:
    """The next share is made ready, hashed or unpacked, while those before it are read, so that nobody waits for it."""

    def __init__(self, shares: Iterator[Share]) -> None:
        self._shares = shares
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="shares")
        self._next = self._ready()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Share:
        if (share := self._next.result()) is None:
            raise StopIteration
        self._next = self._ready()
        return share

    def close(self) -> None:
        """Frees what a share holds that nobody took."""
        self._pool.shutdown()
        if self._next.exception() is None and (share := self._next.result()) is not None:
            share.let_go()

    def _ready(self) -> "Future[Share | None]":
        return self._pool.submit(next, self._shares, None)


class _Line:
    """The shares that wait, those at work and what came of those before them."""

    def __init__(self, shares: Iterator[Share], meter: Meter) -> None:
        self._shares, self._meter = enumerate(shares), meter
        self._taking = threading.Lock()
        self._changed = threading.Condition()
        self._done: dict[int, tuple[Share, Filled]] = {}
        self._again: list[Work] = []
        self._at_work: dict[int, Share] = {}
        self._wanted = 0
        self._failure: BaseException | None = None

    def __iter__(self) -> Iterator[tuple[Share, Filled]]:
        for self._wanted in count():
            while self._wanted not in self._done:
                if (work := self._take()) is not None:
                    self._put(work, fill(work[1], self._meter_of(work)))
                elif not self._wait():
                    return
            yield self._done.pop(self._wanted)

    def feed(self, helper: SecondReader) -> None:
        """Hands shares to the second process until none is left; for a thread of its own."""
        try:
            while (work := self._take()) is not None:
                self._put(work, helper.fill(work[1], self._meter_of(work)))
        except SecondReaderLostError:
            self._give_back(work)
        except BaseException as error:  # noqa: BLE001 - raised again by the thread that iterates
            self._fail(error)

    def close(self) -> None:
        """Frees what shares hold that nobody will finish."""
        with self._taking:
            self._failure = self._failure or GeneratorExit()
        for share in list(self._at_work.values()):  # the other thread may put its own back meanwhile
            share.let_go()
        self._at_work.clear()

    def _take(self) -> Work | None:
        with self._taking:
            if self._again:
                return self._again.pop()
            work = next(self._shares, None) if self._failure is None else None
            if work is not None:
                self._at_work[work[0]] = work[1]
            return work

    def _put(self, work: Work, filled: Filled) -> None:
        number, share = work
        with self._changed:
            self._at_work.pop(number).let_go()
            self._done[number] = share, filled
            self._changed.notify_all()

    def _wait(self) -> bool:
        """Waits for the other process; false where nothing is at work any more."""
        with self._changed:
            while self._failure is None and not self._again and self._wanted not in self._done and self._at_work:
                self._changed.wait()
            if self._failure is not None:
                raise self._failure
            return bool(self._again) or self._wanted in self._done

    def _give_back(self, work: Work | None) -> None:
        with self._changed:
            if work is not None:
                self._again.append(work)
            self._changed.notify_all()

    def _fail(self, error: BaseException) -> None:
        with self._changed:
            self._failure = error
            self._changed.notify_all()

    def _meter_of(self, work: Work) -> Meter:
        def meter(done: int, total: int) -> None:
            if work[0] == self._wanted:
                self._meter(done, total)

        return meter


def _cores() -> int:
    """Cores that this process may use, or fewer where GANGLINE_THREADS says so."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    asked = os.environ.get("GANGLINE_THREADS", "")
    return min(allowed, int(asked)) if asked.isdigit() else allowed
