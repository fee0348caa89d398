"""The journal: how a session feels from the inside, in the words of the assistant or its user."""

from __future__ import annotations

from ...core import GuestPart
from ...core.memories import MemoryDraft
from ...domain.categories import JOURNAL
from ...domain.errors import InvalidInput
from ...domain.records import Memory


class Journal(GuestPart):
    def write(self, entry: str, *, tags: tuple[str, ...] = (), mood: str | None = None) -> Memory:
        """Save a public memory of the current session without a key, because entries never replace each other."""
        if not entry.strip():
            raise InvalidInput("entry is empty.", hint="Nothing was saved; write something.", field="entry")
        draft = MemoryDraft(text=entry, category=JOURNAL, tags=tags, metadata={"mood": mood} if mood else {})
        return self.core.memories.save_item(draft)
