"""Branch a session, and merge one session into another."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from ...core import GuestPart
from ...core.authors import attribute
from ...core.merging import (
    Choice,
    MergeOutcome,
    fresh_copies,
    keep_current,
    merge_memories,
    say_the_same,
)
from ...domain.errors import InvalidInput
from ...domain.filters import Filter, Order, Page
from ...domain.records import Memory, Priority, Session

WEIGHTY = (Priority.CRITICAL, Priority.HIGH)
"""The priorities that a shallow branch copies."""


class Resolution(StrEnum):
    KEEP_CURRENT = "keep_current"
    KEEP_SOURCE = "keep_source"
    KEEP_NEWEST = "keep_newest"

    def choose(self, current: Memory, source: Memory) -> Choice:
        if say_the_same(current, source):
            return Choice.SAME
        is_newer = self is Resolution.KEEP_NEWEST and source.updated_at > current.updated_at
        return Choice.REPLACE if is_newer or self is Resolution.KEEP_SOURCE else Choice.KEEP


class Branch(NamedTuple):
    session: Session
    items: int
    files: int


class Branches(GuestPart):
    def branch(self, name: str, *, description: str, deep: bool) -> Branch:
        """Create a session with copies of the current one's important memories, or of all memories and files.

        It becomes the connection's session. Private memories stay private, in the branch; archived ones stay with
        the parent."""
        if not name.strip():
            raise InvalidInput("name is empty.", hint="Name the branch.", field="name")
        store, parent = self.engine.store, self.core.sessions.current()
        where = Filter(surfaces=(self.surface,), threads=(parent.id,), priorities=() if deep else WEIGHTY)
        now = self.engine.now()
        with store.transaction():
            session = parent._replace(
                id=self.engine.new_id(),
                name=name,
                description=description,
                surface=self.surface,
                parent=parent.id,
                created_at=now,
                updated_at=now,
            )
            store.sessions.put(session)
            mine = store.memories.find(self.caller.visible(where), Page(order=Order.OLDEST))
            arrived = merge_memories(self.engine, fresh_copies(self.engine, mine), session, keep_current)
            attribute(self.engine, self.caller, arrived.added)
            files = store.files.find(parent.id) if deep else []
            for file in files:
                store.files.put(file._replace(id=self.engine.new_id(), session=session.id))
        self.caller.session = session.id
        self.engine.embed_soon()
        return Branch(session, len(arrived.added), len(files))

    def merge(self, source: str, resolution: Resolution, categories: tuple[str, ...]) -> MergeOutcome:
        """Copy the public memories of another session into the current one. The other session is not changed."""
        origin = self.core.sessions.get(source)
        target = self.core.sessions.current()
        if origin.id == target.id:
            raise InvalidInput(
                "A session cannot be merged into itself.",
                hint="Name another session.",
                field="source",
            )
        where = Filter(surfaces=(self.surface,), threads=(origin.id,), categories=categories)
        with self.engine.store.transaction():
            theirs = self.engine.store.memories.find(self.caller.visible(where), Page(order=Order.OLDEST))
            arrived = merge_memories(
                self.engine, fresh_copies(self.engine, theirs), target, resolution.choose
            )
            attribute(self.engine, self.caller, arrived.added)
        self.engine.embed_soon()
        return arrived
