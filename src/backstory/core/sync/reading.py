"""Selection of the foreign files that must be read, and the progress of reading each.

Files are read, parsed and redacted before a transaction begins, in a thread that is abandoned if a file does not
respond. A file can therefore never block other writers.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any

from ...domain.records import Trust
from ...domain.sources import CONTEXT, SourceStamp, SourceState
from ...readers import Form, Reader, Source
from ..abandoning import Stalled, watched
from ..engine import Engine
from ..exclusion import Exclusion
from ..projects.origin import trust_of
from .cursors import contexts_of, conversations_in, without
from .decoder_process import DecoderLost, DecoderProcess, is_worth_it
from .decoding import AT_ONCE_BYTES, DueSource, Portion, ReadStep, SourceDecoder
from .files import Stamp
from .keeper import Keeper
from .keeping import FileKeeper, PieceOutcome
from .redacting import Redaction

RETRY_AFTER = timedelta(hours=1)
"""Delay before an unchanged file that could not be read is tried again: a newer version may be able to read it."""
STALL_S = 60.0
"""Time limit: a file that yields nothing for this long is skipped."""

_UNFINISHED = Stamp(-1, -1)  # never equals a real stamp, so the file stays due


class SourceReading:
    """Reads the sources of one reader, one after the other."""

    def __init__(
        self,
        engine: Engine,
        reader: Reader,
        redaction: Redaction,
        exclusion: Exclusion,
        keeper: Keeper,
        process: DecoderProcess,
    ) -> None:
        self._engine = engine
        self._reader = reader
        self._redaction = redaction
        self._exclusion = exclusion
        self._keeper = keeper
        self.transactions = keeper.transactions
        self._process = process
        self._progress: SourceProgress | None = None

    def is_due(self, source: Source, stamp: Stamp, known: SourceStamp | None) -> bool:
        if known is None or known.is_gone or (known.size, known.modified_ns) != stamp:
            return True
        # The file is unchanged, but its directory or the exclusion rules are not.
        if known.context not in contexts_of(source, self._exclusion.fingerprint):
            return True
        return bool(known.problem) and self._engine.now() - known.read_at >= RETRY_AFTER

    def trust_of(self, source: Source) -> Trust:
        """The trust level of a source. Calls git, so it must not run inside a transaction."""
        if self._reader.is_export:
            return Trust.IMPORTED
        return trust_of(source.path) if self._reader.in_projects else Trust.OWN

    def portions(self, due: Sequence[DueSource]) -> Iterator[tuple[DueSource, Portion]]:
        """The new portions of each source, in order. Nothing is read while the caller saves a portion."""
        left = deque(due)
        if is_worth_it(due):
            try:
                yield from self._watched(self._process.portions(self._reader, due), left)
            # Continue in this process, which can also tell which file is the problem.
            except (DecoderLost, Stalled):
                self._process.close()
                self._go_on(left)
        decoder, at_once = SourceDecoder(self._reader, self._redaction, self._exclusion), AT_ONCE_BYTES
        while left:
            try:
                yield from self._watched(decoder.portions_of(tuple(left), at_once), left)
            except Stalled:
                if at_once:
                    at_once = 0  # wait for each file separately, to see which one does not respond
                    self._go_on(left)
                    continue
                problem = f"It did not answer within {STALL_S:.0f} seconds. It is tried again in an hour."
                yield left.popleft(), Portion([], problem=problem)

    def _go_on(self, left: deque[DueSource]) -> None:
        """Resume with the stored state of the current source: parts of a large file may have been saved."""
        known = self._engine.store.sync.get(str(left[0].source.path))
        left[0] = left[0]._replace(state=known)

    def _watched(
        self, portions: Iterator[list[Portion]], left: deque[DueSource]
    ) -> Iterator[tuple[DueSource, Portion]]:
        for some in watched(portions, STALL_S, f"read {self._reader.name}"):
            for portion in some:
                yield left[0], portion
                if portion.is_last:
                    left.popleft()

    def keep(self, due: DueSource, portion: Portion) -> list[PieceOutcome]:
        """Save a portion and the new cursor, inside `transactions`. Stops early if another process was faster."""
        progress = self._progress
        if progress is None or progress.due is not due:
            progress = self._progress = SourceProgress(
                self._engine,
                self._keeper,
                self._reader,
                due,
                goes_on=portion.goes_on,
                rules=self._exclusion.fingerprint,
            )
        outcomes: list[PieceOutcome] = []
        try:
            progress.check()
            # Between two transactions another process may have taken over the file.
            with self.transactions.guarded(progress.flush, progress.check):
                progress.begin()
                outcomes.extend(progress.take(step) for step in portion.steps)
                if portion.is_last:
                    progress.end(portion.problem)
                else:
                    progress.pause(portion.steps[-1])
        # Leave the rest to the other process; pieces that were saved here stay valid.
        except Overtaken:
            pass
        return outcomes


class Overtaken(Exception):
    """Another process has read the source meanwhile, or its state was forgotten."""


class SourceProgress:
    """The progress of reading and saving one source. Must be used inside transactions."""

    def __init__(
        self, engine: Engine, keeper: Keeper, reader: Reader, due: DueSource, *, goes_on: bool, rules: str
    ) -> None:
        self._engine = engine
        self._store = engine.store
        self._keeper = keeper
        self.due = due
        self._goes_on = goes_on
        self._contexts = contexts_of(due.source, rules)
        self._has_excluded = False
        self._path = str(due.source.path)
        self._stored = due.state
        former = due.state
        is_back = former is not None and (former.is_gone or bool(former.state.get("back")))
        if former is not None and goes_on:
            self._now = former._replace(problem="", is_gone=False)
            retold = list(former.state.get("stale", ()))
            # A database may have lost rows while it was gone; a log that continues has not.
            if due.source.form is Form.DATABASE and former.is_gone:
                retold = keeper.conversations_of(self._path)
        else:
            self._now = SourceState(self._path, reader.name, -1, -1)
            retold = [] if former is None else keeper.conversations_of(self._path)
        self._is_back = is_back
        self._file = FileKeeper(keeper, self._path, retold, due.trust, is_back=is_back)

    def check(self) -> None:
        """Raise Overtaken if the stored state of the source has changed."""
        if self._store.sync.get(self._path) != self._stored:
            raise Overtaken

    def begin(self) -> None:
        """Mark a log that had vanished and continues as present again, with its conversations."""
        was_gone = self._stored is not None and self._stored.is_gone
        if was_gone and self._goes_on and self.due.source.form is Form.LOG:
            self._reappear()

    def _reappear(self) -> None:
        self._keeper.reappear(self._path)
        self._stored = self._store.sync.get(self._path)

    def flush(self) -> None:
        """Store everything that must be committed with the messages saved so far."""
        self._file.flush()

    def take(self, step: ReadStep) -> PieceOutcome:
        if step.is_excluded:
            return self._pass_over(step)
        outcome = self._file.keep(step.piece, self.due.stamp.modified_ms)._replace(
            redacted=step.redacted, private=step.private
        )
        skipped = Counter(self._now.skipped)
        skipped.update(outcome.skipped)
        self._now = self._now._replace(skipped=dict(skipped), redacted=self._now.redacted + step.redacted)
        if step.piece.cursor is not None:
            self._now = self._now._replace(
                position=step.piece.cursor.offset,
                # Cursor and checksum move together: the next sync resumes only if both match.
                head=step.checksum,
                tail="",
                state=self._state(step.piece.cursor.state, is_back=self._is_back),
            )
        return outcome

    def _pass_over(self, step: ReadStep) -> PieceOutcome:
        """Skip an excluded conversation.

        Its cursor is not stored, because it may contain the title. A database continues after it nevertheless: each
        of its rows names its project."""
        self._has_excluded = True
        if step.piece.cursor is not None and self.due.source.form is Form.DATABASE:
            state = self._state(step.piece.cursor.state, is_back=self._is_back)
            self._now = self._now._replace(position=step.piece.cursor.offset, state=state)
        return PieceOutcome(excluded=1)

    def pause(self, step: ReadStep) -> None:
        """Commit the progress so far; reading continues."""
        self._file.flush()
        if step.piece.cursor is not None:
            self._put(_UNFINISHED)
        self._stored = self._store.sync.get(self._path)

    def end(self, problem: str) -> None:
        """Finish a source that was read to its end, or to the point where it became unreadable."""
        if not problem:
            self._file.end(is_whole=not self._goes_on)
            if self._is_back and self._goes_on:
                self._reappear()
        self._file.flush()
        # After a failure the next sync must still know that the file had vanished.
        is_back = self._is_back and bool(problem)
        state = self._state(self._now.state.get("mark", {}), is_back=is_back)
        self._now = self._now._replace(state=state, problem=problem)
        self._put(self.due.stamp)

    def _state(self, cursor: Mapping[str, Any], *, is_back: bool) -> dict[str, Any]:
        state: dict[str, Any] = {"mark": dict(cursor), "stale": sorted(self._file.retold)}
        if context := self._contexts[self._has_excluded]:
            state[CONTEXT] = context
        return state | {"back": True} if is_back else state

    def _put(self, stamp: Stamp) -> None:
        # A conversation may have been forgotten while its file was being read.
        now = without(self._now, self._store.sync.forgotten(conversations_in(self._now)))
        self._store.sync.put(
            now._replace(size=stamp.size, modified_ns=stamp.modified_ns, read_at=self._engine.now())
        )
