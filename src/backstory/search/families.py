"""Families: conversations with the subagents and forks that they started."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

from ..domain.filters import ConversationFilter
from ..domain.records import MINOR, ConversationOutline
from ..store import Store

FEW = 1_000
"""Up to this number, conversations are looked up one by one; for more, all are read."""


class Families(NamedTuple):
    heads: dict[str, ConversationOutline]
    """Heads of families by id; `updated_ms` is the time of the family's last message."""
    head_of: dict[str, str]
    """The head of a family, by the id of any member."""
    members_of: dict[str, list[str]]
    """The head first."""

    @classmethod
    def of(
        cls,
        store: Store,
        which: ConversationFilter,
        *,
        among: Collection[str] | None = None,
        are_apart: bool = False,
    ) -> Families:
        """The families that have a member which is asked for.

        With `among` only those with one of these ids are needed; more may come. A conversation whose parent is not
        known heads its own family; with `are_apart` every one does."""
        is_few = among is not None and len(among) <= FEW
        room = store.conversations
        asked = _by_id(room.outlines_of(among or (), which) if is_few else room.outlines(which))
        known = {} if are_apart else _with_ancestors(store, asked)
        if is_few:
            started = descendants(store, known, which)
            asked |= started
            known |= started
        # most conversations have no family
        heads = {outline.id: outline for outline in asked.values() if outline.kind not in MINOR}
        families = cls(heads, {id: id for id in heads}, {id: [id] for id in heads})
        for outline in sorted(outline for outline in asked.values() if outline.kind in MINOR):
            families._add(_head(outline, known), outline)
        return families

    def _add(self, head: ConversationOutline, member: ConversationOutline) -> None:
        if head.id not in self.heads:
            self.heads[head.id] = head
            self.head_of[head.id] = head.id
            self.members_of[head.id] = [head.id]
        if member.id != head.id:
            self.head_of[member.id] = head.id
            self.members_of[head.id].append(member.id)
            if member.updated_ms > self.heads[head.id].updated_ms:
                self.heads[head.id] = head._replace(updated_ms=member.updated_ms)

    def heads_of(self, ids: Iterable[str | None]) -> set[str]:
        return {self.head_of[id] for id in ids if id in self.head_of}

    def members(self, heads: Iterable[str]) -> list[str]:
        return [member for head in heads for member in self.members_of[head]]


def family_heads(store: Store, conversations: Collection[str]) -> dict[str, str]:
    """For each conversation the head of its family: itself, or the conversation that started it."""
    # most conversations have no family, and nothing need be read for them
    minor = _by_id(store.conversations.outlines_of(conversations, ConversationFilter(kinds=MINOR)))
    known = _with_ancestors(store, minor)
    return {id: _head(minor[id], known).id if id in minor else id for id in conversations}


def descendants(
    store: Store, of: Collection[str], which: ConversationFilter
) -> dict[str, ConversationOutline]:
    """For each of these conversations, its direct and indirect descendants that match."""
    by_id: dict[str, ConversationOutline] = {}
    latest = set(of)
    while latest:
        started = _by_id(store.conversations.outlines(which._replace(parents=tuple(sorted(latest)))))
        latest = started.keys() - by_id.keys() - set(of)
        by_id |= started
    return by_id


def _with_ancestors(store: Store, asked: dict[str, ConversationOutline]) -> dict[str, ConversationOutline]:
    """These conversations and their known ancestors."""
    known, latest = dict(asked), asked
    while latest:
        parents = {o.parent for o in latest.values() if o.parent and o.kind in MINOR}
        latest = _by_id(store.conversations.outlines_of(parents - known.keys()))
        known |= latest
    return known


def _head(outline: ConversationOutline, known: dict[str, ConversationOutline]) -> ConversationOutline:
    seen = {outline.id}  # foreign files may claim a cycle of parents
    while outline.kind in MINOR and outline.parent in known and outline.parent not in seen:
        outline = known[outline.parent]
        seen.add(outline.id)
    return outline


def _by_id(outlines: Iterable[ConversationOutline]) -> dict[str, ConversationOutline]:
    return {outline.id: outline for outline in outlines}
