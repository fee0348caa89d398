"""Store the notes of one file as memories: changed notes as new versions, missing ones in the archive, equal ones once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from difflib import SequenceMatcher
from typing import NamedTuple

from ...domain.filters import Filter, Kind, Page
from ...domain.origins import ORIGINS, MemoryOrigin
from ...domain.records import Memory, Trust
from ..engine import Engine
from .files import SOURCES
from .notes import MemoryNote, digest_of

ALIKE = 0.6
"""The minimum difflib ratio for two lines with different first words to count as one edited line."""
COMPARED_CHARS = 400
ADDED, CHANGED, RETIRED, RETURNED, FORGOTTEN = "added", "changed", "retired", "returned", "forgotten"


class ReadNote(NamedTuple):
    note: MemoryNote
    anchor: str
    project: str
    digest: str


class KnownMemory(NamedTuple):
    """A memory as it is in the store: live, in the archive, or deleted by the user."""

    memory: Memory | None
    is_archived: bool = False


class FileNotes:
    """The notes of one file. Must be used inside a transaction."""

    def __init__(self, engine: Engine, program: str, path: str, trust: Trust, at: datetime) -> None:
        self._engine = engine
        self._store = engine.store
        self._program = program
        self._path = path
        self._trust = trust
        self._at = at
        self.outcomes: Counter[str] = Counter()

    def keep(self, notes: Sequence[ReadNote]) -> None:
        """Store all notes of the file, and retire memories of notes that are gone."""
        known = self._store.origins.of_file(self._path)
        present = {each.anchor for each in notes}
        lost = [each for each in known.values() if each.anchor not in present and not each.is_gone]
        moved = _moved(lost, [each for each in notes if each.anchor not in known], self._text)
        for note in notes:
            self._take(note, moved.get(note.anchor) or known.get(note.anchor))
        former = {origin.anchor for origin in moved.values()}
        self._store.origins.delete(list(moved.values()))
        for origin in lost:
            if origin.anchor not in former:
                self.retire(origin)

    def retire(self, origin: MemoryOrigin) -> None:
        """Handle a note that vanished: archive its memory, unless another file contains it."""
        self._store.origins.put([origin._replace(is_gone=True)])
        self._release(origin)
        self.outcomes[RETIRED] += 1

    def _take(self, read: ReadNote, origin: MemoryOrigin | None) -> None:
        row = MemoryOrigin(self._path, read.anchor, self._program, "", read.project, read.digest)
        if origin is not None and origin == row._replace(memory=origin.memory):
            return
        same = self._same(read)
        if same is not None:
            id = self._joined(read, same)
        elif origin is not None and (memory := self._own(origin)) is not None:
            id = self._revised(memory, read)
        else:
            id = self._added(read)
        self._store.origins.put([row._replace(memory=id)])
        self._name_origins(id)
        if origin is not None and origin.memory != id:
            self._release(origin)

    def _same(self, read: ReadNote) -> str | None:
        """The id of a memory of the project with equal text, including deleted ones."""
        origins = self._store.origins.with_digests([read.digest])
        ids = [origin.memory for origin in origins if origin.project == read.project]
        known = {id: self._look_up(id) for id in dict.fromkeys(ids)}
        deleted = next((id for id, each in known.items() if each.memory is None), None)
        if deleted is not None:
            return deleted
        alike = (
            id for id, each in known.items() if each.memory and digest_of(each.memory.text) == read.digest
        )
        return next(alike, None) or self._saved(read)

    def _saved(self, read: ReadNote) -> str | None:
        """A memory with equal text that was saved here and is not private to another session."""
        where = Filter(kinds=(Kind.MEMORY,), projects=(read.project,), public_or_in="")
        memories = self._store.memories.find(where, Page())
        return next((each.id for each in memories if digest_of(each.text) == read.digest), None)

    def _joined(self, read: ReadNote, id: str) -> str:
        memory, is_archived = self._look_up(id)
        if memory is None:
            self.outcomes[FORGOTTEN] += 1
        elif is_archived:
            self._store.archive.restore_memories([id])
            self.outcomes[RETURNED] += 1
        if memory is not None and memory.trust is Trust.PROJECT and self._trust is Trust.OWN:
            self._store.memories.put([memory._replace(trust=Trust.OWN)])
        return id

    def _added(self, read: ReadNote) -> str:
        memory = Memory(
            id=self._engine.new_id(),
            text=read.note.text,
            project=read.project,
            surface=self._program,
            created_at=self._at,
            updated_at=self._at,
            summary=self._engine.summarizer.summary(read.note.text),
            category=read.note.category,
            metadata=read.note.metadata,
            trust=self._trust,
        )
        self._store.memories.put([memory])
        self.outcomes[ADDED] += 1
        return memory.id

    def _revised(self, memory: Memory, read: ReadNote) -> str:
        is_same_text = digest_of(memory.text) == read.digest
        changed = memory._replace(
            project=read.project,
            category=read.note.category,
            metadata={**memory.metadata, **read.note.metadata},
        )
        if not is_same_text:
            self._store.memories.add_former(memory)
            summary = self._engine.summarizer.summary(read.note.text)
            changed = changed._replace(text=read.note.text, summary=summary, updated_at=self._at)
            self.outcomes[CHANGED] += 1
        self._store.memories.put([changed])
        return memory.id

    def _own(self, origin: MemoryOrigin) -> Memory | None:
        """The memory of a note, if it was not edited here and no other file contains it."""
        memory, is_archived = self._look_up(origin.memory)
        others = [
            each
            for each in self._store.origins.of_memories([origin.memory])
            if not each.is_gone and (each.path, each.anchor) != (origin.path, origin.anchor)
        ]
        if memory is None or others or not _is_as_read(memory, origin):
            return None
        if is_archived:
            self._store.archive.restore_memories([memory.id])
        return memory

    def _release(self, origin: MemoryOrigin) -> None:
        """Detach a memory from a file that no longer contains it."""
        left = [each for each in self._store.origins.of_memories([origin.memory]) if not each.is_gone]
        memory, is_archived = self._look_up(origin.memory)
        if memory is None or is_archived:
            return
        if not left and _is_as_read(memory, origin):
            self._store.archive.put_memories([memory])
        else:
            self._name_origins(memory.id)

    def _name_origins(self, id: str) -> None:
        """Record in the memory's metadata the files that contain it."""
        living = [each for each in self._store.origins.of_memories([id]) if not each.is_gone]
        names = [{"program": each.program, "path": each.path} for each in living]
        names = [each for number, each in enumerate(names) if each not in names[:number]]
        for memory in self._store.memories.find(Filter(ids=(id,)), Page(limit=1)):
            if memory.metadata.get(ORIGINS) != names:
                self._store.memories.put([memory._replace(metadata={**memory.metadata, ORIGINS: names})])

    def _look_up(self, id: str) -> KnownMemory:
        where = Filter(ids=(id,))
        if live := self._store.memories.find(where, Page(limit=1)):
            return KnownMemory(live[0])
        archived = self._store.archive.find_memories(where)
        return KnownMemory(archived[0].memory, is_archived=True) if archived else KnownMemory(None)

    def _text(self, origin: MemoryOrigin) -> str:
        memory, _ = self._look_up(origin.memory)
        return "" if memory is None else memory.text


def _is_as_read(memory: Memory, origin: MemoryOrigin) -> bool:
    """True if the memory comes from a program's file and was not changed here."""
    return memory.surface in SOURCES and digest_of(memory.text) == origin.digest


def _moved(
    lost: Iterable[MemoryOrigin], new: Iterable[ReadNote], text_of: Callable[[MemoryOrigin], str]
) -> dict[str, MemoryOrigin]:
    """For the anchor of each new note, the missing note it was before: most of the line is equal, except its beginning."""
    left = list(new)
    by_digest: dict[str, MemoryOrigin] = {}
    for origin in lost:
        before = text_of(origin)[:COMPARED_CHARS]
        rated = [
            (SequenceMatcher(None, before, each.note.text[:COMPARED_CHARS]).ratio(), each.anchor)
            for each in left
        ]
        best, anchor = max(rated, default=(0.0, ""))
        if before and best >= ALIKE:
            by_digest[anchor] = origin
            left = [each for each in left if each.anchor != anchor]
    return by_digest
