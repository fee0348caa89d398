"""Read one foreign file: from where the last sync stopped if all before that still stands there, else from its beginning.

Files are read, parsed and redacted before a transaction begins, in a thread that is left behind when a file does not
answer. So nothing that lies among the histories can keep anybody from writing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any, NamedTuple

from ...domain.errors import BackstoryError, Unreadable
from ...domain.records import Trust
from ...domain.sources import SourceState
from ...readers import Cursor, Form, Piece, Reader, Source
from ..abandoning import Stalled, watched
from ..engine import Engine
from ..projects.origin import trust_of
from .cursors import CONTEXT, context_of, conversations_in, without
from .files import Checksum, Stamp
from .keeping import FileKeeper, Keeper, PieceOutcome
from .redacting import Redaction

RETRY_AFTER = timedelta(hours=1)
"""A file that could not be read is tried again then, though it did not change: we may have learned to read it."""
STALL_S = 60.0
"""A file of which nothing comes for so long is passed over."""
LARGEST = 1 << 36
"""Bytes; no assistant writes such a file, but a hole in one costs nothing."""

_UNFINISHED = Stamp(-1, -1)

_SURPRISES = (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError)
"""What code that takes foreign data apart raises when they are no longer as they were when it was written."""


class DueSource(NamedTuple):
    """A file that is new or changed, and how far it was read."""

    source: Source
    stamp: Stamp
    state: SourceState | None
    trust: Trust = Trust.OWN


class ReadingStart(NamedTuple):
    """Whether reading goes on where it stopped, or starts again."""

    goes_on: bool


class ReadStep(NamedTuple):
    """A piece without secrets, and where to go on after it."""

    piece: Piece
    redacted: int
    checksum: str


class ParsedSource(NamedTuple):
    """A small file, read to its end."""

    due: DueSource
    begun: ReadingStart
    steps: list[ReadStep]
    problem: str


class Overtaken(Exception):
    """Another process read the source meanwhile, or what is known of it was forgotten."""


class SourceReading:
    """The sources of one reader, one after the other."""

    def __init__(self, engine: Engine, reader: Reader, redaction: Redaction, keeper: Keeper) -> None:
        self._engine = engine
        self._store = engine.store
        self._reader = reader
        self._redaction = redaction
        self._keeper = keeper

    def is_due(self, source: Source, stamp: Stamp, state: SourceState | None) -> bool:
        if state is None or state.is_gone or Stamp(state.size, state.modified_ns) != stamp:
            return True
        if context_of(source) != state.state.get(CONTEXT, ""):
            return True
        read_at = state.read_at or self._engine.now()
        return bool(state.problem) and self._engine.now() - read_at >= RETRY_AFTER

    def trust_of(self, source: Source) -> Trust:
        """Asks git, so not while others wait for a transaction."""
        if self._reader.is_export:
            return Trust.IMPORTED
        return trust_of(source.path) if self._reader.in_projects else Trust.OWN

    def parse(self, due: DueSource) -> ParsedSource:
        """A small file, before any transaction."""
        begun, steps, problem = ReadingStart(goes_on=False), list[ReadStep](), ""
        try:
            for item in self._watched(due):
                if isinstance(item, ReadingStart):
                    begun = item
                else:
                    steps.append(item)
        except Unreadable as error:
            problem = str(error)
        return ParsedSource(due, begun, steps, problem)

    def keep(self, parsed: ParsedSource) -> list[PieceOutcome]:
        """What a small file told, and where to go on, inside one transaction of the caller's. Nothing, when another
        process was quicker."""
        progress = SourceProgress(self._engine, self._keeper, self._reader, parsed.due, parsed.begun)
        try:
            progress.check()
        except Overtaken:
            return []
        kept = [progress.take(step) for step in parsed.steps]
        progress.end(self._redaction.text(parsed.problem))
        return kept

    def read(self, due: DueSource) -> Iterator[PieceOutcome]:
        """Keep what is new in a large file. Each piece is committed before it is given, with where to go on after it."""
        progress: SourceProgress | None = None
        problem = ""
        try:
            for item in self._watched(due):
                if isinstance(item, ReadingStart):
                    progress = SourceProgress(self._engine, self._keeper, self._reader, due, item)
                elif progress is not None:
                    with self._store.transaction():
                        progress.check()
                        kept = progress.take(item)
                        progress.pause(item)
                    yield kept
        except Unreadable as error:
            problem = self._redaction.text(str(error))
        except Overtaken:
            return
        with self._store.transaction():
            progress = progress or SourceProgress(
                self._engine, self._keeper, self._reader, due, ReadingStart(goes_on=False)
            )
            try:
                progress.check()
            except Overtaken:
                return
            progress.end(problem)

    def _watched(self, due: DueSource) -> Iterator[ReadingStart | ReadStep]:
        try:
            yield from watched(self._steps(due), STALL_S, f"read {self._reader.name}")
        except Stalled:
            raise Unreadable(
                f"It did not answer within {STALL_S:.0f} seconds.", hint="It is tried again in an hour."
            ) from None

    def _steps(self, due: DueSource) -> Iterator[ReadingStart | ReadStep]:
        source, state = due.source, due.state
        if due.stamp.size > LARGEST:
            raise Unreadable(f"It has {due.stamp.size} bytes, which is too much.")
        checksum = Checksum(source.path)
        goes_on = state is not None and _goes_on(due, state, checksum)
        yield ReadingStart(goes_on)
        cursor = Cursor()
        if state is not None and goes_on:
            cursor = Cursor(state.position, state.state.get("mark", {}))
        for piece in self._pieces(source, cursor):
            yield self._step(source, piece, checksum)

    def _step(self, source: Source, piece: Piece, checksum: Checksum) -> ReadStep:
        piece, redacted = self._redaction.piece(piece)
        if piece.cursor is None or source.form is not Form.LOG:
            return ReadStep(piece, redacted, "")
        return ReadStep(piece, redacted, checksum.until(piece.cursor.offset))

    def _pieces(self, source: Source, cursor: Cursor) -> Iterator[Piece]:
        try:
            yield from self._reader.read(source, cursor)
        except BackstoryError:
            raise
        except OSError as error:
            raise Unreadable(f"It cannot be read: {error.strerror or error}.") from error
        except _SURPRISES as error:
            # not what the error says: it may quote the file, and this is kept as it is
            kind = type(error).__name__
            raise Unreadable(f"It is not as {self._reader.title} used to write it ({kind}).") from error


class SourceProgress:
    """How far a source is read and kept. Inside transactions, except for its making."""

    def __init__(
        self, engine: Engine, keeper: Keeper, reader: Reader, due: DueSource, begun: ReadingStart
    ) -> None:
        self._engine = engine
        self._store = engine.store
        self._due = due
        self._begun = begun
        self._path = str(due.source.path)
        self._stored = due.state
        former = due.state
        is_back = former is not None and (former.is_gone or bool(former.state.get("back")))
        if former is not None and begun.goes_on:
            self._now = former._replace(problem="", is_gone=False)
            retold = list(former.state.get("stale", ()))
            if due.source.form is Form.DATABASE and former.is_gone:
                retold = keeper.told_by(self._path)
        else:
            self._now = SourceState(self._path, reader.name, -1, -1)
            retold = [] if former is None else keeper.told_by(self._path)
        self._is_back = is_back
        self._file = FileKeeper(keeper, self._path, retold, due.trust, is_back=is_back)

    def check(self) -> None:
        """Raises Overtaken when the source is not as it was when reading it began."""
        if self._store.sync.get(self._path) != self._stored:
            raise Overtaken
        was_gone = self._stored is not None and self._stored.is_gone
        if was_gone and self._begun.goes_on and self._due.source.form is Form.LOG:
            self._store.sync.mark_back(self._path)

    def take(self, step: ReadStep) -> PieceOutcome:
        kept = self._file.keep(step.piece, self._due.stamp.modified_ms)._replace(redacted=step.redacted)
        skipped = Counter(self._now.skipped)
        skipped.update(kept.skipped)
        self._now = self._now._replace(skipped=dict(skipped), redacted=self._now.redacted + step.redacted)
        if step.piece.cursor is not None:
            self._now = self._now._replace(
                position=step.piece.cursor.offset,
                head=step.checksum,
                tail="",
                state=self._state(step.piece.cursor.state, is_back=self._is_back),
            )
        return kept

    def pause(self, step: ReadStep) -> None:
        """What is kept so far is committed, and reading goes on."""
        self._file.flush()
        if step.piece.cursor is not None:
            self._put(_UNFINISHED)
        self._stored = self._store.sync.get(self._path)

    def end(self, problem: str) -> None:
        """The source was read to its end, or to where it cannot be read."""
        if not problem:
            self._file.end(is_whole=not self._begun.goes_on)
            if self._is_back and self._begun.goes_on:
                self._store.sync.mark_back(self._path)
        self._file.flush()
        is_back = self._is_back and bool(problem)
        state = self._state(self._now.state.get("mark", {}), is_back=is_back)
        self._now = self._now._replace(state=state, problem=problem)
        self._put(self._due.stamp)

    def _state(self, cursor: Mapping[str, Any], *, is_back: bool) -> dict[str, Any]:
        state: dict[str, Any] = {"mark": dict(cursor), "stale": sorted(self._file.retold)}
        if context := context_of(self._due.source):
            state[CONTEXT] = context
        return state | {"back": True} if is_back else state

    def _put(self, stamp: Stamp) -> None:
        now = without(self._now, self._store.sync.forgotten(conversations_in(self._now)))
        self._store.sync.put(
            now._replace(size=stamp.size, modified_ns=stamp.modified_ns, read_at=self._engine.now())
        )


def _goes_on(due: DueSource, state: SourceState, checksum: Checksum) -> bool:
    if context_of(due.source) != state.state.get(CONTEXT, ""):
        return False  # all of it may be told otherwise now
    if due.source.form is Form.LOG and state.position > 0 and state.size <= due.stamp.size:
        return checksum.until(state.position) == state.head != ""
    return due.source.form is Form.DATABASE
