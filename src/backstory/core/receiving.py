"""Memories that laptops deliver to a space of the team's server, each exactly once.

The key of a delivery is written down in the transaction that saves the memory, and stays when the memory is gone. A
laptop that did not hear our answer delivers again, and gets the same answer."""

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
        """Save a member's delivery, or propose it if changes are reviewed. It is committed when this returns.

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
                return self._repeated(delivered, author.person)
            former = self._corrected(delivered.replaces, author.person)
            if former is not None and former.private:
                # it becomes part of the author's proposal, so it waits for no decision of its own
                contribution = contribution._replace(state=ContributionState.SAVED)
                memory = self._reworded(former, delivered)
            else:
                memory = self._saved(delivered, former, author.person)
            if former is not None:
                self.engine.store.contributions.put(contribution._replace(replaces=former.id))
        self._memories.follow_up(memory)
        is_listed = memory.id == delivered.key and not memory.private
        return DeliveryReceipt(state, memory.id, is_listed)

    def _repeated(self, delivered: DeliveredMemory, person: str) -> DeliveryReceipt:
        key = delivered.key
        known = self._contribution(key, person)
        if known is None:
            raise NotAllowed("Another member has delivered with this key; nothing was saved.", field="key")
        if self._memory(key) is not None:
            return DeliveryReceipt(known.state, key, is_listed=self._visible(key) is not None)
        same = None if known.replaces else self._same(self._draft(delivered))
        return DeliveryReceipt(known.state, same.id if same else known.replaces or key, is_listed=False)

    def _corrected(self, id: str, person: str) -> Memory | None:
        """The memory that a correction of `id` changes; None if it is gone, or if nothing is corrected.

        What `id` names may be a correction itself, and then has no memory of its own, or a proposal of the same person,
        which is private."""
        steps: set[str] = set()
        while id and id not in steps:
            steps.add(id)
            if (memory := self._visible(id)) is not None:
                return memory
            known = self._contribution(id, person)
            if known is not None and known.state is ContributionState.PROPOSED:
                return self._memory(id)
            id = known.replaces if known is not None else ""
        return None

    def _contribution(self, id: str, person: str) -> Contribution | None:
        known = self.engine.store.contributions.get([id]).get(id)
        return known if known is not None and known.author == person else None

    def _reworded(self, proposal: Memory, delivered: DeliveredMemory) -> Memory:
        """Replace the text of a proposal. The former text gets no history, because it was never accepted."""
        draft = self._draft(delivered)
        memory = proposal._replace(
            text=draft.text,
            summary=draft.summary,
            category=draft.category,
            metadata={**proposal.metadata, **draft.metadata},
            updated_at=self.engine.now(),
        )
        self._memories.put(memory)
        return memory

    def _saved(self, delivered: DeliveredMemory, former: Memory | None, person: str) -> Memory:
        """Save a delivery, in the transaction that records its key."""
        if self._memory(delivered.key) is not None:
            raise InvalidInput("A memory has this key as its id; nothing was saved.", field="key")
        draft = self._draft(delivered)
        # a correction of one's own words that were dismissed or deleted meanwhile is saved as a new memory
        is_known = not delivered.replaces or self._contribution(delivered.replaces, person) is not None
        if former is None and not is_known:
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
        draft = self._memories.new(delivered.text, delivered.project or self.caller.project, None)
        return draft._replace(
            id=delivered.key,
            created_at=min(from_ms(delivered.made_ms), now),
            category=category_of(delivered.kind),
            metadata=as_metadata(map(FileMark, delivered.files)) if delivered.files else {},
        )

    def _memory(self, id: str) -> Memory | None:
        memories = self.engine.store.memories.find(Filter(ids=(id,)), Page(limit=1))
        return memories[0] if memories else None

    def _visible(self, id: str) -> Memory | None:
        where = self.caller.visible(Filter(ids=(id,), kinds=(Kind.MEMORY,)))
        memories = self.engine.store.memories.find(where, Page(limit=1))
        return memories[0] if memories else None

    def _same(self, draft: Memory) -> Memory | None:
        where = Filter(kinds=(Kind.MEMORY,), projects=(draft.project,), texts=(draft.text,))
        memories = self.engine.store.memories.find(self.caller.visible(where), Page(limit=1))
        return memories[0] if memories else None
