"""Threads that run tool calls: started when needed, never in the way of leaving."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from threading import Condition, Lock, Thread, get_ident
from typing import Generic, NamedTuple, Protocol, TypeVar

from ..settings import Settings

AT_ONCE = 2
SLOW_S = 0.1
"""A call that takes longer does not prevent others from starting."""


def quick_at_once(settings: Settings) -> int | None:
    """The number of quick calls that run concurrently; None for no limit.

    Python runs one thread at a time, and reading SQLite rows switches threads at each row: eight concurrent calls
    take half as much CPU again as sequential ones. With a remote database each call waits, and others can run
    meanwhile."""
    return None if settings.database_url else AT_ONCE


class Sized(Protocol):
    @property
    def size(self) -> int:
        """Its memory use while it waits, in bytes."""


Call = TypeVar("Call", bound=Sized)


class WorkerFigures(NamedTuple):
    waiting: int
    """Calls in the queue."""
    busy: int
    """Threads that run a call."""


class Workers(Generic[Call]):
    """A queue of calls and up to `limit` threads. All methods except the threads' own must be called from one thread.

    At most `at_once` quick calls run concurrently; a call that turns out to be slow does not count.

    When more than `waiting_bytes` of calls wait, `submit` blocks: the client's pipe fills and it slows down, which
    loses nothing, whereas refusing would."""

    def __init__(
        self, limit: int, waiting_bytes: float, run: Callable[[Call], None], at_once: int | None = None
    ) -> None:
        self._limit = limit
        self._waiting_bytes = waiting_bytes
        self._run = run
        self._at_once = at_once or limit
        self._queue: deque[Call] = deque()
        self._queued_bytes = 0
        self._threads = 0
        self._idle = 0
        self._begun: dict[int, float] = {}  # start times of the calls that threads run
        self._is_watched = False  # whether one of the idle threads looks after the queue
        lock = Lock()
        self._arrived = Condition(lock)
        self._eased = Condition(lock)

    def submit(self, call: Call) -> None:
        with self._arrived:
            self._eased.wait_for(lambda: self._queued_bytes <= self._waiting_bytes)
            self._queue.append(call)
            self._queued_bytes += call.size
            if self._idle < len(self._queue) and self._threads < self._limit:
                self._threads += 1
                Thread(target=self._work, name=f"call-{self._threads}", daemon=True).start()
            self._wake()

    def figures(self) -> WorkerFigures:
        """The current load. Thread-safe."""
        with self._arrived:
            return WorkerFigures(len(self._queue), len(self._begun))

    def forget(self, call: Call) -> None:
        """A call that still waits will not run."""
        with self._arrived:
            if call in self._queue:
                self._queue.remove(call)
                self._queued_bytes -= call.size

    def wait(self, timeout_s: float) -> bool:
        """Wait for all calls. Returns False on a timeout."""
        with self._eased:
            return self._eased.wait_for(lambda: not self._queue and self._idle == self._threads, timeout_s)

    def _work(self) -> None:
        while True:
            with self._arrived:
                self._begun.pop(get_ident(), None)
                self._idle += 1
                self._eased.notify()
                self._wait_for_turn()
                self._idle -= 1
                self._begun[get_ident()] = time.monotonic()
                call = self._queue.popleft()
                self._queued_bytes -= call.size
                self._wake()
            self._run(call)
            del call  # an idle thread must not hold a request of many megabytes

    def _wait_for_turn(self) -> None:
        while not self._queue or self._is_busy():
            if not self._queue or self._is_watched:
                self._arrived.wait()
            else:
                self._is_watched = True
                self._arrived.wait(SLOW_S)
                self._is_watched = False

    def _is_busy(self) -> bool:
        slow = time.monotonic() - SLOW_S
        return sum(begun > slow for begun in self._begun.values()) >= self._at_once

    def _wake(self) -> None:
        """Wake a thread for the next call, or to make sure that it does not wait for ever."""
        if self._queue and (not self._is_watched or not self._is_busy()):
            self._arrived.notify()
