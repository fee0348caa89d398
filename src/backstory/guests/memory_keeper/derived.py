"""Data that Memory Keeper stores and that may quote memories: links, and records of changes and deletions."""

from __future__ import annotations

from ...core.derived import DerivedChange, ForgottenMemories
from ...store import Store


class LinkDerivation:
    name = "links"

    def forget(self, store: Store, memories: ForgottenMemories) -> DerivedChange:
        return DerivedChange(store.links.delete_at(sorted(memories.ids)))


class ChangeDerivation:
    name = "noted changes"

    def forget(self, store: Store, memories: ForgottenMemories) -> DerivedChange:
        return DerivedChange(store.changes.forget(sorted(memories.ids)))


derivations = (LinkDerivation(), ChangeDerivation())
