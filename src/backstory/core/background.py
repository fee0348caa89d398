"""Sync, devices, retention, backups, briefs and the end of forgetting while a server runs: on threads of their own,
behind every call, in one process at a time. Nothing here may be slow to import or to make: a server that has just
answered `initialize` does both."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..domain.devices import DEVICE_SETUP
from ..domain.errors import InvalidInput
from ..domain.lazy import lazy_name
from ..domain.team import JOINED_SPACES
from ..worker import Worker
from .calls import Call, Cancelled

if TYPE_CHECKING:
    from ..readers import Places, Reader, load_readers, reader_names
    from .backups import Backups
    from .brief.files import Briefs
    from .client_memories import ClientMemories
    from .client_memories.feeding import Feeding
    from .devices import Devices
    from .engine import Engine
    from .forgetting import erase_expired
    from .forgetting.erasure import Erasure
    from .forgetting.retention import Retention
    from .hooks.usage import judge_receipts
    from .sync import Sync, SyncReport
    from .team import refresh_trusted
    from .team.spaces import Spaces
    from .unwanted import give_up_unwanted
else:  # all of them together take 150 ms, which a server that has just answered `initialize` does not have
    Backups = lazy_name("backstory.core.backups", "Backups")
    Briefs = lazy_name("backstory.core.brief.files", "Briefs")
    ClientMemories = lazy_name("backstory.core.client_memories", "ClientMemories")
    Devices = lazy_name("backstory.core.devices", "Devices")
    Erasure = lazy_name("backstory.core.forgetting.erasure", "Erasure")
    Feeding = lazy_name("backstory.core.client_memories.feeding", "Feeding")
    Spaces = lazy_name("backstory.core.team.spaces", "Spaces")
    Retention = lazy_name("backstory.core.forgetting.retention", "Retention")
    Sync = lazy_name("backstory.core.sync", "Sync")
    erase_expired = lazy_name("backstory.core.forgetting", "erase_expired")
    give_up_unwanted = lazy_name("backstory.core.unwanted", "give_up_unwanted")
    judge_receipts = lazy_name("backstory.core.hooks.usage", "judge_receipts")
    load_readers = lazy_name("backstory.readers", "load_readers")
    reader_names = lazy_name("backstory.readers", "reader_names")
    refresh_trusted = lazy_name("backstory.core.team", "refresh_trusted")

SYNC, RETENTION, ERASURE, BACKUPS, BRIEFS = "sync", "retention", "erasure", "backups", "briefs"
TURNS = "turns"
DEVICES = "devices"
SPACES = "spaces"
START_AFTER_S = 1.0  # delay after a start: a client sends many requests when it has just connected
LEAST_REST_S = 2.0  # minimum pause between two syncs, however many calls request one
LONGEST_YIELD_S = 0.5  # maximum pause between two pieces, while calls run
YIELD_S = 0.01
PATIENCE_S = 10.0  # seconds a call waits for another process that syncs
LONGEST_WAIT_S = 45.0  # seconds a call waits for a sync in this process; clients give up after a minute
FIRST_S = 5.0  # seconds that a call may sync if no history was ever read
PAUSE_S = 5.0  # seconds without a sync after which a call first reads changed files, so that it sees other assistants' latest messages
RECENT_S = 0.3  # seconds that this sync may take
# CPU seconds of the sync when a session starts; CPU time, because a busy machine must not shorten it
RECENT_CPU_S = 0.3
ASK_AGAIN_S = 0.1
CHECK_RETENTION_S = CHECK_RESIDUE_S = CHECK_BACKUPS_S = 3600.0
DEVICES_REST_S = 60.0  # minimum pause between two syncs with other machines
CHECK_SPACES_S = 60.0  # pause between two reads of joined spaces on an idle machine
CHECK_DEVICES_S = 300.0  # pause between two reads of other machines' changes on an idle machine
TURN_WRITTEN_S = 0.12  # Claude Code writes the last line of a turn up to 0.1 s after its Stop hook has run
TURN_READ_S = 0.5  # seconds that reading the transcript of one turn may take
SWITCH_S = 0.001  # a thread that waits for Python gets it after this, instead of 5 ms


class Background:
    def __init__(self, engine: Engine, places: Callable[[], Places]) -> None:
        self._engine = engine
        self._places = places
        self._sync: Sync | None = None
        self._team_commits: dict[str, str] = {}
        """The last commit of the shared branch that was read, by project."""
        self._briefs: Briefs | None = None
        self._running = threading.Lock()
        self._is_urgent = False
        self._reading_first = threading.Lock()
        self._is_first: bool | None = None
        self._first: dict[str, SyncReport] | None = None
        self._synced_at: float | None = None
        self._fed_version: Hashable | None = None
        settings = engine.settings
        self._device_setup = settings.home / DEVICE_SETUP
        self._joined_spaces = settings.home / JOINED_SPACES
        chores = {
            RETENTION: (self._archive, settings.retention_days is not None),  # first, because it frees space
            SYNC: (self._sync_once, settings.reads_histories),
            ERASURE: (self._overwrite, True),
            BACKUPS: (self._back_up, engine.makes_backups),
            BRIEFS: (self._render_briefs, settings.brief != "off"),
        }
        self._workers = {
            name: self._worker(name, work) for name, (work, is_wanted) in chores.items() if is_wanted
        }
        self._ended_turns: set[str] = set()
        """Transcripts with a turn that has just ended."""
        self._turns = Worker(TURNS, self._read_turns, engine.problems)

    def _worker(
        self, name: str, work: Callable[[], float | None], least_rest_s: float = LEAST_REST_S
    ) -> Worker:
        return Worker(
            name,
            work,
            self._engine.problems,
            first_rest_s=START_AFTER_S,
            least_rest_s=least_rest_s,
            is_busy=lambda: self._engine.is_serving,
        )

    def wake(self) -> None:
        if DEVICES not in self._workers and self._device_setup.exists():
            self._workers[DEVICES] = self._worker(DEVICES, self._sync_devices, DEVICES_REST_S)
        if SPACES not in self._workers and self._joined_spaces.exists():
            self._workers[SPACES] = self._worker(SPACES, self._sync_spaces)
        for worker in self._workers.values():
            worker.wake()

    def close(self) -> None:
        for worker in (*self._workers.values(), self._turns):
            worker.close()
        self._read_turns()  # a client that ends right after its answer would otherwise leave the turn unread until the next session

    def read_turn(self, transcript: str) -> None:
        """Read the transcript of a turn that has just ended, and render the brief of its project for the next session."""
        if SYNC in self._workers and transcript:
            self._ended_turns.add(transcript)
            self._turns.wake()

    def _read_turns(self) -> None:
        if self._ended_turns:
            self._turns.rest(TURN_WRITTEN_S)
        while self._ended_turns:
            self._read_transcript(Path(self._ended_turns.pop()))

    def _read_transcript(self, path: Path) -> None:
        if not self._running.acquire(timeout=TURN_READ_S):
            return  # a running sync will read this file too
        deadline = time.monotonic() + TURN_READ_S
        call = Call(is_cancelled=lambda: time.monotonic() >= deadline)
        try:
            readers = load_readers(self._engine.settings.histories).values()
            sync = self._sync = self._sync or Sync(self._engine)
            report = sync.run_file(readers, self._places(), path, call=call, patience_s=TURN_READ_S)
        except (Cancelled, InvalidInput):
            return
        finally:
            self._running.release()
        if report is not None and BRIEFS in self._workers:
            for project in sorted(report.projects):
                Briefs(self._engine).refresh_project(project)

    def read_recent(self, readers: Sequence[str], project: str, wait_s: float) -> None:
        """Read changed histories of some assistants for a session that starts, newest first and for a limited time, and
        render the brief of its project. The session waits for `wait_s` in all."""
        give_up_unwanted(self._engine.settings, readers)
        if SYNC not in self._workers:
            return
        self._is_urgent = True
        outcome = None
        try:
            outcome = self._run(_ShortTurn(wait_s, RECENT_CPU_S).call(), wait_s, readers)
        except Cancelled:
            pass  # the background reads the rest
        finally:
            self._is_urgent = False
        if BRIEFS not in self._workers:
            return
        if outcome is None:
            Briefs(self._engine).refresh_project(project)
        else:
            changed = frozenset().union(*(report.projects for report in outcome.values()))
            Briefs(self._engine).refresh_projects(sorted(changed | {project}))

    def run_now(self, call: Call) -> dict[str, SyncReport] | None:
        """Sync before continuing; None if another process was syncing for too long. Raises exceptions of the sync."""
        self._is_urgent = True
        try:
            return self._run(call, PATIENCE_S)
        finally:
            self._is_urgent = False

    def is_first(self) -> bool:
        """True if there are histories that neither this process nor an earlier one has read into this store."""
        if self._is_first is None:
            self._is_first = SYNC in self._workers and not self._engine.store.sync.count_sources()
        return self._is_first

    def run_first(self, call: Call) -> dict[str, SyncReport] | None:
        """Run the first sync for a limited time; concurrent callers wait for it.

        None if the time was too short; the background continues."""
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
        """After a pause, read changed files for a moment before continuing; the background does the rest.

        Raises Cancelled only if the caller cancels."""
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
        self._engine.embed_soon()  # also texts that an earlier process left
        self._feed()
        self._read_teams()
        if briefing := self._workers.get(BRIEFS):
            briefing.wake()  # render again, with the messages that were just read
        return self._engine.settings.sync_interval_s

    def _read_teams(self) -> None:
        """Import shared notes of repositories whose shared branch moved since the last check."""
        refresh_trusted(self._engine, self._team_commits)

    def _overwrite(self) -> float:
        """Overwrite the bytes of records forgotten here or by a killed process, after erasing those past their grace period
        and, in a store that was copied here, those of spaces that the user has left."""
        if self._engine.store.space_copies.spaces():
            Spaces(self._engine).remove_left()
        erase_expired(self._engine)
        call = self._call(ERASURE)

        def rest() -> None:
            time.sleep(YIELD_S)  # other processes may write between the steps
            call.raise_if_cancelled()

        wait_s = Erasure(self._engine).overwrite_due(rest)
        return CHECK_RESIDUE_S if wait_s is None else min(wait_s, CHECK_RESIDUE_S)

    def _archive(self) -> float:
        Retention(self._engine).archive_daily(self._call(RETENTION))
        return CHECK_RETENTION_S

    def _back_up(self) -> float:
        Backups(self._engine).make_daily()
        return CHECK_BACKUPS_S

    def _sync_devices(self) -> float:
        """Sync with this user's other machines, if there is still a vault."""
        if self._device_setup.exists():
            Devices(self._engine, self._places().home, patience_s=0.0).sync(self._call(DEVICES))
        return CHECK_DEVICES_S

    def _sync_spaces(self) -> float:
        """Sync with the team's servers, if this machine has joined a space."""
        if self._joined_spaces.exists():
            Spaces(self._engine).sync(self._call(SPACES))
        return CHECK_SPACES_S

    def _render_briefs(self) -> float:
        self._briefs = self._briefs or Briefs(self._engine)
        # a conversation continued, perhaps because of a text that it received
        if self._briefs.refresh(self._call(BRIEFS)):
            judge_receipts(self._engine)
        return self._engine.settings.sync_interval_s

    def _run(self, call: Call, patience_s: float, names: Sequence[str] = ()) -> dict[str, SyncReport] | None:
        """Sync; with `names` only these readers, whose newest files come first."""
        if not self._engine.settings.reads_histories:
            return {}
        if not self._is_our_turn(call):
            return None
        try:
            self.is_first()  # before the message is forgotten
            self._sync = self._sync or Sync(self._engine)
            outcome = self._sync.run(
                self._readers(names),
                self._places(),
                call=call,
                patience_s=patience_s,
                newest_first=bool(names),
            )
            ClientMemories(self._engine).run(self._places(), call)
            if outcome is not None and not names:
                self._is_first, self._first = False, outcome
                self._synced_at = time.monotonic()
            return outcome
        finally:
            self._running.release()

    def _readers(self, names: Sequence[str]) -> list[Reader]:
        """All that the settings allow, or those of them that have these names; a hook of another version may name others."""
        allowed = self._engine.settings.histories
        chosen = [name for name in allowed or reader_names() if name in names] if names else allowed
        return list(load_readers(chosen).values()) if chosen or not names else []

    def _feed(self) -> None:
        """Update other programs' memory files, with the user's consent and if the store changed."""
        version = self._engine.store.version()
        if version is None or version != self._fed_version:
            Feeding(self._engine, self._places()).refresh()
            self._fed_version = self._engine.store.version()

    def _is_our_turn(self, call: Call) -> bool:
        """Wait until no other thread of this process syncs. A thread that hangs must not block all callers."""
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


class _ShortTurn:
    """The time of a caller that waits: some for its turn, which another thread or process may have, and for reading
    little of the processor's time."""

    def __init__(self, wait_s: float, read_cpu_s: float) -> None:
        self._deadline = time.monotonic() + wait_s
        self._read_cpu_s = read_cpu_s
        self._read_until_cpu_s: float | None = None

    def call(self) -> Call:
        return Call(progress=self._progress, is_cancelled=self._is_over)

    def _progress(self, current: float, total: float | None, message: str) -> None:
        """Start the time for reading. Progress of reading has a total, waiting for a turn has none."""
        if total is not None and self._read_until_cpu_s is None:
            self._read_until_cpu_s = time.thread_time() + self._read_cpu_s

    def _is_over(self) -> bool:
        limit_s = self._read_until_cpu_s
        return time.monotonic() >= self._deadline or (limit_s is not None and time.thread_time() >= limit_s)
