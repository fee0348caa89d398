"""Decoding of foreign files, piece by piece and with secrets redacted.

Reading resumes where the last sync stopped if everything before that is unchanged; otherwise it starts at the
beginning. This module does not use the store, so that another process can run it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ...domain.errors import BackstoryError, Unreadable
from ...domain.records import Trust
from ...domain.sources import CONTEXT, SourceState
from ...readers import Cursor, Form, Piece, Reader, Source, ToolCall, Turn
from ..exclusion import Exclusion
from ..failures.extraction import with_runs
from ..statements.extraction import with_sayings
from .cursors import contexts_of
from .files import Checksum, Stamp
from .privacy import PrivatePassages
from .redacting import Redaction

SMALL_BYTES = 4_000_000
"""Smaller files are returned as a whole, larger ones piece by piece."""
AT_ONCE_BYTES = 500_000
"""The amount of data, in bytes of files, that is handed over together: each handover wakes another process or thread."""
MAX_FILE_BYTES = 1 << 36
"""No assistant writes a file this large, but a sparse file can claim any size."""

_SURPRISES = (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError)
"""Exceptions of parsers when the format of foreign data has changed."""


class DueSource(NamedTuple):
    """A file that is new or changed, and how far it was read."""

    source: Source
    stamp: Stamp
    state: SourceState | None
    trust: Trust = Trust.OWN


class ReadStep(NamedTuple):
    """A piece without secrets, and the checksum of the file up to its end."""

    piece: Piece
    redacted: int
    checksum: str
    private: int = 0
    """Private passages that were cut."""
    is_excluded: bool = False
    """The user excludes its project: the piece has neither turns nor a title."""


class Portion(NamedTuple):
    """The unit of one transaction: a small file, or a part of a large one."""

    steps: list[ReadStep]
    goes_on: bool = False
    """True if reading resumed where it had stopped; False if it started at the beginning."""
    is_last: bool = True
    problem: str = ""
    """The reason why the file, or the rest of it, cannot be read."""


class SourceDecoder:
    """Decodes the files of one reader."""

    def __init__(self, reader: Reader, redaction: Redaction, exclusion: Exclusion) -> None:
        self._reader = reader
        self._redaction = redaction
        self._exclusion = exclusion

    def portions_of(self, due: Sequence[DueSource], at_once: int = AT_ONCE_BYTES) -> Iterator[list[Portion]]:
        """Portions of all files in order; those of small files are batched."""
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
        """The portions of one file, at least one. The last has `is_last` set."""
        steps: list[ReadStep] = []
        checksum = Checksum(due.source.path)
        goes_on, problem = False, ""
        try:
            # Checked before the file is opened.
            if due.stamp.size > MAX_FILE_BYTES:
                raise Unreadable(f"It has {due.stamp.size} bytes, which is too much.")
            goes_on = due.state is not None and self._goes_on(due, due.state, checksum)
            for piece in self._pieces(due, goes_on):
                steps.append(self._step(due.source, piece, checksum))
                if due.stamp.size >= SMALL_BYTES:
                    yield Portion(steps, goes_on, is_last=False)
                    steps = []
        except Unreadable as error:
            problem = self._redaction.text(str(error))
        yield Portion(steps, goes_on, problem=problem)

    def _step(self, source: Source, piece: Piece, checksum: Checksum) -> ReadStep:
        if self._exclusion.excludes_project(piece.header.directory):
            header = piece.header._replace(title="")
            return ReadStep(piece._replace(header=header, turns=()), 0, "", is_excluded=True)
        # Before extraction and redaction, which must not see private passages.
        passages = PrivatePassages()
        piece = passages.taken_from(self._without_excluded_files(piece))
        # Extract before redacting, because redaction also covers sayings and errors.
        piece = piece._replace(turns=with_sayings(with_runs(piece.turns)))
        piece, redacted = self._redaction.piece(piece)
        is_log = piece.cursor is not None and source.form is Form.LOG
        checked = checksum.until(piece.cursor.offset) if piece.cursor and is_log else ""
        return ReadStep(piece, redacted, checked, passages.count)

    def _without_excluded_files(self, piece: Piece) -> Piece:
        directory = piece.header.directory

        def is_excluded(path: str) -> bool:
            return self._exclusion.excludes_file(path, directory)

        def call(each: ToolCall) -> ToolCall:
            if not any(map(is_excluded, (*each.reads, *each.writes))):
                return each
            reads, writes = (
                tuple(path for path in paths if not is_excluded(path)) for paths in (each.reads, each.writes)
            )
            # Arguments and results of such a call may quote the excluded file.
            return ToolCall(each.name, reads=reads, writes=writes)

        def turn(each: Turn) -> Turn:
            calls = tuple(map(call, each.calls))
            return each if calls == each.calls else each._replace(calls=calls)

        return piece._replace(turns=list(map(turn, piece.turns)))

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
            # Only the type of the error, because its text may quote the file.
            kind = type(error).__name__
            raise Unreadable(f"It is not in a known format of {self._reader.title} ({kind}).") from error

    def _goes_on(self, due: DueSource, state: SourceState, checksum: Checksum) -> bool:
        if state.state.get(CONTEXT, "") not in contexts_of(due.source, self._exclusion.fingerprint):
            return False  # the reader may now interpret all of it differently
        if due.source.form is Form.LOG and state.position > 0 and state.size <= due.stamp.size:
            # An empty checksum never matches: the file was shorter or unreadable.
            return checksum.until(state.position) == state.head != ""
        return due.source.form is Form.DATABASE
