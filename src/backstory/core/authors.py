"""Authors of the memories in a shared space. On the user's own machine nothing is written down."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..domain.records import Memory, Trust
from ..domain.shared_notes import source_of
from ..domain.team import Contribution, ContributionState
from .engine import Caller, Engine


def attribute(engine: Engine, caller: Caller, memories: Iterable[Memory]) -> None:
    """Name the caller as the author of memories that have none yet. For the transaction that saves them."""
    if caller.author is None or caller.space is None:
        return
    for memory in memories:
        engine.store.contributions.add(
            Contribution(
                memory.id,
                caller.author.person,
                caller.author.name,
                ContributionState.SAVED,
                engine.now(),
            )
        )


def author_names(engine: Engine, caller: Caller, memories: Iterable[Memory]) -> dict[str, str]:
    """Authors of memories that the team shares, by memory id; for a copy on the user's own machine with its space.

    Memories that the caller wrote in the space it calls are left out."""
    listed = list(memories)
    sources = {memory.id: source_of(memory) for memory in listed}
    names = {id: source.author for id, source in sources.items() if source}
    names |= _names_in_spaces(engine, [memory.id for memory in listed if memory.trust is Trust.SPACE])
    if caller.space is None:
        return names
    person = caller.author.person if caller.author else ""
    known = engine.store.contributions.get(memory.id for memory in listed)
    return names | {id: each.author_name for id, each in known.items() if each.author != person}


def author_name(engine: Engine, caller: Caller, memory: Memory) -> str:
    """The author of a memory that a team shares, even if it is the caller; empty for one's own."""
    known = engine.store.contributions.get([memory.id]) if caller.space else {}
    if memory.id in known:
        return known[memory.id].author_name
    source = source_of(memory)
    return source.author if source else ""


def _names_in_spaces(engine: Engine, copies: Sequence[str]) -> dict[str, str]:
    if not copies:
        return {}
    known = engine.store.space_copies.get(copies)
    return {id: f"{copy.author or 'you'} in {copy.space}" for id, copy in known.items()}
