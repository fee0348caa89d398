"""Memories that laptops deliver to a space of the team's server, each exactly once.

The key of a delivery is written down in the transaction that saves the memory, and stays when the memory is gone. A laptop that
did not hear our answer delivers again, and gets the same answer."""

from __future__ import annotations

from ..domain.errors import InvalidInput, NotAllowed, NotFound
from ..domain.filters import Filter, Kind, Page
from ..domain.kinds import category_of
from ..domain.metadata import FileMark, as_metadata
from ..domain.records import Memory
from ..domain.scopes import Scope
from ..domain.team import Contribution, ContributionState
from ..domain.when import from_ms
from .memories import Memories
from .part import CallContext, CorePart
from .remembering import checked_text
from .team.space_wire import DeliveredMemory, DeliveryReceipt


class Receiving(CorePart):
    def __init__(self, context: CallContext, memories: Memories) -> None:
        super().__init__(context)
        self._memories = memories

    def accept(self, delivered: DeliveredMemory) -> DeliveryReceipt:
        """Save what a member delivers, or propose it where changes are reviewed. Committed when this returns.

        Raises InvalidInput, NotAllowed, NotFound and StorageFull, and then nothing was saved."""
        self.caller.check_scope(Scope.WRITE)
        author = self.caller.author
        if author is None:
            raise NotAllowed("Only members of a space deliver to it.")
        delivered = delivered._replace(text=checked_text(delivered.text))
        state = ContributionState.PROPOSED if self.caller.proposes else ContributionState.SAVED
        contribution = Contribution(
            delivered.key, author.person, author.name, state, self.engine.now(), delivered.replaces
        )
        with self.engine.store.transaction():
            if not self.engine.store.contributions.add(contribution):
                return self._repeated(delivered.key, author.person)
            memory = self._saved(delivered)
        self._memories.follow_up(memory)
        is_listed = memory.id == delivered.key and not memory.private
        return DeliveryReceipt(state, memory.id, is_listed)

    def _repeated(self, key: str, person: str) -> DeliveryReceipt:
        known = self.engine.store.contributions.get([key])[key]
        if known.author != person:
            raise NotAllowed("Another member has delivered with this key; nothing was saved.", field="key")
        return DeliveryReceipt(known.state, known.replaces or key, is_listed=self._visible(key) is not None)

    def _saved(self, delivered: DeliveredMemory) -> Memory:
        """In the transaction of the delivery's key."""
        store = self.engine.store
        if store.memories.find(Filter(ids=(delivered.key,)), Page(limit=1)):
            raise InvalidInput("A memory has this key as its id; nothing was saved.", field="key")
        draft = self._draft(delivered)
        former = self._visible(delivered.replaces) if delivered.replaces else None
        if delivered.replaces and former is None:
            raise NotFound("memory", delivered.replaces, hint="It was deleted; deliver this as a new one.")
        if self.caller.proposes:
            hidden = draft._replace(private=True)
            self._memories.put(hidden)
            return hidden
        if former is not None:
            return self._memories.amend(
                former,
                text=draft.text,
                category=draft.category,
                metadata={**former.metadata, **draft.metadata},
            )
        if (known := self._same(draft)) is not None:
            return known
        self._memories.put(draft)
        return draft

    def _draft(self, delivered: DeliveredMemory) -> Memory:
        now = self.engine.now()
        made = self._memories.new(delivered.text, delivered.project or self.caller.project, None)
        return made._replace(
            id=delivered.key,
            created_at=min(from_ms(delivered.made_ms), now),
            category=category_of(delivered.kind),
            metadata=as_metadata(map(FileMark, delivered.files)) if delivered.files else {},
        )

    def _visible(self, id: str) -> Memory | None:
        where = self.caller.visible(Filter(ids=(id,), kinds=(Kind.MEMORY,)))
        memories = self.engine.store.memories.find(where, Page(limit=1))
        return memories[0] if memories else None

    def _same(self, draft: Memory) -> Memory | None:
        where = Filter(kinds=(Kind.MEMORY,), projects=(draft.project,), texts=(draft.text,))
        memories = self.engine.store.memories.find(self.caller.visible(where), Page(limit=1))
        return memories[0] if memories else None
