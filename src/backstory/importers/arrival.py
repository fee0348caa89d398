"""Store the records of another program's store, a hundred per transaction.

Records that were imported before are recognized by their id: importing again changes nothing, and an interrupted import
is simply repeated. Records that the user deleted here do not come back; records that the user changed here stay
changed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from hashlib import sha256
from itertools import islice
from typing import NamedTuple

from ..core.calls import Call
from ..core.engine import Engine
from ..domain.checkpoints import CachedFile, Checkpoint
from ..domain.filters import ConversationFilter, Filter
from ..domain.links import MemoryLink
from ..domain.records import ArchivedConversation, Memory, Session, Trust
from ..domain.sources import ImportedRecord
from .cleaning import Cleaning
from .contents import (
    ForeignCheckpoint,
    ForeignConversation,
    ForeignFile,
    ForeignLink,
    ForeignMemory,
    ForeignSession,
    Record,
    UnplacedRecords,
)
from .counts import Fate, ImportTally, Outcome, Skip
from .memories import ImportSource, MemoryArrival, pairs
from .owners import Owners

AT_ONCE = 100
"""Number of records per transaction. Other writers wait for it."""


class Choices(NamedTuple):
    dry_run: bool = False
    """Count, but change nothing."""
    with_deleted: bool = False


class Arrival:
    """The import of one store."""

    def __init__(
        self, engine: Engine, source: ImportSource, title: str, owners: Owners, choices: Choices, call: Call
    ) -> None:
        self._engine = engine
        self._store = engine.store
        self._source = source
        self._title = title
        self._owners = owners
        self._choices = choices
        self._call = call
        self._cleaning = Cleaning(engine.settings.redaction)
        self._memories = MemoryArrival(engine, source, owners)
        self._tally = ImportTally()
        self._seen: set[str] = set()
        self._sessions: dict[str, Session] = {}
        self._new_statements: dict[str, list[Memory]] = {}

    def keep(self, records: Iterable[Record]) -> Outcome:
        stream = iter(records)
        count = 0
        while some := list(islice(stream, AT_ONCE)):
            self._call.raise_if_cancelled()
            clean = [self._cleaning.record(record) for record in some]
            self._engine.check_room()
            with self._changing():
                for together in _runs(clean):
                    self._take(together)
            count += len(some)
            self._call.progress(count, None, f"Importing from {self._title}")
        with self._changing():
            superseded = sum(self._supersede(part, new) for part, new in self._new_statements.items())
        if not self._choices.dry_run:
            self._engine.embed_soon()
        return Outcome(self._tally.kinds, self._cleaning.redacted, superseded, self._owners.unmapped)

    def _changing(self) -> AbstractContextManager[None]:
        """Open a transaction, except for a dry run, which must not block other writers."""
        return nullcontext() if self._choices.dry_run else self._store.transaction()

    def _take(self, records: list[Record]) -> None:
        memories = [record for record in records if isinstance(record, ForeignMemory)]
        self._take_memories(memories)
        for record in records:
            match record:
                case ForeignSession():
                    self._take_session(record)
                case ForeignConversation():
                    self._take_conversation(record)
                case ForeignFile():
                    self._take_file(record)
                case ForeignCheckpoint():
                    self._take_checkpoint(record)
                case ForeignLink():
                    self._take_link(record)
                case UnplacedRecords():
                    self._tally.add(record.kind, record.reason, times=record.times)

    def _take_memories(self, records: list[ForeignMemory]) -> None:
        wanted = []
        for arriving in self._memories.beside(records):
            record, memory = arriving.record, arriving.memory
            fate: Fate | str = arriving.fate()
            if memory.id in self._seen:
                fate = Skip.TWICE
            elif not record.text.strip():
                fate = Skip.EMPTY
            elif record.is_deleted and not self._choices.with_deleted:
                fate = f"deleted in {self._title}"
            self._tally.add(record.kind, fate, record.text)
            self._seen.add(memory.id)
            if fate in (Fate.NEW, Fate.UPDATED) and not self._choices.dry_run:
                wanted.append(arriving)
            if fate is Fate.NEW and record.part:
                self._new_statements.setdefault(record.part, []).append(memory)
        self._memories.put(wanted)

    def _supersede(self, part: str, new: list[Memory]) -> int:
        former = self._memories.former_statements(part, self._seen)
        matches = pairs(former, new)
        for each in former:
            if each.id in matches and not self._choices.dry_run:
                self._memories.supersede(each, matches[each.id])
        return len(matches)

    def _take_session(self, record: ForeignSession) -> None:
        session = Session(
            id=self._source.id_of(record.place),
            name=record.name,
            project=self._owners.project_of(record.project),
            surface=self._source.importer,
            created_at=record.created_at,
            updated_at=record.updated_at,
            channel=record.channel,
            description=record.description,
            parent=None if record.parent is None else self._source.id_of(record.parent),
        )
        self._sessions[record.place] = session
        known = self._store.sessions.get(session.id)
        if known is not None:
            # the session may have continued here since
            session = session._replace(updated_at=max(session.updated_at, known.updated_at))
        fate = Fate.NEW if known is None else Fate.UNCHANGED if known == session else Fate.UPDATED
        self._tally.add("sessions", fate, session.name)
        if fate is not Fate.UNCHANGED and not self._choices.dry_run:
            self._store.sessions.put(session)

    def _take_conversation(self, record: ForeignConversation) -> None:
        row = record.conversation
        known = self._store.conversations.get([row.id])
        archived = [each.conversation for each in self._archived((row.id,))]
        trust = next((before.trust for before in (*known, *archived)), Trust.IMPORTED)
        row = row._replace(project=self._owners.project_of(row.project), trust=trust)
        messages = [
            message._replace(project=row.project, trust=row.trust_of(message.role))
            for message in record.messages
        ]
        texts = self._store.messages.texts([message.id for message in messages])
        if archived and not known:
            texts = {message.id: message.text for message in self._store.archive.messages(row.id)}
        # a file may contain only the beginning of a text, and an older archive an older version
        news = [each for each in messages if not texts.get(each.id, "").startswith(each.text or "-")]
        fate: Fate | Skip = Fate.UPDATED if known or archived else Fate.NEW
        if not messages:
            fate = Skip.EMPTY
        elif self._store.sync.forgotten((row.id, *record.also)):
            fate = Skip.DELETED_HERE
        elif self._store.conversations.get(record.also) or self._archived(record.also):
            fate = Skip.ALREADY_READ
        elif fate is Fate.UPDATED and not news:
            fate = Fate.UNCHANGED
        self._tally.add(record.kind, fate, row.title)
        if fate not in (Fate.NEW, Fate.UPDATED) or self._choices.dry_run:
            return
        if archived and not known:
            self._store.archive.restore_conversations([row.id])
        for before in known or archived:
            row = before._replace(updated_at=max(row.updated_at, before.updated_at))
        ids = {message.id for message in news}
        traces = [trace for trace in record.traces if trace.message in ids]
        self._store.conversations.add(row, news, traces)

    def _archived(self, ids: tuple[str, ...]) -> list[ArchivedConversation]:
        return self._store.archive.find_conversations(ConversationFilter(ids=ids)) if ids else []

    def _take_file(self, record: ForeignFile) -> None:
        file = self._cached(record)
        present = self._store.files.get(file.session, file.path)
        fate = self._fate(file.id, file.hash, None if present is None else present.hash)
        self._tally.add("cached files", fate, file.path)
        if fate in (Fate.NEW, Fate.UPDATED) and not self._choices.dry_run:
            self._store.files.put_blobs([record.content.encode()])
            self._store.files.put(file)
            self._note(file.id, record.place, file.hash)

    def _cached(self, record: ForeignFile) -> CachedFile:
        session = self._sessions.get(record.session)
        content = record.content.encode()
        return CachedFile(
            id=self._source.id_of(record.place),
            session=self._source.id_of(record.session),
            path=os.path.normpath(os.path.join(session.project if session else "", record.path)),
            hash=sha256(content).hexdigest(),
            size=len(content),
            metadata={},
            cached_at=record.cached_at,
        )

    def _take_checkpoint(self, record: ForeignCheckpoint) -> None:
        """Store a checkpoint. Checkpoints never change, and an existing one is left as it is."""
        id, session = self._source.id_of(record.place), self._source.id_of(record.session)
        present = self._store.checkpoints.find(self._source.importer, id=id)
        fate = self._fate(id, id, id if present else None)
        self._tally.add("checkpoints", fate, record.name)
        if fate is not Fate.NEW or self._choices.dry_run:
            return
        memories = Filter(ids=tuple(map(self._source.id_of, record.memories)) or (id,))
        cached = [self._store.files.get(session, self._cached(file).path) for file in record.files]
        files = [file for file in cached if file is not None]
        copy = self._store.checkpoints.copy(memories, files)
        self._store.checkpoints.put(
            Checkpoint(
                id=id,
                name=record.name,
                description=record.description,
                session=session,
                project=self._sessions[record.session].project if record.session in self._sessions else "",
                surface=self._source.importer,
                root=copy.root,
                items=copy.items,
                files=len(files),
                git_branch=record.git_branch,
                git_status=record.git_status,
                created_at=record.created_at,
            )
        )
        self._note(id, record.place, id)

    def _take_link(self, record: ForeignLink) -> None:
        id, source, target = map(self._source.id_of, (record.place, record.source, record.target))
        present = self._store.links.get(source, target, record.relationship)
        fate: Fate | str = self._fate(id, id, id if present else None)
        ends = {source, target}
        is_complete = ends <= self._seen if self._choices.dry_run else self._has(ends)
        if fate is Fate.NEW and not is_complete:
            fate = "one of the two is not here"
        self._tally.add("relations", fate, record.relationship)
        if fate is Fate.NEW and not self._choices.dry_run:
            created_at = record.created_at
            self._store.links.put(
                MemoryLink(id, source, target, record.relationship, created_at, created_at, record.metadata)
            )
            self._note(id, record.place, id)

    def _has(self, memories: set[str]) -> bool:
        return self._store.entries.count(Filter(ids=tuple(memories))) == len(memories)

    def _fate(self, id: str, digest: str, present: str | None) -> Fate | Skip:
        """Decide what happens to a record other than a memory.

        Compares its digest with the digest at its last import and the digest of the record stored here."""
        known = self._store.imports.get([id]).get(id)
        if present is None:
            return Fate.NEW if known is None else Skip.DELETED_HERE
        if digest == present or (known is not None and known.digest == digest):
            return Fate.UNCHANGED
        return Fate.UPDATED if known is not None and known.digest == present else Skip.CHANGED_HERE

    def _note(self, id: str, place: str, digest: str) -> None:
        source = self._source
        self._store.imports.put(
            [ImportedRecord(id, source.importer, source.store, place, "", digest, self._engine.now())]
        )


def _runs(records: Iterable[Record]) -> Iterator[list[Record]]:
    """Group consecutive memories, which are looked up together. Records that follow them find them already stored."""
    run: list[Record] = []
    for record in records:
        if run and isinstance(record, ForeignMemory) != isinstance(run[-1], ForeignMemory):
            yield run
            run = []
        run.append(record)
    if run:
        yield run
