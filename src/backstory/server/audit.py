"""The audit log of calls.

Each call is recorded before it begins; records are grouped, since every commit waits for the disk. Calls that begin
during a write share the next commit, and outcomes are written with the next record."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from threading import Event, Lock, Thread

from ..core.engine import new_id
from ..domain.errors import BackstoryError
from ..domain.memory_trail import MemoryTrail, memory_trail
from ..domain.team import AuditRecord, CallEnd
from ..domain.when import Clock
from ..store import Store
from .auth import Principal
from .sessionlog import SessionLog

BEGUN, FAILED = "begun", "failed"
OUTCOMES_WAIT_S = 0.05
"""Seconds that outcomes wait to be written together with a record."""
PRUNE_EVERY = timedelta(days=1)


class _Batch:
    """The records and outcomes of one commit."""

    def __init__(self) -> None:
        self.records: list[AuditRecord] = []
        self.ends: dict[str, CallEnd] = {}
        self.is_done = False
        self.error: Exception | None = None


class AuditLog:
    """The audit log. Thread-safe."""

    def __init__(
        self,
        control: Store,
        now: Clock,
        log: SessionLog,
        *,
        kept_days: float | None = None,
        records_reads: bool = False,
    ) -> None:
        """Records are deleted after `kept_days`; None retains them.

        `records_reads`: whether calls that only read are to be recorded."""
        self.records_reads = records_reads
        self._control = control
        self._kept_days = kept_days
        self._prune_at: datetime | None = None
        self._now = now
        self._log = log
        self._writing = Lock()
        self._joining = Lock()
        self._pruning = Lock()
        self._next = _Batch()
        self._ended = Event()
        self._writer: Thread | None = None

    @contextmanager
    def call(self, who: Principal, tenant: str, tool: str) -> Iterator[list[str]]:
        """Record a call that runs in this thread, with the ids of the memories that it changes or reads.

        Yields a list whose last element becomes the outcome."""
        with memory_trail() as trail, self.followed_call(who, tenant, tool, trail) as outcomes:
            yield outcomes

    @contextmanager
    def followed_call(
        self, who: Principal, tenant: str, tool: str, trail: MemoryTrail
    ) -> Iterator[list[str]]:
        """Record a call before it begins, so that every change is audited. If the server dies, its outcome stays `begun`.

        `trail` collects the ids of the call's memories, on whatever threads it runs."""
        record = AuditRecord(new_id(), self._now(), who.person, who.credential, tenant, tool, BEGUN)
        self._begin(record)
        outcomes = [FAILED]
        try:
            yield outcomes
        finally:
            self._end(record.id, CallEnd(outcomes[-1], trail.text()))

    def flush(self) -> None:
        """Write waiting outcomes. If that fails, they continue to wait, and the session log records the failure."""
        with self._writing:
            batch = self._next
            if batch.ends:
                self._commit(batch)
        if batch.error is not None:
            self._log.write("error", "audit", str(batch.error), {"outcomes": len(batch.ends)})

    def prune(self) -> None:
        """Delete records that are too old, once a day. A second caller waits for the first."""
        if self._kept_days is None:
            return
        with self._pruning:
            now = self._now()
            if self._prune_at is not None and now < self._prune_at:
                return
            self._prune_at = now + PRUNE_EVERY
            try:
                self._control.team.prune_audit_log(now - timedelta(days=self._kept_days))
            except BackstoryError as error:
                self._log.write("error", "audit", error.message, {})

    def _begin(self, record: AuditRecord) -> None:
        with self._joining:
            batch = self._next
            batch.records.append(record)
        with self._writing:
            if not batch.is_done:  # otherwise a concurrent call has written it in its batch
                self._commit(batch)
        if batch.error is not None:
            raise batch.error

    def _end(self, id: str, end: CallEnd) -> None:
        with self._joining:
            self._next.ends[id] = end
            if self._writer is None:
                self._writer = Thread(target=self._write_outcomes, name="audit", daemon=True)
                self._writer.start()
        self._ended.set()

    def _commit(self, batch: _Batch) -> None:
        """Commit the next batch while no other thread writes."""
        with self._joining:
            self._next = _Batch()
        try:
            self._control.team.audit(batch.records, batch.ends)
        except Exception as error:  # any error is raised in every call that waits for this batch
            batch.error = error
            with self._joining:
                self._next.ends = batch.ends | self._next.ends
        batch.is_done = True

    def _write_outcomes(self) -> None:
        while True:
            self._ended.wait()
            self._ended.clear()
            time.sleep(OUTCOMES_WAIT_S)
            self.flush()
            self.prune()
