"""Save, find and replace memories."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from ...domain.errors import InvalidInput, NotAllowed, NotFound
from ...domain.filters import Filter, Page
from ...domain.records import Former, Memory, Priority, Session, Trust
from ..authors import attribute
from ..exclusion import Exclusion
from ..part import CallContext, CorePart
from ..sessions import Sessions


class MemoryDraft(NamedTuple):
    """A memory as the caller describes it."""

    text: str
    key: str | None = None
    category: str | None = None
    priority: Priority = Priority.NORMAL
    channel: str | None = None
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = MappingProxyType({})
    private: bool = False
    trust: Trust = Trust.OWN


class Memories(CorePart):
    def __init__(self, context: CallContext, sessions: Sessions) -> None:
        super().__init__(context)
        self._sessions = sessions

    def save(self, text: str) -> Memory:
        """Committed when this returns; its vectors and a better summary follow in the background."""
        _check_text(text)
        memory = self.new(text, self.caller.project, self.caller.session)
        self.put(memory)
        self.follow_up(memory)
        return memory

    def new(self, text: str, project: str, session: str | None) -> Memory:
        """A memory of this surface and this moment, which is in no store yet."""
        now = self.engine.now()
        return Memory(
            id=self.engine.new_id(),
            text=text,
            summary=self.engine.summarizer.summary(text),
            project=project,
            surface=self.surface,
            session=session,
            created_at=now,
            updated_at=now,
        )

    def save_item(self, draft: MemoryDraft) -> Memory:
        """Save under a key in the current session, as `put_item` does. Committed when this returns."""
        check_draft(draft)
        memory = self.put_item(draft, self._sessions.current())
        self.follow_up(memory)
        return memory

    def put_item(self, draft: MemoryDraft, session: Session) -> Memory:
        """Save an item inside the caller's transaction. The caller must call `follow_up` after it.

        If the key exists, live or archived, the memory retains its id and creation time, and the former value goes
        to its history."""
        store = self.engine.store
        memory = self.new(draft.text, session.project, session.id)._replace(
            key=draft.key,
            category=draft.category,
            priority=draft.priority,
            channel=draft.channel or session.channel,
            tags=draft.tags,
            metadata=draft.metadata,
            private=draft.private,
            trust=draft.trust,
        )
        with store.transaction():
            if former := self.present(draft.key, session.id):
                store.memories.add_former(former)
                memory = memory._replace(id=former.id, created_at=former.created_at)
            self.put(memory)
            store.sessions.put(session._replace(updated_at=memory.updated_at))
        return memory

    def present(self, key: str | None, session: str) -> Memory | None:
        """The memory that this surface has under a key in a session.

        An archived one is restored, inside the caller's transaction."""
        if not key:
            return None
        store = self.engine.store
        known = Filter(surfaces=(self.surface,), threads=(session,), keys=(key,))
        live = store.memories.find(known, Page(limit=1))
        if not live and (archived := store.archive.find_memories(known)):
            store.archive.restore_memories([archived[0].memory.id])
            return archived[0].memory
        return live[0] if live else None

    def find(self, where: Filter, page: Page) -> list[Memory]:
        """Memories of this surface that match and that the caller may see."""
        return self.engine.store.memories.find(self.own(where), page)

    def by_id(self, ids: Collection[str]) -> dict[str, Memory]:
        """The memories with these ids, of any surface, that the caller may see."""
        where = self.caller.visible(Filter(ids=tuple(ids)))
        return {each.id: each for each in self.engine.store.memories.find(where, Page())} if ids else {}

    def get(self, id: str) -> Memory:
        """The memory of any surface with exactly this id, if the caller may see it. Raises NotFound."""
        memory = self.by_id((id,)).get(id)
        if memory is None:
            raise NotFound("memory", id)
        return memory

    def history(self, memory: Memory) -> list[Former]:
        """The former values of a memory, oldest first. Private values are visible to their own session only."""
        return self.caller.visible_former(memory, self.engine.store.memories.former(memory.id))

    def replace(self, id: str, text: str) -> Memory:
        """Replace the text of a memory. It retains its id and creation time."""
        _check_text(text)
        with self.engine.store.transaction():
            memories = self.engine.store.memories.find(self._mine(id), Page(limit=1))
            if not memories:
                raise NotFound("saved text", id)
            summary = self.engine.summarizer.summary(text)
            memory = memories[0]._replace(
                text=text, summary=summary, updated_at=self.engine.now(), trust=Trust.OWN
            )
            self.put(memory)
        self.follow_up(memory)
        return memory

    def revise(
        self,
        id: str,
        text: str,
        *,
        category: str | None = None,
        metadata: Mapping[str, Any] = MappingProxyType({}),
    ) -> Memory:
        """Correct a memory of any surface. Its former value goes to its history.

        The category, and metadata fields that are not given, are unchanged. A memory that is already up to date is
        not written again."""
        _check_text(text)
        store = self.engine.store
        with store.transaction():
            former = self.get(id)
            _check_own(former)
            memory = former._replace(
                text=text,
                category=category or former.category,
                metadata={**former.metadata, **metadata},
                trust=Trust.OWN,
            )
            if memory == former:
                return memory
            summary = self.engine.summarizer.summary(text)
            memory = memory._replace(summary=summary, updated_at=self.engine.now())
            store.memories.add_former(former)
            self.put(memory)
        self.follow_up(memory)
        return memory

    def amend(self, memory: Memory, **changes: Any) -> Memory:
        """Change some fields; their former values go to the history.

        Must run inside the caller's transaction. The caller must call `follow_up` after it."""
        _check_own(memory)
        changed = memory._replace(**changes, updated_at=self.engine.now())
        if changed.text != memory.text:
            summary = self.engine.summarizer.summary(changed.text)
            changed = changed._replace(summary=summary, trust=Trust.OWN)
        self.engine.store.memories.add_former(memory)
        self.put(changed)
        return changed

    def _mine(self, id: str) -> Filter:
        return Filter(ids=(id,), surfaces=(self.surface,))

    def put(self, memory: Memory) -> None:
        """Save a memory inside the caller's transaction. The caller must call `follow_up` after it."""
        self.engine.check_room()
        if self.caller.is_local:
            Exclusion(self.engine.settings.exclude).check(memory.project)
        with self.engine.store.transaction():
            self.engine.store.memories.put([memory])
            attribute(self.engine, self.caller, [memory])

    def follow_up(self, memory: Memory) -> None:
        """Schedule the work after a commit, because other connections see the memory only then."""
        self.engine.embed_soon()
        self.engine.summarizer.improve(self.engine.store, memory)


def check_draft(draft: MemoryDraft) -> None:
    if draft.key is not None and not draft.key.strip():
        raise InvalidInput("key is empty.", hint="Nothing was saved; give the item a key.", field="key")
    _check_text(draft.text)


def _check_own(memory: Memory) -> None:
    """Raises NotAllowed for a copy from a team's space: the next reading would undo the change."""
    if memory.trust is Trust.SPACE:
        raise NotAllowed(
            f"{memory.id} belongs to a space of the team; nothing was changed.",
            hint="Correct it there: remember with replaces and space.",
        )


def _check_text(text: str) -> None:
    if not text.strip():
        raise InvalidInput(
            "text is empty.", hint="Nothing was saved; send the text to remember.", field="text"
        )
