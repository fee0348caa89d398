"""Waiting for foreign files no longer than is good: what reads them runs in a thread that can be left behind."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")


class Stalled(Exception):
    """Nothing came for too long. The thread is left to itself: a call that hangs in the kernel cannot be ended."""


class _Item(NamedTuple, Generic[T]):
    value: T


class _End(NamedTuple):
    error: BaseException | None


def watched(items: Iterator[T], stall_s: float, name: str) -> Generator[T, None, None]:
    """The same items, from a thread. Raises Stalled when none came for so long, and else what the iterator raises."""
    handed: queue.Queue[_Item[T] | _End] = queue.Queue(maxsize=1)
    left = threading.Event()

    def hand(item: _Item[T] | _End) -> None:
        while not left.is_set():
            try:
                handed.put(item, timeout=1.0)
                return
            except queue.Full:
                continue  # whoever takes them is busy, or has left

    def run() -> None:
        error: BaseException | None = None
        try:
            for item in items:
                if left.is_set():
                    break
                hand(_Item(item))
        except BaseException as raised:  # it is raised where the items are taken
            error = raised
        hand(_End(error))

    threading.Thread(target=run, name=name, daemon=True).start()
    try:
        while True:
            try:
                item = handed.get(timeout=stall_s)
            except queue.Empty:
                raise Stalled from None
            if isinstance(item, _End):
                if item.error is not None:
                    raise item.error
                return
            yield item.value
    finally:
        left.set()


def within(stall_s: float, name: str, function: Callable[[], T]) -> T:
    """What the function returns. Raises Stalled when it takes longer."""

    def once() -> Iterator[T]:
        yield function()

    with closing(watched(once(), stall_s, name)) as items:
        return next(items)
