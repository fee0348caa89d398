"""The journal: what the session feels like from inside, in the assistant's or its user's own words."""

from __future__ import annotations

from typing import NamedTuple

from ..domain.errors import InvalidInput
from ..domain.records import Memory
from .engine import Caller, Engine
from .memories import Draft, Memories

JOURNAL = "journal"
"""The category that tells a journal entry from other memories."""


class Journal(NamedTuple):
    engine: Engine
    caller: Caller
    surface: str

    def write(self, entry: str, *, tags: tuple[str, ...] = (), mood: str | None = None) -> Memory:
        """A public memory of the current session, without a key: entries never replace each other."""
        if not entry.strip():
            raise InvalidInput("entry is empty.", hint="Nothing was saved; write something.", field="entry")
        draft = Draft(text=entry, category=JOURNAL, tags=tags, metadata={"mood": mood} if mood else {})
        return Memories(self.engine, self.caller, self.surface).save_item(draft)
