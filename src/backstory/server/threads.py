"""Threads for work of the event loop that may wait for a disk or a database."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from typing import Any, Generic, TypeVar

from .workers import WorkerFigures, Workers

T = TypeVar("T")

PING_S = 15.0
"""Interval of keep-alive messages on a silent stream: proxies close idle ones."""
_PING = b": ping\r\n\r\n"


class Job(Generic[T]):
    def __init__(self, work: Callable[[], T], size: int) -> None:
        self.size = size
        self.result: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._work = work

    def run(self) -> None:
        try:
            result = self._work()
        except BaseException as error:  # after any error, because a caller waits
            self._tell(self.result.set_exception, error)
        else:
            self._tell(self.result.set_result, result)

    def _tell(self, settle: Callable[[Any], None], outcome: object) -> None:
        def tell() -> None:
            if not self.result.done():  # cancelled: its client left, or the server's time is over
                settle(outcome)

        call_soon(self.result.get_loop(), tell)


class Threads:
    """Up to `limit` threads, started on demand. Work that has begun is finished, even if its caller has gone."""

    def __init__(self, limit: int, at_once: int | None = None) -> None:
        self._workers: Workers[Job[Any]] = Workers(limit, math.inf, Job.run, at_once)

    def start(self, work: Callable[[], T], size: int = 0) -> asyncio.Future[T]:
        # in the context of the request, so that spans of the thread belong to its trace
        job = Job(partial(copy_context().run, work), size)
        self._workers.submit(job)
        return job.result

    def figures(self) -> WorkerFigures:
        return self._workers.figures()


class OutgoingLines:
    """Lines that a thread sends before its result."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._queue: asyncio.Queue[bytes | None] = asyncio.Queue()

    def send(self, line: bytes) -> None:
        """Send a line. Thread-safe."""
        call_soon(self._loop, self._queue.put_nowait, line)

    async def events(self, answer: asyncio.Future[bytes]) -> AsyncIterator[bytes]:
        """All lines as server-sent events, and the answer as the last."""
        answer.add_done_callback(lambda _: self._queue.put_nowait(None))
        while True:
            try:
                line = await asyncio.wait_for(self._queue.get(), PING_S)
            except TimeoutError:
                yield _PING
                continue
            if line is None:
                break
            yield event(line)
        yield event(answer.result())


def event(line: bytes) -> bytes:
    return b"event: message\r\ndata: %s\r\n\r\n" % line.rstrip()


def call_soon(loop: asyncio.AbstractEventLoop, function: Callable[..., None], *arguments: object) -> None:
    with suppress(RuntimeError):  # the loop is closed: the caller has gone
        loop.call_soon_threadsafe(function, *arguments)
