"""What forgetting removed, and what it still has to overwrite."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Receipt(NamedTuple):
    """What was removed, and from where."""

    removed: Mapping[str, int]
    """How many, by place; nothing that is 0."""
    files: tuple[str, ...] = ()
    """Handoffs that quoted it, and do so no longer."""
    pending: str = ""
    """Why bytes of it are not overwritten yet; empty when they are."""

    @property
    def memories(self) -> int:
        """Live and archived ones."""
        return self.removed.get("memories", 0) + self.removed.get("archived memories", 0)

    @property
    def notices(self) -> list[str]:
        """What the one who asked must know."""
        return [
            f"It can be found nowhere any more, but its bytes are not overwritten yet: {self.pending}"
        ] * bool(self.pending)


class Residue(NamedTuple):
    """Tables that may hold bytes of what was deleted from them."""

    tables: frozenset[str]
    moment: str
    """Of the last such deletion, in the backend's own words."""
