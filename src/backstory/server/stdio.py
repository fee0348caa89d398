"""The server loop over standard input and output: read, dispatch, write, and exit in time.

The main thread reads and answers cheap requests; tools run on `Workers`. Only the protocol reaches the client: any
other output goes to standard error.
"""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Mapping
from threading import Lock, Thread, main_thread
from types import FrameType
from typing import TYPE_CHECKING

from ..core import Core
from ..front import Heard
from ..settings import Settings, variable
from ..tools import Surface
from ..worker import Worker
from . import wire
from .heap import share_heap
from .offer import Offer
from .rpc import Outcome, RpcPeer, Withdrawal
from .sessionlog import SessionLog
from .toolcall import PendingCall, Runner
from .workers import Workers, quick_at_once

if TYPE_CHECKING:
    from .hook_door import HookDoor

CHUNK_BYTES = 65_536
PARENT_POLL_S = 0.5
READY_AFTER_S = 1.0  # clients ask much when they have just connected

# A client waits about a second after closing our input, and half a second after a signal, before it kills the server.
GRACE_S = 0.7
SIGNAL_GRACE_S = 0.3
UNWIND_S = 0.1


class _Leave(BaseException):
    """A signal came while the main thread was serving."""


class StdioServer:
    def __init__(self, core: Core, surfaces: Mapping[str, Surface], settings: Settings) -> None:
        log = SessionLog(settings.home, settings.log_level, settings.logs_max_bytes)
        core.engine.problems.log = log.write
        self._offer = Offer(surfaces)
        self._conversation = RpcPeer(self._offer, log.set_level)
        self._core = core
        self._door: HookDoor | None = None
        self._has_begun = False
        self._readiness = Worker(
            "readiness",
            self._get_ready,
            core.engine.problems,
            first_rest_s=READY_AFTER_S,
            is_busy=lambda: core.engine.is_serving,
        )
        self._runner = runner = Runner(
            core, log, self._send, self._conversation.finish, lambda: self._is_leaving
        )
        self._limit_mb = settings.max_request_mb
        self._limit_bytes = int(self._limit_mb * 1024 * 1024)
        self._workers = Workers(settings.workers, 4 * self._limit_bytes, runner.run, quick_at_once(settings))
        self._writing = Lock()
        self._output = -1
        self._is_serving = False
        self._is_leaving = False

    def serve(self, heard: Heard | None = None) -> int:
        """Serve the client until it closes its end of the pipe, a signal arrives or our parent exits.

        `heard` are earlier messages."""
        share_heap()
        source, self._output = _claim_stdio()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._on_signal)
        alarm = _signal_alarm()
        if os.name == "posix":
            Thread(target=self._watch_parent, args=(os.getppid(),), name="parent", daemon=True).start()
        try:
            self._is_serving = True
            self._read(source, alarm, heard or Heard())
            self._is_serving = False  # inside the try: from here on a signal changes nothing
            grace_s = GRACE_S
        except _Leave:
            grace_s = SIGNAL_GRACE_S
        self._leave(grace_s)
        return 0

    @property
    def has_written(self) -> bool:
        """True if the client called a tool that may have changed the store."""
        return self._runner.has_written

    def tools_changed(self) -> None:
        """Notify the client that the list of tools changed."""
        for line in self._conversation.tools_changed():
            self._send(line)

    def _read(self, source: int, alarm: int, heard: Heard) -> None:
        if heard.greeting:
            # only for its state: the client already has its answer
            self._conversation.receive(heard.greeting)
        if heard.is_answered:
            self._begin_sync()
        lines = wire.Lines(self._limit_bytes)
        while chunk := heard.rest or _next_chunk(source, alarm):
            heard.rest = b""
            for line in lines.feed(chunk):
                self._take(line)
        for line in lines.rest():
            self._take(line)

    def _take(self, line: bytes | wire.TooLong) -> None:
        if isinstance(line, wire.TooLong):
            self._send(self._refusal(line))
            return
        for outcome in self._conversation.receive(line):
            self._do(outcome)

    def _do(self, outcome: Outcome) -> None:
        if isinstance(outcome, PendingCall):
            self._workers.submit(outcome)
        elif isinstance(outcome, Withdrawal):
            self._workers.forget(outcome.call)
        else:
            self._send(outcome)
            self._begin_sync()

    def _begin_sync(self) -> None:
        """Once, and not before something was answered: a client waits for `initialize`."""
        if not self._has_begun:
            self._has_begun = True
            self._core.engine.sync_soon()
            self._readiness.wake()

    def _get_ready(self) -> None:
        """Open the socket for hooks, import the search and load the model while the client is idle.

        Otherwise the first `recall` of a session waits 140 ms of CPU for it. If there is nothing to search, the
        model is not loaded."""
        from .hook_door import HookDoor  # with what hooks are answered from, 150 ms

        engine = self._core.engine
        if engine.settings.brief != "off" and self._door is None:
            self._door = HookDoor(self._core)
            self._door.open()
        if self._offer.find("recall") is not None:
            _ = self._core.lookup, self._core.failures, self._core.remembering
            self._core.ask.prepare()

    def _refusal(self, line: wire.TooLong) -> bytes:
        reason = f"Invalid request: larger than {self._limit_mb:g} MB, the limit that {variable('max_request_mb')} sets"
        return wire.refusal(line.id, wire.Refused(wire.INVALID_REQUEST, reason))

    def _send(self, line: bytes) -> None:
        rest = memoryview(line)
        try:
            with self._writing:
                while rest:
                    rest = rest[os.write(self._output, rest) :]
        except OSError:  # the client has closed its end
            self._interrupt()

    def _leave(self, grace_s: float) -> None:
        self._readiness.close()
        if self._door is not None:
            self._door.close()
        self._workers.wait(grace_s)
        self._is_leaving = True
        self._workers.wait(UNWIND_S)
        if ended := self._conversation.close():
            # on a thread of its own: a client that stopped reading must not keep us
            last = Thread(target=self._send, args=(b"".join(ended),), daemon=True)
            last.start()
            last.join(UNWIND_S)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if self._is_serving:
            self._is_serving = False
            raise _Leave

    def _interrupt(self) -> None:
        """Make the main thread exit even while it waits for input. Thread-safe."""
        if os.name == "posix":
            ident = main_thread().ident
            assert ident is not None
            signal.pthread_kill(ident, signal.SIGTERM)

    def _watch_parent(self, parent: int) -> None:
        while os.getppid() == parent:
            time.sleep(PARENT_POLL_S)
        self._interrupt()


def _claim_stdio() -> tuple[int, int]:
    """Private copies of standard input and output.

    The public ones become empty input and standard error, so that neither a library that prints nor a child process
    that reads can corrupt the protocol."""
    source, output = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    try:
        os.dup2(2, 1)
    except OSError:  # started without standard error
        os.dup2(nothing, 1)
    os.close(nothing)
    if os.name == "posix":
        os.set_blocking(source, True)
        os.set_blocking(output, True)
    return source, output


def _signal_alarm() -> int:
    """A pipe that becomes readable when a signal arrives: a signal just before a blocking read would otherwise be
    handled only after it. Windows cannot wait for pipes and does not have these signals."""
    alarm, trigger = os.pipe()
    if os.name == "posix":
        os.set_blocking(trigger, False)
        signal.set_wakeup_fd(trigger, warn_on_full_buffer=False)
    return alarm


def _next_chunk(source: int, alarm: int) -> bytes:
    """Some bytes of input; none at its end, or at a signal."""
    if os.name == "posix" and source not in select.select([source, alarm], [], [])[0]:
        return b""
    return os.read(source, CHUNK_BYTES)
