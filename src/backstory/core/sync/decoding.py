"""What stands in foreign files, piece by piece and without secrets: from where the last sync stopped if all before that
still stands there, else from the beginning. Knows no store, so that another process can do it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ...domain.errors import BackstoryError, Unreadable
from ...domain.records import Trust
from ...domain.sources import CONTEXT, SourceState
from ...readers import Cursor, Form, Piece, Reader, Source
from ..statements.extraction import with_sayings
from .cursors import context_of
from .files import Checksum, Stamp
from .redacting import Redaction

SMALL_BYTES = 4_000_000
"""Smaller files are given as a whole, larger ones piece by piece."""
AT_ONCE_BYTES = 500_000
"""Of files whose portions are handed over together: each time wakes another process, or another thread."""
LARGEST = 1 << 36
"""Bytes; no assistant writes such a file, but a hole in one costs nothing."""

_SURPRISES = (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError)
"""What code that takes foreign data apart raises when they are no longer as they were when it was written."""


class DueSource(NamedTuple):
    """A file that is new or changed, and how far it was read."""

    source: Source
    stamp: Stamp
    state: SourceState | None
    trust: Trust = Trust.OWN


class ReadStep(NamedTuple):
    """A piece without secrets, and where to go on after it."""

    piece: Piece
    redacted: int
    checksum: str


class Portion(NamedTuple):
    """What is kept in one transaction: a small file, or some of a large one."""

    steps: list[ReadStep]
    goes_on: bool = False
    """Reading went on where it had stopped, and did not start again."""
    is_last: bool = True
    problem: str = ""
    """Why the file cannot be read, or not to its end."""


class SourceDecoder:
    """Of one reader's files."""

    def __init__(self, reader: Reader, redaction: Redaction) -> None:
        self._reader = reader
        self._redaction = redaction

    def portions_of(self, due: Sequence[DueSource], at_once: int = AT_ONCE_BYTES) -> Iterator[list[Portion]]:
        """Of all files, in their order, those of small files together."""
        some: list[Portion] = []
        size = 0
        for each in due:
            for portion in self.portions(each):
                some.append(portion)
                size += each.stamp.size
                if size >= at_once or not portion.is_last:
                    yield some
                    some, size = [], 0
        if some:
            yield some

    def portions(self, due: DueSource) -> Iterator[Portion]:
        """At least one, of which the last says so."""
        steps: list[ReadStep] = []
        checksum = Checksum(due.source.path)
        goes_on, problem = False, ""
        try:
            if due.stamp.size > LARGEST:
                raise Unreadable(f"It has {due.stamp.size} bytes, which is too much.")
            goes_on = due.state is not None and _goes_on(due, due.state, checksum)
            for piece in self._pieces(due, goes_on):
                steps.append(self._step(due.source, piece, checksum))
                if due.stamp.size >= SMALL_BYTES:
                    yield Portion(steps, goes_on, is_last=False)
                    steps = []
        except Unreadable as error:
            problem = self._redaction.text(str(error))
        yield Portion(steps, goes_on, problem=problem)

    def _step(self, source: Source, piece: Piece, checksum: Checksum) -> ReadStep:
        # before secrets are taken out, which looks at what is stated as well
        piece = piece._replace(turns=with_sayings(piece.turns))
        piece, redacted = self._redaction.piece(piece)
        if piece.cursor is None or source.form is not Form.LOG:
            return ReadStep(piece, redacted, "")
        return ReadStep(piece, redacted, checksum.until(piece.cursor.offset))

    def _pieces(self, due: DueSource, goes_on: bool) -> Iterator[Piece]:
        cursor = Cursor()
        if due.state is not None and goes_on:
            cursor = Cursor(due.state.position, due.state.state.get("mark", {}))
        try:
            yield from self._reader.read(due.source, cursor)
        except BackstoryError:
            raise
        except OSError as error:
            raise Unreadable(f"It cannot be read: {error.strerror or error}.") from error
        except _SURPRISES as error:
            # not what the error says: it may quote the file, and this is kept as it is
            kind = type(error).__name__
            raise Unreadable(f"It is not as {self._reader.title} used to write it ({kind}).") from error


def _goes_on(due: DueSource, state: SourceState, checksum: Checksum) -> bool:
    if context_of(due.source) != state.state.get(CONTEXT, ""):
        return False  # all of it may be told otherwise now
    if due.source.form is Form.LOG and state.position > 0 and state.size <= due.stamp.size:
        return checksum.until(state.position) == state.head != ""
    return due.source.form is Form.DATABASE
