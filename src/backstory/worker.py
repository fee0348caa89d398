"""A thread for background work. It survives exceptions of its work, and pauses longer after each."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable

from .problems import Problems

FIRST_BACKOFF_S = 1.0
LONGEST_BACKOFF_S = 300.0
LONGEST_FIRST_WAIT_S = 5.0  # for callers, before the first run
LOOK_AGAIN_S = 0.01


def backoff_s(failures: int) -> float:
    """The pause after this many failures in a row."""
    return min(FIRST_BACKOFF_S * 2.0 ** min(failures - 1, 30), LONGEST_BACKOFF_S)


def is_busy() -> bool:
    """True if more processes want to run than there are processors. Always False on Windows."""
    return sys.platform != "win32" and os.getloadavg()[0] > (os.cpu_count() or 1)


class Worker:
    """A background thread, started by the first `wake` and restarted by the next one if it died.

    `work` returns the seconds until its next run, or None to wait for `wake`. An exception is a problem until the
    next success, except while closing. The first run begins `first_rest_s` after the first `wake`, and later while `is_busy`:
    its imports would take from a caller as much CPU as the call itself."""

    def __init__(
        self,
        name: str,
        work: Callable[[], float | None],
        problems: Problems,
        *,
        first_rest_s: float = 0.0,
        least_rest_s: float = 0.0,
        is_busy: Callable[[], bool] = lambda: False,
        backoff_s: Callable[[int], float] = backoff_s,
    ) -> None:
        self.name = name
        self._work = work
        self._problems = problems
        self._first_rest_s = first_rest_s
        self._least_rest_s = least_rest_s
        self._is_busy = is_busy
        self._backoff_s = backoff_s
        self._changed = threading.Condition()
        self._is_wanted = False
        self._thread: threading.Thread | None = None
        self.is_closing = False

    def wake(self) -> None:
        """Run the work soon, though not before a pause is over."""
        with self._changed:
            self._is_wanted = True
            if not self.is_closing and (self._thread is None or not self._thread.is_alive()):
                self._thread = threading.Thread(target=self._run, name=self.name, daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def close(self) -> None:
        """Returns when the thread has stopped, after the piece it is at."""
        with self._changed:
            self.is_closing = True
            self._changed.notify_all()
        if self._thread is not None and self._thread.is_alive():  # a signal may have come before it started
            self._thread.join()

    def rest(self, seconds: float) -> None:
        """Pause, or return early when closing."""
        with self._changed:
            self._changed.wait_for(lambda: self.is_closing, seconds)

    def _let_callers_finish(self) -> None:
        deadline = time.monotonic() + LONGEST_FIRST_WAIT_S
        while self._is_busy() and not self.is_closing and time.monotonic() < deadline:
            self.rest(LOOK_AGAIN_S)

    def _run(self) -> None:
        failures = 0
        self.rest(self._first_rest_s)
        self._let_callers_finish()
        while not self.is_closing:
            self._is_wanted = False
            try:
                nap_s = self._work()
            except BaseException as error:  # also a library's sys.exit()
                if self.is_closing:
                    return
                failures += 1
                self._problems.failed(self.name, error)
                self.rest(self._backoff_s(failures))
                continue
            failures = 0
            self._problems.succeeded(self.name)
            self.rest(self._least_rest_s)
            with self._changed:
                self._changed.wait_for(lambda: self._is_wanted or self.is_closing, nap_s)
