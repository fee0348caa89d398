"""Conversations with the subagents and forks that they started, which speak for them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

from ...domain.filters import ConversationFilter
from ...domain.records import MINOR, ConversationOutline
from ...store import Store

FEW = 1_000
"""So many are looked up one by one; to find more, all are read."""


class Families(NamedTuple):
    heads: dict[str, ConversationOutline]
    """By id; `updated_ms` is that of whoever of the family spoke last."""
    head_of: dict[str, str]
    """By any member's id."""
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
        """The families that have a member which is asked for. With `among` only those with one of these ids are needed; more may
        come. A conversation whose parent is not known heads its own family; with `are_apart` every one does."""
        if among is not None and len(among) <= FEW:
            asked = store.conversations.outlines_of(among, which)
            if not are_apart:
                asked = _with_families(store, which, asked)
        else:
            asked = store.conversations.outlines(which)
        known = {outline.id: outline for outline in asked}
        if not are_apart:
            _add_parents(store, known)
        families = cls({}, {}, {})
        for outline in sorted(asked):
            families._add(outline if are_apart else _head(outline, known), outline)
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


def _with_families(
    store: Store, which: ConversationFilter, asked: list[ConversationOutline]
) -> list[ConversationOutline]:
    """With all that the same conversations started."""
    known = {outline.id: outline for outline in asked}
    _add_parents(store, known)
    ids = {outline.id for outline in asked}
    heads = set(known)
    while heads:
        more = [
            outline
            for outline in store.conversations.outlines(which._replace(parents=tuple(sorted(heads))))
            if outline.id not in ids
        ]
        asked = [*asked, *more]
        heads = {outline.id for outline in more}
        ids |= heads
    return asked


def _add_parents(store: Store, known: dict[str, ConversationOutline]) -> None:
    asked: set[str] = set()
    while (
        missing := {o.parent for o in known.values() if o.parent and o.kind in MINOR} - known.keys() - asked
    ):
        asked |= missing
        known |= {o.id: o for o in store.conversations.outlines_of(missing)}


def _head(outline: ConversationOutline, known: dict[str, ConversationOutline]) -> ConversationOutline:
    seen = {outline.id}
    while outline.kind in MINOR and outline.parent in known and outline.parent not in seen:
        outline = known[outline.parent]
        seen.add(outline.id)
    return outline
