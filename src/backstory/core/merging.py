"""The one way memories come into a session that may have them already: by branching, merging, restoring and importing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import Enum, auto
from itertools import count
from typing import NamedTuple

from ..domain.filters import Filter, Order, Page
from ..domain.records import Former, Memory, Session
from ..store import Store
from .engine import Engine


class Choice(Enum):
    """The handling of a key that has another value in the session."""

    KEEP = auto()
    """The session's own value stays."""
    REPLACE = auto()
    """The arriving one takes its place, and its own goes to the history."""
    RENAME = auto()
    """Both stay, the arriving one under a new key."""
    SAME = auto()
    """Both values are equal."""


Choose = Callable[[Memory, Memory], Choice]
"""Chooses between the session's own memory and the arriving one."""


class MemoryCopy(NamedTuple):
    """A memory and its former values, oldest first."""

    memory: Memory
    history: tuple[Former, ...] = ()


class MergeOutcome(NamedTuple):
    """The outcome for each arriving memory."""

    added: list[Memory]
    replaced: list[Memory]
    """Memories that replaced another value, which is now in the history."""
    refused: list[Memory]
    """Memories that were not taken, because the session's value under the key was preferred."""
    known: list[Memory]
    """Memories whose value the session already has."""


def merge_memories(
    engine: Engine, copies: Sequence[MemoryCopy], session: Session, choose: Choose
) -> MergeOutcome:
    """Merge copies of memories into a session.

    Copies retain their ids, times, channel, metadata and privacy. A value that replaces another takes its id and
    creation time and is private if either was. The caller must call `embed_soon` after its own commit."""
    store, now = engine.store, engine.now()
    # not the session's surface: another of the connection may have begun it
    surfaces = tuple({copy.memory.surface for copy in copies})
    own = Filter(surfaces=surfaces, threads=(session.id,))
    outcome = MergeOutcome([], [], [], [])
    with store.transaction():
        engine.check_room()
        present = {_place(memory): memory for memory in store.memories.find(own, Page(order=Order.OLDEST))}
        keys = {memory.key for memory in (*present.values(), *(copy.memory for copy in copies))}
        waiting: list[Memory] = []  # most have no history, and are written together
        for arriving, history in copies:
            memory = arriving._replace(session=session.id, project=session.project)
            current = present.get(_place(memory))
            if current is not None:
                choice = choose(current, memory)
                if choice is Choice.RENAME:
                    memory = memory._replace(key=_free_key(memory.key, keys))
                elif choice is Choice.SAME or _content(current) == _content(_in_place_of(current, memory)):
                    outcome.known.append(memory)
                    continue
                elif choice is Choice.KEEP:
                    outcome.refused.append(memory)
                    continue
                else:
                    store.memories.put(waiting)  # the current one may be among them
                    waiting.clear()
                    store.memories.add_former(current)
                    memory = _in_place_of(current, memory)._replace(updated_at=now)
            (outcome.replaced if memory.id == (current and current.id) else outcome.added).append(memory)
            if history:
                put_with_history(store, memory, history)
            else:
                waiting.append(memory)
            if memory.key is not None:  # two that have none may say the same at the same time
                present[memory.key] = memory
                keys.add(memory.key)
        store.memories.put(waiting)
        store.sessions.put(session._replace(updated_at=now))
    return outcome


def keep_current(current: Memory, arriving: Memory) -> Choice:
    return Choice.KEEP


def take_arriving(current: Memory, arriving: Memory) -> Choice:
    return Choice.REPLACE


def say_the_same(current: Memory, arriving: Memory) -> bool:
    """True if two memories are equal, ignoring the channel, which the session chooses."""
    return _content(current) == _content(_in_place_of(current, arriving._replace(channel=None)))


def fresh_copies(engine: Engine, memories: Iterable[Memory]) -> list[MemoryCopy]:
    """Under ids of their own, without their histories."""
    return [MemoryCopy(memory._replace(id=engine.new_id())) for memory in memories]


def put_with_history(store: Store, memory: Memory, history: Iterable[Former]) -> None:
    """The store writes a history as it happened: each former value is saved, and then replaced."""
    for former in history:
        version = memory._replace(
            text=former.text,
            category=former.category,
            priority=former.priority,
            channel=former.channel,
            metadata=former.metadata,
            private=former.private,
            updated_at=former.saved_at,
        )
        store.memories.put([version])
        store.memories.add_former(version)
    store.memories.put([memory])


def _place(memory: Memory) -> object:
    """The identity of a memory in its session: its key, or without one its text, category and creation time."""
    return memory.key if memory.key is not None else (memory.text, memory.category, memory.created_at)


def _content(m: Memory) -> object:
    return m.text, m.category, m.priority, m.channel, m.tags, dict(m.metadata), m.private


def _in_place_of(current: Memory, memory: Memory) -> Memory:
    return memory._replace(
        id=current.id,
        session=current.session,
        project=current.project,
        channel=memory.channel or current.channel,
        created_at=current.created_at,
        private=current.private or memory.private,
    )


def _free_key(key: str | None, taken: Iterable[str | None]) -> str:
    return next(free for number in count(2) if (free := f"{key}-{number}") not in taken)
