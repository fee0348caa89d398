"""Why a file is as it is: what was decided about it, what was tried and dropped, which errors it met, and who changed it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ..domain.filters import Filter, Kind, Page
from ..domain.kinds import MemoryKind, kind_of
from ..domain.paths import PathMatch, match_in_text
from ..domain.records import Conversation, Memory, Message, TraceHit
from ..domain.shared_notes import SURFACE, matches_path, source_of
from ..domain.statements import Statement, StatementKind
from ..search.engine import Hit
from .ask import Ask, Inquiry
from .part import CallContext, CorePart
from .state import ProjectStates

MAX_CONVERSATIONS = 20
"""That touched or name the file, the surest; their statements are looked through."""
NEAR_MESSAGES = 6
"""On either side of one that touched or names the file: what is decided there is decided about it."""
MAX_LISTED = 8


class Reasons(NamedTuple):
    memories: list[Memory]
    """That name the file, decisions first, then the newest."""
    decisions: list[Statement]
    """Also those that were superseded, the newest first."""
    dropped: list[Statement]
    errors: list[TraceHit]
    """That name the file, the newest first."""
    conversations: list[Conversation]
    """That touched or name it, the newest first."""


class Reasoning(CorePart):
    def __init__(self, context: CallContext, ask: Ask, states: ProjectStates) -> None:
        super().__init__(context)
        self._ask = ask
        self._states = states

    def about(self, path: str, projects: tuple[str, ...] | None = None) -> Reasons:
        """What these projects know of a file; without any, the caller's own. An empty tuple means all."""
        store = self.engine.store
        projects = (self.caller.project,) if projects is None else projects
        hits = self._hits(path, Kind.MESSAGE, projects)[:MAX_CONVERSATIONS]
        entries = self.load(entry for hit in hits for entry in (hit.entry, *hit.other_places))
        places: dict[str, set[int]] = {}
        for entry in entries.values():
            if isinstance(entry, Message):
                places.setdefault(entry.conversation, set()).add(entry.seq)
        conversations = store.conversations.get(
            sorted({hit.conversation for hit in hits if hit.conversation})
        )
        stated = self._stated_near(places, {each.project for each in conversations})
        return Reasons(
            self._memories(path, projects),
            _last(stated, StatementKind.DECISION, StatementKind.PREFERENCE),
            _last(stated, StatementKind.DROPPED),
            self._errors(path, tuple(places)),
            sorted(conversations, key=lambda each: each.updated_at, reverse=True),
        )

    def _hits(self, path: str, kind: Kind, projects: tuple[str, ...]) -> list[Hit]:
        narrow = Filter(kinds=(kind,), projects=projects)
        return self._ask.find(Inquiry(file=path, where=narrow)).hits

    def _memories(self, path: str, projects: tuple[str, ...]) -> list[Memory]:
        hits = self._hits(path, Kind.MEMORY, projects)[:MAX_LISTED]
        entries = self.load(hit.entry for hit in hits)
        named = [entry for hit in hits if isinstance(entry := entries.get(hit.entry), Memory)]
        memories = list({memory.id: memory for memory in (*named, *self._shared(path, projects))}.values())
        return sorted(memories, key=lambda memory: kind_of(memory) is not MemoryKind.DECISION)

    def _shared(self, path: str, projects: tuple[str, ...]) -> list[Memory]:
        """What a team shares about files that a pattern names."""
        where = Filter(kinds=(Kind.MEMORY,), surfaces=(SURFACE,), projects=projects)
        memories = self.engine.store.memories.find(self.caller.visible(where), Page())
        return [
            memory
            for memory in memories
            if (source := source_of(memory)) and matches_path(source.about, path)
        ]

    def _stated_near(self, places: Mapping[str, set[int]], projects: set[str]) -> list[Statement]:
        return [
            statement
            for project in sorted(projects)
            for statement in self._states.of(project).statements
            if any(
                abs(statement.place - place) <= NEAR_MESSAGES
                for place in places.get(statement.conversation, ())
            )
        ]

    def _errors(self, path: str, conversations: tuple[str, ...]) -> list[TraceHit]:
        if not conversations:
            return []
        where = self.caller.visible(Filter(kinds=(Kind.MESSAGE,), threads=conversations))
        errors = self.engine.store.traces.find(where, kinds=("error",))
        return [hit for hit in errors if match_in_text(hit.value, path) > PathMatch.OTHER][:MAX_LISTED]


def _last(statements: Sequence[Statement], *kinds: StatementKind) -> list[Statement]:
    """Of these kinds, the newest first."""
    chosen = [each for each in statements if each.kind in kinds]
    return sorted(chosen, key=lambda each: each.at, reverse=True)[:MAX_LISTED]
