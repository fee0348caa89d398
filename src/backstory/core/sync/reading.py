"""Read one foreign file: from where the last sync stopped if that still stands there, else from its beginning."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import nullcontext
from datetime import timedelta

from ...domain.errors import BackstoryError, Unreadable
from ...domain.filters import ConversationFilter
from ...domain.records import Trust
from ...domain.sources import SourceState
from ...readers import Cursor, Form, Piece, Reader, Source
from ..engine import Engine
from ..projects.origin import trust_of
from .cursors import conversations_in, without
from .files import Samples, Stamp, samples
from .keeping import Keeping, Kept
from .pieces import conversation_id

RETRY_AFTER = timedelta(hours=1)
"""A file that could not be read is tried again then, though it did not change: we may have learned to read it."""

_UNFINISHED = Stamp(-1, -1)
_NO_SAMPLES = Samples("", "")

_SURPRISES = (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError)
"""What code that takes foreign data apart raises when they are no longer as they were when it was written."""


class Reading:
    """The sources of one reader, one after the other."""

    def __init__(self, engine: Engine, reader: Reader, keeping: Keeping) -> None:
        self._engine = engine
        self._store = engine.store
        self._reader = reader
        self._keeping = keeping

    def is_due(self, stamp: Stamp, state: SourceState | None) -> bool:
        if state is None or state.is_gone or Stamp(state.size, state.modified_ns) != stamp:
            return True
        read_at = state.read_at or self._engine.now()
        return bool(state.problem) and self._engine.now() - read_at >= RETRY_AFTER

    def trust_of(self, source: Source) -> Trust:
        """Asks git, so not while others wait for a transaction."""
        return trust_of(source.path) if self._reader.in_projects else Trust.OWN

    def read(
        self, source: Source, stamp: Stamp, state: SourceState | None, trust: Trust, *, is_small: bool
    ) -> Iterator[Kept]:
        """Keep what is new. Each piece is committed before it is given, with where to go on after it. A small source
        is read within a transaction of the caller's, so there it is enough to say so at the end."""
        now = self._begun(source, stamp, state)
        stale = set(now.state["stale"])
        try:
            for piece in self._told(source, Cursor(now.position, now.state["mark"])):
                id = conversation_id(self._reader.name, piece.header.native_id)
                with nullcontext() if is_small else self._store.transaction():
                    kept = self._keeping.keep(
                        piece, modified_ms=stamp.modified_ms, is_renewed=id in stale, trust=trust
                    )
                    stale.discard(id)
                    now = _counted(now, kept)
                    if piece.cursor is not None:
                        now = _marked(now, source, piece.cursor, stale)
                        if not is_small:
                            self._put(now, _UNFINISHED)
                yield kept
        except Unreadable as error:
            now = now._replace(problem=str(error))
        self._put(now, stamp)

    def _put(self, state: SourceState, stamp: Stamp) -> None:
        state = without(state, self._store.sync.forgotten(conversations_in(state)))
        self._store.sync.put(
            state._replace(size=stamp.size, modified_ns=stamp.modified_ns, read_at=self._engine.now())
        )

    def _begun(self, source: Source, stamp: Stamp, state: SourceState | None) -> SourceState:
        """From where to read, and which conversations are told anew."""
        path = str(source.path)
        if state is not None and self._goes_on(source, stamp, state):
            return state._replace(problem="", is_gone=False)
        known = [] if state is None else self._store.conversations.find(ConversationFilter(sources=(path,)))
        fresh = {"mark": {}, "stale": sorted(talk.id for talk in known)}
        return SourceState(path, self._reader.name, -1, -1, state=fresh)

    def _goes_on(self, source: Source, stamp: Stamp, state: SourceState) -> bool:
        if source.form is Form.LOG and 0 < state.position <= stamp.size:
            return _sampled(source, state.position) == (state.head, state.tail)
        return source.form is Form.DATABASE

    def _told(self, source: Source, cursor: Cursor) -> Iterator[Piece]:
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


def _counted(state: SourceState, kept: Kept) -> SourceState:
    skipped = Counter(state.skipped)
    skipped.update(kept.skipped)
    return state._replace(skipped=dict(skipped), redacted=state.redacted + kept.redacted)


def _marked(state: SourceState, source: Source, cursor: Cursor, stale: set[str]) -> SourceState:
    head, tail = _sampled(source, cursor.offset) if source.form is Form.LOG else _NO_SAMPLES
    return state._replace(
        position=cursor.offset,
        head=head,
        tail=tail,
        state={"mark": dict(cursor.state), "stale": sorted(stale)},
    )


def _sampled(source: Source, position: int) -> Samples:
    """None like any other when the file vanished: then it is read from its beginning, if it comes back."""
    try:
        return samples(source.path, position)
    except OSError:
        return _NO_SAMPLES
