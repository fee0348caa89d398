"""Bring copies of memories into a session: from a branch's parent, another session or a checkpoint."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from ..domain.filters import Filter, Order, Page
from ..domain.records import Former, Memory, Session
from ..store import Store
from .engine import Engine

Wins = Callable[[Memory, Memory], bool]
"""Whether the arriving memory (second) takes the place of the session's own (first) under the same key."""


class MergeOutcome(NamedTuple):
    """What became of each arriving memory."""

    added: list[Memory]
    replaced: list[Memory]
    """They took the place of another value, which is in the history now."""
    refused: list[Memory]
    """Another value under the same key was kept."""
    known: list[Memory]
    """The session says the same already."""


def merge_memories(engine: Engine, memories: Sequence[Memory], session: Session, wins: Wins) -> MergeOutcome:
    """Copies keep their times, channel, metadata and whether they are private; only ids are new. What replaces
    a value keeps that one's id and time made, and is private when either was. Texts that came wait for their vectors: whoever calls says `embed_soon` after its own commit."""
    store, now = engine.store, engine.now()
    own = Filter(surfaces=(session.surface,), threads=(session.id,))
    arrived = MergeOutcome([], [], [], [])
    with store.transaction():
        engine.check_room()
        present = {_place(memory): memory for memory in store.memories.find(own, Page(order=Order.OLDEST))}
        for memory in memories:
            current = present.get(_place(memory))
            if current is None:
                copy = memory._replace(id=engine.new_id(), session=session.id, project=session.project)
                arrived.added.append(copy)
                if copy.key is not None:  # two that have none may say the same at the same time
                    present[copy.key] = copy
            elif _said(current) == _said(_in_place_of(current, memory)):
                arrived.known.append(memory)
            elif wins(current, memory):
                store.memories.add_former(current)
                arrived.replaced.append(_in_place_of(current, memory)._replace(updated_at=now))
            else:
                arrived.refused.append(memory)
        store.memories.put([*arrived.added, *arrived.replaced])
        store.sessions.put(session._replace(updated_at=now))
    return arrived


def put_with_history(store: Store, memory: Memory, history: Iterable[Former]) -> None:
    """The store writes a history as it happened: each former value is saved, and then replaced."""
    for former in history:
        said = memory._replace(
            text=former.text,
            category=former.category,
            priority=former.priority,
            channel=former.channel,
            metadata=former.metadata,
            private=former.private,
            updated_at=former.saved_at,
        )
        store.memories.put([said])
        store.memories.add_former(said)
    store.memories.put([memory])


def _place(memory: Memory) -> object:
    """Where a memory stands in its session; one without a key is only ever in its own place."""
    return memory.key if memory.key is not None else (memory.text, memory.category, memory.created_at)


def _said(m: Memory) -> object:
    return m.text, m.category, m.priority, m.channel, m.tags, dict(m.metadata), m.private


def _in_place_of(current: Memory, memory: Memory) -> Memory:
    return memory._replace(
        id=current.id,
        session=current.session,
        project=current.project,
        created_at=current.created_at,
        private=current.private or memory.private,
    )
