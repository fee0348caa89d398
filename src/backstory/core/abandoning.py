"""Work that may hang in a file system runs in a thread that can be left behind: a call that hangs in the kernel
cannot be ended."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Generator, Iterator
from typing import Generic, TypeVar

T = TypeVar("T")

POLL_S = 0.05
MOST_ABANDONED = 8
"""Maximum number of hanging threads."""
abandoned: list[threading.Thread] = []


class Stalled(Exception):
    """A thread delivered nothing within the time limit."""


def watched(items: Iterator[T], stall_s: float, name: str) -> Generator[T, None, None]:
    """Iterate over items on another thread, which produces each on demand.

    Raises Stalled if an item takes longer than `stall_s`, and otherwise exceptions of the iterator."""
    asked: queue.SimpleQueue[bool] = queue.SimpleQueue()
    # Items are wrapped in a tuple, because an item may itself be None or an exception, which mark the end.
    handed: queue.SimpleQueue[tuple[T] | BaseException | None] = queue.SimpleQueue()

    def run() -> None:
        error: BaseException | None = None
        try:
            while asked.get():
                handed.put((next(items),))
        except StopIteration:
            pass
        except BaseException as raised:  # raised in the consumer's thread
            error = raised
        handed.put(error)

    threading.Thread(target=run, name=name, daemon=True).start()
    try:
        while True:
            asked.put(True)
            try:
                item = handed.get(timeout=stall_s)
            except queue.Empty:
                raise Stalled from None
            if item is None:
                return
            if isinstance(item, BaseException):
                raise item
            yield item[0]
    finally:
        asked.put(False)


class _Aside(Generic[T]):
    """Work on its own thread, and its result."""

    def __init__(self, work: Callable[[], T], name: str) -> None:
        self._work = work
        self._result: T | None = None
        self._error: BaseException | None = None
        self.thread = threading.Thread(target=self._run, name=name, daemon=True)

    def _run(self) -> None:
        try:
            self._result = self._work()
        except BaseException as error:  # raised in the caller's thread
            self._error = error

    def result(self) -> T:
        if self._error is not None:
            raise self._error
        result: T = self._result  # type: ignore[assignment]  # it is there unless an error is
        return result


def run_aside(
    work: Callable[[], T],
    name: str,
    give_up_s: float,
    *,
    between: Callable[[], None] = lambda: None,
    clock: Callable[[], float] = time.monotonic,
) -> T:
    """Run work on another thread and return its result.

    Raises Stalled if it takes longer than `give_up_s` or if too many threads hang already, and any exception of
    `between`, which is called repeatedly meanwhile. The thread is then abandoned."""
    abandoned[:] = [thread for thread in abandoned if thread.is_alive()]
    if len(abandoned) >= MOST_ABANDONED:
        raise Stalled
    aside, deadline = _Aside(work, name), clock() + give_up_s
    aside.thread.start()
    try:
        while aside.thread.is_alive():
            between()
            if clock() >= deadline:
                raise Stalled
            aside.thread.join(POLL_S)
    except BaseException:
        abandoned.append(aside.thread)
        raise
    return aside.result()
