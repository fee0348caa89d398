"""Threads that run tool calls: started when needed, never in the way of leaving."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from threading import Condition, Lock, Thread
from typing import Generic, Protocol, TypeVar


class Sized(Protocol):
    @property
    def size(self) -> int:
        """Bytes that it holds while it waits."""


Call = TypeVar("Call", bound=Sized)


class Workers(Generic[Call]):
    """A queue of calls and up to `limit` threads. All methods but the threads' own belong to one thread.

    When more than `waiting_bytes` of calls wait, `submit` does too: the client's pipe fills and it slows
    down, which loses nothing, where refusing would.
    """

    def __init__(self, limit: int, waiting_bytes: float, run: Callable[[Call], None]) -> None:
        self._limit = limit
        self._waiting_bytes = waiting_bytes
        self._run = run
        self._queue: deque[Call] = deque()
        self._queued_bytes = 0
        self._threads = 0
        self._idle = 0
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
            self._arrived.notify()

    def forget(self, call: Call) -> None:
        """A call that still waits will not run."""
        with self._arrived:
            if call in self._queue:
                self._queue.remove(call)
                self._queued_bytes -= call.size

    def wait(self, timeout_s: float) -> bool:
        """Whether all calls were done in time."""
        with self._eased:
            return self._eased.wait_for(lambda: not self._queue and self._idle == self._threads, timeout_s)

    def _work(self) -> None:
        while True:
            with self._arrived:
                self._idle += 1
                self._eased.notify()
                while not self._queue:
                    self._arrived.wait()
                self._idle -= 1
                call = self._queue.popleft()
                self._queued_bytes -= call.size
            self._run(call)
            del call  # an idle thread must not hold a request of many megabytes
