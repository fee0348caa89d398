"""Store memories of other programs once, with their earlier versions, and without overriding the user's changes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from functools import partial
from hashlib import sha256
from typing import NamedTuple

from ..core.engine import Engine
from ..core.merging import put_with_history
from ..domain.filters import Filter, Page
from ..domain.records import Former, Memory, Trust
from ..domain.sources import ImportedRecord
from .contents import ForeignMemory
from .counts import Fate, Skip
from .owners import Owners

ASIDE = "-"
"""Suffix of the digest of records that an import itself archived."""
_COMPARED = 500
"""Number of characters to compare. More would be slower without better results."""


class ImportSource(NamedTuple):
    """The importer, and the store that it reads."""

    importer: str
    store: str
    realm: str = ""
    """Prefix that separates the places of this store from those of other stores; "" if they are globally unique."""

    def id_of(self, place: str) -> str:
        parts = (self.importer, self.realm, place)
        return sha256("\n".join(parts).encode("utf-8", "replace")).hexdigest()[:24]


class ArrivingMemory(NamedTuple):
    """A record together with the stored memory, if there is one."""

    record: ForeignMemory
    memory: Memory
    known: ImportedRecord | None
    present: Memory | None
    is_archived: bool

    @property
    def digest(self) -> str:
        return digest_of(self.memory) + (ASIDE if self.record.is_deleted else "")

    @property
    def is_plain(self) -> bool:
        """True if there is only the memory itself, without earlier versions here or in the other store."""
        return self.present is None and not self.record.history and not self.record.is_deleted

    def fate(self) -> Fate | Skip:
        if self.known is None and self.present is None:
            return Fate.NEW
        if self.present is None:
            return Skip.DELETED_HERE
        before = digest_of(self.present) if self.known is None else self.known.digest
        if before == self.digest:
            return Fate.UNCHANGED
        return Fate.UPDATED if digest_of(self.present) == before.rstrip(ASIDE) else Skip.CHANGED_HERE


class MemoryArrival:
    """Stores memories. All changes run in the caller's transactions."""

    def __init__(self, engine: Engine, source: ImportSource, owners: Owners) -> None:
        self._engine = engine
        self._store = engine.store
        self._source = source
        self._owners = owners

    def beside(self, records: Sequence[ForeignMemory]) -> list[ArrivingMemory]:
        """Pair each record with the stored data about it."""
        memories = [self._memory(record) for record in records]
        ids = [memory.id for memory in memories]
        known = self._store.imports.get(ids)
        live, archived = self._present(ids)
        return [
            ArrivingMemory(
                record,
                memory,
                known.get(memory.id),
                live.get(memory.id) or archived.get(memory.id),
                memory.id in archived,
            )
            for record, memory in zip(records, memories, strict=True)
        ]

    def put(self, arriving: Sequence[ArrivingMemory]) -> None:
        """Store the records that are new or updated."""
        plain = [each for each in arriving if each.is_plain]
        self._store.memories.put([each.memory for each in plain])
        for each in arriving:
            if not each.is_plain:
                self._put_with_past(each)
        self._store.imports.put([self._row(each) for each in arriving])

    def _put_with_past(self, arriving: ArrivingMemory) -> None:
        record, memory, _, present, is_archived = arriving
        history: Iterable[Former] = record.history
        if present is not None:
            if is_archived:
                self._store.archive.restore_memories([memory.id])
            memory = memory._replace(created_at=present.created_at)
            if digest_of(memory) != digest_of(present):
                self._store.memories.add_former(present)
            texts = {present.text, *(former.text for former in self._store.memories.former(memory.id))}
            history = [former for former in record.history if former.text not in texts]
        put_with_history(self._store, memory, history)
        if record.is_deleted:
            self._store.archive.put_memories([memory])

    def former_statements(self, part: str, seen: Iterable[str]) -> list[Memory]:
        """Return live memories that were imported as statements on the same subject and are no longer in the store."""
        gone = {row.id for row in self._store.imports.of_part(self._part(part))} - set(seen)
        return sorted(self._present(sorted(gone))[0].values(), key=lambda memory: memory.id)

    def supersede(self, former: Memory, by: Memory) -> None:
        """Archive the former memory, and add it to the history of its replacement."""
        version = Former(
            former.text,
            former.category,
            former.priority,
            former.channel,
            former.metadata,
            former.updated_at,
            former.private,
        )
        put_with_history(self._store, by, [version])
        self._store.archive.put_memories([former])
        known = self._store.imports.get([former.id])[former.id]
        self._store.imports.put([known._replace(digest=known.digest.rstrip(ASIDE) + ASIDE)])

    def _memory(self, record: ForeignMemory) -> Memory:
        return Memory(
            id=self._source.id_of(record.place),
            text=record.text,
            project=self._owners.project_of(record.project),
            surface=self._source.importer,
            created_at=record.created_at,
            updated_at=record.updated_at,
            summary=self._engine.summarizer.summary(record.text),
            key=record.key,
            category=record.category,
            priority=record.priority,
            channel=record.channel,
            tags=record.tags,
            session=None if record.session is None else self._source.id_of(record.session),
            private=record.private,
            metadata=record.metadata,
            trust=Trust.IMPORTED,
        )

    def _present(self, ids: Sequence[str]) -> tuple[dict[str, Memory], dict[str, Memory]]:
        """Return the live and the archived memories with these ids."""
        if not ids:
            return {}, {}
        where = Filter(ids=tuple(ids))
        live = self._store.memories.find(where, Page())
        archived = self._store.archive.find_memories(where)
        return {each.id: each for each in live}, {each.memory.id: each.memory for each in archived}

    def _row(self, arriving: ArrivingMemory) -> ImportedRecord:
        source, (record, memory, *_) = self._source, arriving
        part = self._part(record.part) if record.part else ""
        return ImportedRecord(
            memory.id, source.importer, source.store, record.place, part, arriving.digest, self._engine.now()
        )

    def _part(self, part: str) -> str:
        return self._source.id_of(f"part\n{part}")


def digest_of(memory: Memory) -> str:
    """Return a digest of a memory's content.

    Its project, session and times may change independently and are left out."""
    content = (
        memory.text, memory.key, memory.category, memory.priority, memory.channel, list(memory.tags),
        dict(memory.metadata), memory.private,
    )  # fmt: skip
    return sha256(json.dumps(content, sort_keys=True, default=str).encode("utf-8", "replace")).hexdigest()[
        :32
    ]


def pairs(former: Sequence[Memory], new: Sequence[Memory]) -> Mapping[str, Memory]:
    """Map each former statement to the most similar new one. Each new one is used once."""
    left = list(new)
    by_text: dict[str, Memory] = {}
    for each in former:
        if left:
            by_text[each.id] = max(left, key=partial(_likeness, each))
            left.remove(by_text[each.id])
    return by_text


def _likeness(one: Memory, other: Memory) -> float:
    return SequenceMatcher(None, one.text[:_COMPARED], other.text[:_COMPARED]).ratio()
