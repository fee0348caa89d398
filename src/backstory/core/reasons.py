"""Why a file is as it is: what was decided about it, what was tried and dropped, which errors it met, and who changed it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ..domain.filters import Filter, Kind
from ..domain.kinds import MemoryKind, kind_of
from ..domain.records import QUIET_ROLES, Conversation, Memory, Message, TraceHit
from ..search.engine import Hit
from .facet import Facet
from .search.conclusions import Conclusion, dead_ends, decisions

CONVERSATIONS = 20
"""That touched or name the file, the surest; their words are looked through."""
NEAR = 6
"""Messages on either side of one that touched or names the file: what is decided there is decided about it."""
MOST = 8


class Reasons(NamedTuple):
    memories: list[Memory]
    """That name the file, decisions first, then the newest."""
    decisions: list[Conclusion]
    dead_ends: list[Conclusion]
    errors: list[TraceHit]
    """That name the file, the newest first."""
    conversations: list[Conversation]
    """That touched or name it, the newest first."""


class Reasoning(Facet):
    def about(self, path: str, projects: tuple[str, ...] = ()) -> Reasons:
        store = self.engine.store
        hits = self._hits(path, Kind.MESSAGE, projects)[:CONVERSATIONS]
        entries = self.loaded(entry for hit in hits for entry in (hit.entry, *hit.other_places))
        places: dict[str, set[int]] = {}
        for entry in entries.values():
            if isinstance(entry, Message):
                places.setdefault(entry.conversation, set()).add(entry.seq)
        said = list(self._said_near(places))
        found = store.conversations.get(sorted({hit.conversation for hit in hits if hit.conversation}))
        return Reasons(
            self._memories(path, projects),
            _last(decisions(said, store)),
            _last(dead_ends(said)),
            self._errors(path, tuple(places)),
            sorted(found, key=lambda each: each.updated_at, reverse=True),
        )

    def _hits(self, path: str, kind: Kind, projects: tuple[str, ...]) -> list[Hit]:
        narrow = Filter(kinds=(kind,), projects=projects)
        return self.core.search.by_file(path, narrow=narrow).hits

    def _memories(self, path: str, projects: tuple[str, ...]) -> list[Memory]:
        hits = self._hits(path, Kind.MEMORY, projects)[:MOST]
        entries = self.loaded(hit.entry for hit in hits)
        found = [entry for hit in hits if isinstance(entry := entries.get(hit.entry), Memory)]
        return sorted(found, key=lambda memory: kind_of(memory) is not MemoryKind.DECISION)

    def _said_near(self, places: Mapping[str, set[int]]) -> Iterator[Message]:
        for conversation, touched in places.items():
            first, last = min(touched) - NEAR, max(touched) + NEAR
            for message in self.engine.store.messages.of(conversation, range(first, last + 1)):
                is_near = any(abs(message.seq - place) <= NEAR for place in touched)
                if is_near and message.role not in QUIET_ROLES:
                    yield message

    def _errors(self, path: str, conversations: tuple[str, ...]) -> list[TraceHit]:
        if not conversations:
            return []
        where = self.caller.visible(Filter(kinds=(Kind.MESSAGE,), threads=conversations))
        name = path.rpartition("/")[2].lower()
        found = self.engine.store.traces.find(where, kinds=("error",))
        return [hit for hit in found if name in hit.value.lower()][:MOST]


def _last(conclusions: Sequence[Conclusion]) -> list[Conclusion]:
    """Each sentence once, the newest first."""
    once = {conclusion.text: conclusion for conclusion in conclusions}
    return sorted(once.values(), key=lambda each: each.message.created_at, reverse=True)[:MOST]
