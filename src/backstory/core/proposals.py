"""Proposals in a shared space whose changes are reviewed: writers propose, maintainers accept or dismiss.

A proposal is a memory that is private to no session, so the rule of privacy hides it from every search, list, brief
and export until it is accepted. Only this module gives access to it, for maintainers and for its author.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..domain.errors import NotAllowed, NotFound
from ..domain.filters import Filter, Kind, Page
from ..domain.records import Memory
from ..domain.team import Contribution, ContributionState, SpaceRole
from .memories import Memories
from .part import CallContext, CorePart

if TYPE_CHECKING:
    from .forgetting import Forgetting  # with all that forgets, which saving need not import

FEWEST_ID_CHARS = 6


class SpaceProposal(NamedTuple):
    memory: Memory
    contribution: Contribution
    former: Memory | None
    """The memory that it would correct; None for a new one."""


class Proposals(CorePart):
    def __init__(
        self, context: CallContext, memories: Memories, forgetting: Callable[[], Forgetting]
    ) -> None:
        super().__init__(context)
        self._memories = memories
        self._forgetting = forgetting

    @property
    def may_review(self) -> bool:
        return self.caller.space is not None and self.caller.space.role is SpaceRole.MAINTAINER

    def propose(self, memory: Memory, replaces: Memory | None = None) -> SpaceProposal:
        """Save a memory for maintainers to decide about. The same text again is the same proposal."""
        author = self.caller.author
        assert author is not None, "only members of a space propose"
        for each in self.pending():
            if each.contribution.author == author.person and _says_the_same(each, memory, replaces):
                return each
        contribution = Contribution(
            memory.id,
            author.person,
            author.name,
            ContributionState.PROPOSED,
            self.engine.now(),
            replaces.id if replaces else "",
        )
        hidden = memory._replace(private=True, session=None)
        with self.engine.store.transaction():
            self.engine.store.contributions.put(contribution)
            self._memories.put(hidden)
        self._memories.follow_up(hidden)
        return SpaceProposal(hidden, contribution, replaces)

    def pending(self) -> list[SpaceProposal]:
        """Waiting proposals, oldest first: all for a maintainer, the caller's own for other callers."""
        if self.caller.space is None:
            return []
        person = self.caller.author.person if self.caller.author else ""
        waiting = self.engine.store.contributions.proposed(None if self.may_review else person)
        ids = tuple({id for each in waiting for id in (each.memory, each.replaces) if id})
        if not ids:
            return []
        where = Filter(ids=ids, kinds=(Kind.MEMORY,))
        memories = {each.id: each for each in self.engine.store.memories.find(where, Page())}
        return [
            SpaceProposal(memories[each.memory], each, memories.get(each.replaces))
            for each in waiting
            if each.memory in memories
        ]

    def get(self, id: str) -> SpaceProposal:
        """The proposal with this id or beginning of an id. Raises NotFound."""
        chosen = self.find(id)
        if chosen is None:
            raise NotFound("proposal", id, hint='recall with kind "proposal" lists pending proposals.')
        return chosen

    def find(self, id: str) -> SpaceProposal | None:
        pending = self.pending()
        named = [each for each in pending if each.memory.id == id]
        if not named and len(id) >= FEWEST_ID_CHARS:
            named = [each for each in pending if each.memory.id.startswith(id)]
        return named[0] if len(named) == 1 else None

    def accept(self, id: str) -> Memory:
        """Turn a proposal into a memory of the space; a correction replaces the original. Raises NotAllowed, NotFound."""
        proposal = self._reviewed(id)
        now = self.engine.now()
        with self.engine.store.transaction():
            former = self._current(proposal.former)
            self._decide(proposal, ContributionState.ACCEPTED)
            if former is None:
                memory = proposal.memory._replace(private=False, updated_at=now)
                self._memories.put(memory)
            else:
                memory = self._memories.amend(
                    former,
                    text=proposal.memory.text,
                    category=proposal.memory.category,
                    metadata={**former.metadata, **proposal.memory.metadata},
                )
                self.engine.store.memories.delete(Filter(ids=(proposal.memory.id,)))
        self._memories.follow_up(memory)
        return memory

    def dismiss(self, id: str) -> Memory:
        """Set it aside; it can be restored for as long as a forgotten memory. Its author may withdraw it, too."""
        proposal = self.get(id)
        with self.engine.store.transaction():
            self._decide(proposal, ContributionState.DISMISSED)
            self._forgetting().set_aside(lambda: [proposal.memory])
        return proposal.memory

    def _reviewed(self, id: str) -> SpaceProposal:
        if not self.may_review:
            raise NotAllowed(
                "Only maintainers of the space accept proposals; nothing was changed.",
                hint="Ask one of them.",
            )
        return self.get(id)

    def _current(self, former: Memory | None) -> Memory | None:
        """The memory to correct as of this transaction; None if it was deleted, and the proposal becomes a new memory."""
        if former is None:
            return None
        memories = self.engine.store.memories.find(Filter(ids=(former.id,)), Page(limit=1))
        return memories[0] if memories else None

    def _decide(self, proposal: SpaceProposal, state: ContributionState) -> None:
        """Record a decision. Raises NotFound if another maintainer was faster."""
        reviewer = self.caller.author.name if self.caller.author else ""
        room = self.engine.store.contributions
        if not room.decide(proposal.memory.id, state, reviewer, self.engine.now()):
            raise NotFound("proposal", proposal.memory.id, hint="It was accepted or dismissed meanwhile.")


def _says_the_same(proposal: SpaceProposal, memory: Memory, replaces: Memory | None) -> bool:
    other = proposal.memory
    is_same_target = proposal.contribution.replaces == (replaces.id if replaces else "")
    return is_same_target and (other.text, other.project) == (memory.text, memory.project)


def listed(proposals: Sequence[SpaceProposal], words: Sequence[str]) -> list[SpaceProposal]:
    """Proposals that contain one of the words first; the others follow in order."""
    lowered = [word.lower() for word in words]
    return sorted(proposals, key=lambda each: not any(word in each.memory.text.lower() for word in lowered))
