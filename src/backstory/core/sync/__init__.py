"""Bring the index up to date with what other assistants left on disk. Their files are only read.

Each piece that a reader gives is kept in one transaction together with the mark that says where to go on, so a sync
that is killed at any moment goes on as if it had not been. What was read stays when its file vanishes.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from typing import NamedTuple

from ...domain.records import Trust
from ...domain.sources import SourceState
from ...readers import Places, Reader, Source
from ..calls import Call
from ..engine import Engine
from ..projects.identity import Identities
from ..secrets import Redactor
from .files import Stamp, stamp_of
from .keeping import Keeping, Kept
from .reading import Reading

LEASE = "sync"
LEASE_MS = 15_000
ASK_AGAIN_S = 0.1
SMALL_BYTES = 4_000_000
"""Smaller files are kept together: each commit waits for the disk and has the text index write out what it gathered."""
HOLD_S = 0.25
"""For so long other writers wait for those that are kept together,"""
BRIEF_HOLD_S = 0.03
"""and for so long while calls run in this process."""


class Told(NamedTuple):
    """What a sync did with one assistant's histories."""

    title: str
    sources: int
    unchanged: int
    vanished: int
    conversations: int
    """That got something new."""
    turns: int
    redacted: int
    skipped: Mapping[str, int]
    problems: Mapping[str, str]
    """By path; "" when nothing could be looked for at all."""


class Due(NamedTuple):
    source: Source
    stamp: Stamp
    state: SourceState | None
    trust: Trust = Trust.OWN


class Sync:
    """One for each process. The work belongs to one process at a time; the others find it done."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._store = engine.store
        self._redactor = Redactor(engine.settings.redaction)
        self._holder = engine.new_id()
        self._leased_at = 0.0

    def run(
        self,
        readers: Iterable[Reader],
        places: Places,
        *,
        call: Call | None = None,
        patience_s: float = 0.0,
    ) -> dict[str, Told] | None:
        """Read what changed, by reader. None when another process was at it for all of `patience_s`.

        Raises Cancelled between pieces; what was kept by then stays."""
        call = call or Call()
        if not self._is_our_turn(call, patience_s):
            return None
        try:
            return {reader.name: self._sync(reader, places, call) for reader in readers}
        finally:
            self._store.leases.drop(LEASE, self._holder)

    def _is_our_turn(self, call: Call, patience_s: float) -> bool:
        deadline = time.monotonic() + patience_s
        while not self._lease():
            if time.monotonic() >= deadline:
                return False
            call.checkpoint()
            call.progress(0, None, "Waiting for another process that is reading histories")
            time.sleep(ASK_AGAIN_S)
        return True

    def _lease(self) -> bool:
        self._leased_at = time.monotonic()
        return self._store.leases.take(LEASE, self._holder, for_ms=LEASE_MS)

    def _pause(self, call: Call) -> None:
        """Between pieces. A lease that ran out does no harm: what two processes keep at once is kept once."""
        call.checkpoint()
        if time.monotonic() - self._leased_at > LEASE_MS / 3000:
            self._lease()

    def _may_hold(self, since: float) -> bool:
        return time.monotonic() - since < (BRIEF_HOLD_S if self._engine.is_serving else HOLD_S)

    def _sync(self, reader: Reader, places: Places, call: Call) -> Told:
        tally = _Tally(reader.title)
        states = self._store.sync.sources(reader.name)
        try:
            found = {str(source.path): source for source in reader.find(places)}
        except OSError as error:
            tally.problems[""] = str(error)
            return tally.told()
        if vanished := [path for path, state in states.items() if path not in found and not state.is_gone]:
            self._store.sync.mark_gone(vanished)
        tally.sources, tally.vanished = len(found), len(vanished)
        keeping = Keeping(
            self._store,
            reader.name,
            self._redactor,
            Identities(places.platform, places.projects),
            frozenset(found),
        )
        reading = Reading(self._engine, reader, keeping)
        due = [
            each._replace(trust=reading.trust_of(each.source))
            for each in _stamped(found, states)
            if reading.is_due(each.stamp, each.state)
        ]
        self._read(reading, due, call, tally)
        tally.unchanged = tally.sources - len(due)
        after = self._store.sync.sources(reader.name) if due else states
        tally.problems |= {path: state.problem for path, state in after.items() if state.problem}
        return tally.told()

    def _read(self, reading: Reading, due: Sequence[Due], call: Call, tally: _Tally) -> None:
        done, total = 0, sum(each.stamp.size for each in due)
        left = deque(due)
        while left:
            self._engine.check_room()
            is_small = left[0].stamp.size < SMALL_BYTES
            with self._store.transaction() if is_small else nullcontext():
                begun = time.monotonic()
                while left and (left[0].stamp.size < SMALL_BYTES) == is_small and self._may_hold(begun):
                    each = left.popleft()
                    call.progress(done, total, f"Reading {tally.title}")
                    for kept in reading.read(*each, is_small=is_small):
                        tally.add(kept)
                        if not is_small:
                            self._pause(call)
                    done += each.stamp.size
            self._pause(call)
        self._engine.embed_soon()


def _stamped(found: Mapping[str, Source], states: Mapping[str, SourceState]) -> Iterator[Due]:
    for path in sorted(found):
        try:
            yield Due(found[path], stamp_of(found[path]), states.get(path))
        except OSError:
            continue  # it vanished since it was found; the next sync says so


class _Tally:
    def __init__(self, title: str) -> None:
        self.title = title
        self.sources = self.unchanged = self.vanished = self.turns = self.redacted = 0
        self.conversations: set[str] = set()
        self.skipped: Counter[str] = Counter()
        self.problems: dict[str, str] = {}

    def add(self, kept: Kept) -> None:
        if kept.conversation is not None:
            self.conversations.add(kept.conversation)
        self.turns += kept.turns
        self.redacted += kept.redacted
        self.skipped.update(kept.skipped)

    def told(self) -> Told:
        return Told(
            self.title,
            sources=self.sources,
            unchanged=self.unchanged,
            vanished=self.vanished,
            conversations=len(self.conversations),
            turns=self.turns,
            redacted=self.redacted,
            skipped=dict(self.skipped),
            problems=self.problems,
        )
