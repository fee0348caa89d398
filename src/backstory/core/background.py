"""Sync and retention while a server runs: on a thread of their own, behind every call, in one process at a time.

Nothing here may be slow to import or to make: a server that has just answered `initialize` does both.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..domain.errors import BackstoryError
from .calls import Call, Cancelled

if TYPE_CHECKING:
    from ..readers import Places
    from .engine import Engine
    from .sync import Sync, Told

START_AFTER_S = 1.0  # a client asks for much at once when it has just connected
LEAST_REST_S = 2.0  # however often it is nudged
LONGEST_YIELD_S = 0.5  # for calls that run, between two pieces
YIELD_S = 0.01
PATIENCE_S = 10.0  # how long a call waits for another process that is reading
SWITCH_S = 0.001  # a thread that waits for Python gets it after this, instead of 5 ms


class Background:
    """The thread starts with the first `wake`. What it cannot do now it tries again after a rest."""

    def __init__(self, engine: Engine, places: Callable[[], Places]) -> None:
        self._engine = engine
        self._places = places
        self._sync: Sync | None = None
        self._running = threading.Lock()
        self._changed = threading.Condition()
        self._is_wanted = False
        self._is_closing = False
        self._is_urgent = False
        self._thread: threading.Thread | None = None
        self.problem: str | None = None
        """Why nothing is read at the moment."""

    def wake(self) -> None:
        """Something may be new: look soon."""
        with self._changed:
            self._is_wanted = True
            if self._thread is None and not self._is_closing:
                self._thread = threading.Thread(target=self._work, name="sync", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def run_now(self, call: Call) -> dict[str, Told] | None:
        """Sync before going on; None when another process was at it for too long. Raises what stops a sync."""
        self._is_urgent = True
        try:
            return self._run(call, PATIENCE_S)
        finally:
            self._is_urgent = False

    def close(self) -> None:
        """Returns when the background has stopped, after the piece it is at."""
        with self._changed:
            self._is_closing = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join()

    def _work(self) -> None:
        self._rest(START_AFTER_S)
        while not self._is_closing:
            self._run_once()
            self._rest(LEAST_REST_S)
            with self._changed:
                self._changed.wait_for(
                    lambda: self._is_wanted or self._is_closing, self._engine.settings.sync_interval_s
                )
                self._is_wanted = False

    def _rest(self, seconds: float) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._is_closing, seconds)

    def _run_once(self) -> None:
        before = sys.getswitchinterval()
        sys.setswitchinterval(SWITCH_S)
        call = Call(is_cancelled=self._yield)
        try:
            self._archive(call)  # first: it makes room
            self._run(call, 0.0)
            self.problem = None
        except BackstoryError as error:
            self.problem = error.message
        except Cancelled:
            pass  # it is closing
        finally:
            sys.setswitchinterval(before)

    def _archive(self, call: Call) -> None:
        if self._engine.settings.retention_days is not None:
            from .retention import Retention

            Retention(self._engine).archive_daily(call)

    def _run(self, call: Call, patience_s: float) -> dict[str, Told] | None:
        from ..readers import load_readers
        from .sync import Sync

        if not self._engine.settings.reads_histories:
            return {}
        with self._running:
            self._sync = self._sync or Sync(self._engine)
            readers = load_readers(self._engine.settings.histories).values()
            return self._sync.run(readers, self._places(), call=call, patience_s=patience_s)

    def _yield(self) -> bool:
        """Between pieces: calls go first, for a while. Whether to stop."""
        deadline = time.monotonic() + LONGEST_YIELD_S
        while self._engine.is_serving and not self._is_urgent and time.monotonic() < deadline:
            self._rest(YIELD_S)
            if self._is_closing:
                break
        return self._is_closing
