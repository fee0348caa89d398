"""Sync, retention, backups, briefs and the end of forgetting while a server runs: on threads of their own, behind every call, in one
process at a time.

Nothing here may be slow to import or to make: a server that has just answered `initialize` does both.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..worker import Worker
from .calls import Call, Cancelled

if TYPE_CHECKING:
    from ..readers import Places
    from .brief.files import Briefs
    from .engine import Engine
    from .sync import Sync, SyncReport

SYNC, RETENTION, ERASURE, BACKUPS, BRIEFS = "sync", "retention", "erasure", "backups", "briefs"
START_AFTER_S = 1.0  # a client asks for much at once when it has just connected
LEAST_REST_S = 2.0  # however often it is nudged
LONGEST_YIELD_S = 0.5  # for calls that run, between two pieces
YIELD_S = 0.01
PATIENCE_S = 10.0  # how long a call waits for another process that is reading
LONGEST_WAIT_S = 45.0  # and for this one: clients give up after a minute
FIRST_S = 5.0  # how long a call reads where nobody has read anything yet
PAUSE_S = 5.0  # without a sync: what another assistant said meanwhile is read before the next answer
RECENT_S = 0.3  # and how long that may take
ASK_AGAIN_S = 0.1
CHECK_RETENTION_S = CHECK_RESIDUE_S = CHECK_BACKUPS_S = 3600.0
SWITCH_S = 0.001  # a thread that waits for Python gets it after this, instead of 5 ms


class Background:
    def __init__(self, engine: Engine, places: Callable[[], Places]) -> None:
        self._engine = engine
        self._places = places
        self._sync: Sync | None = None
        self._briefs: Briefs | None = None
        self._running = threading.Lock()
        self._is_urgent = False
        self._reading_first = threading.Lock()
        self._is_first: bool | None = None
        self._first: dict[str, SyncReport] | None = None
        self._synced_at: float | None = None
        settings, problems = engine.settings, engine.problems
        chores = {
            RETENTION: (self._archive, settings.retention_days is not None),  # first: it makes room
            SYNC: (self._sync_once, settings.reads_histories),
            ERASURE: (self._overwrite, True),
            BACKUPS: (self._back_up, engine.makes_backups),
            BRIEFS: (self._render_briefs, settings.brief != "off"),
        }
        self._workers = {
            name: Worker(name, work, problems, first_rest_s=START_AFTER_S, least_rest_s=LEAST_REST_S)
            for name, (work, is_wanted) in chores.items()
            if is_wanted
        }

    def wake(self) -> None:
        for worker in self._workers.values():
            worker.wake()

    def close(self) -> None:
        for worker in self._workers.values():
            worker.close()

    def run_now(self, call: Call) -> dict[str, SyncReport] | None:
        """Sync before going on; None when somebody else was at it for too long. Raises what stops a sync."""
        self._is_urgent = True
        try:
            return self._run(call, PATIENCE_S)
        finally:
            self._is_urgent = False

    def is_first(self) -> bool:
        """Whether there are histories to read and nobody has yet: not this process, and none before it into this store."""
        if self._is_first is None:
            self._is_first = SYNC in self._workers and not self._engine.store.sync.count_sources()
        return self._is_first

    def run_first(self, call: Call) -> dict[str, SyncReport] | None:
        """Sync before going on, for a while and once: whoever asks meanwhile waits for it. None when that was too short;
        the rest is for the background."""
        deadline = time.monotonic() + FIRST_S
        with self._reading_first:
            if self._is_first:
                try:
                    self._first = self.run_now(
                        call._replace(
                            is_cancelled=lambda: call.is_cancelled() or time.monotonic() >= deadline
                        )
                    )
                except Cancelled:
                    call.raise_if_cancelled()
                finally:
                    self._is_first = False
            return self._first

    def run_recent(self, call: Call) -> None:
        """After a pause, read what changed before going on, for a moment; the rest is for the background. Raises Cancelled
        only when the caller cancels."""
        now = time.monotonic()
        if SYNC not in self._workers or (self._synced_at is not None and now - self._synced_at < PAUSE_S):
            return
        deadline = now + RECENT_S
        try:
            self.run_now(
                call._replace(is_cancelled=lambda: call.is_cancelled() or time.monotonic() >= deadline)
            )
        except Cancelled:
            call.raise_if_cancelled()

    def _sync_once(self) -> float:
        before = sys.getswitchinterval()
        sys.setswitchinterval(SWITCH_S)
        try:
            self._run(self._call(SYNC), 0.0)
        finally:
            sys.setswitchinterval(before)
        if briefing := self._workers.get(BRIEFS):
            briefing.wake()  # with what was just read
        return self._engine.settings.sync_interval_s

    def _overwrite(self) -> float:
        """What was forgotten, here or by a process that was killed; what cannot be brought back any more is forgotten first."""
        from .forgetting import erase_expired

        erase_expired(self._engine)
        self._engine.store.residue.overwrite()
        return CHECK_RESIDUE_S

    def _archive(self) -> float:
        from .forgetting.retention import Retention

        Retention(self._engine).archive_daily(self._call(RETENTION))
        return CHECK_RETENTION_S

    def _back_up(self) -> float:
        from .backups import Backups

        Backups(self._engine).make_daily()
        return CHECK_BACKUPS_S

    def _render_briefs(self) -> float:
        from .brief.files import Briefs

        self._briefs = self._briefs or Briefs(self._engine)
        self._briefs.refresh(self._call(BRIEFS))
        return self._engine.settings.sync_interval_s

    def _run(self, call: Call, patience_s: float) -> dict[str, SyncReport] | None:
        from ..readers import load_readers
        from .sync import Sync

        if not self._engine.settings.reads_histories:
            return {}
        if not self._is_our_turn(call):
            return None
        try:
            self.is_first()  # while it can still be told
            self._sync = self._sync or Sync(self._engine)
            readers = load_readers(self._engine.settings.histories).values()
            outcome = self._sync.run(readers, self._places(), call=call, patience_s=patience_s)
            if outcome is not None:
                self._is_first, self._first = False, outcome
                self._synced_at = time.monotonic()
            return outcome
        finally:
            self._running.release()

    def _is_our_turn(self, call: Call) -> bool:
        """Whether no other thread of this process syncs: what hangs in one must not hang all that ask."""
        deadline = time.monotonic() + LONGEST_WAIT_S
        while not self._running.acquire(timeout=ASK_AGAIN_S):
            call.raise_if_cancelled()
            if time.monotonic() >= deadline:
                return False
        return True

    def _call(self, name: str) -> Call:
        return Call(is_cancelled=lambda: self._yield(self._workers[name]))

    def _yield(self, worker: Worker) -> bool:
        """Between pieces: calls go first, for a while. Whether to stop."""
        deadline = time.monotonic() + LONGEST_YIELD_S
        while self._engine.is_serving and not self._is_urgent and time.monotonic() < deadline:
            worker.rest(YIELD_S)
            if worker.is_closing:
                break
        return worker.is_closing
