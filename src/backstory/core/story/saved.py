"""Memories about a file as events of its story, with their current and earlier texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ...domain.filters import Filter, Kind, Page
from ...domain.kinds import MemoryKind, kind_of
from ...domain.metadata import marks_of
from ...domain.neutral import neutral
from ...domain.paths import PathMatch, match_path
from ...domain.records import Entry, Memory, Trust
from ...domain.shared_notes import SURFACE, matches_path, source_of
from ...domain.story import EventReference, StoryEvent, StoryKind
from ...search.file_mentions import mentions
from ..authors import author_names
from ..names import short_memory_id
from ..part import CorePart
from ..search.superseding import later_decisions
from ..tasks import is_open_task
from .file import StoryFile


class FileMemories(CorePart):
    def events(self, file: StoryFile, projects: tuple[str, ...]) -> Iterator[StoryEvent]:
        memories = self._about(file, projects)
        later = later_decisions(memories, self.engine.store)
        authors = author_names(self.engine, self.caller, memories)
        for memory in memories:
            yield from self._former(memory)
            yield _event(memory, later, memories, authors.get(memory.id, ""))

    def _about(self, file: StoryFile, projects: tuple[str, ...]) -> list[Memory]:
        store = self.engine.store
        where = self.caller.visible(Filter(kinds=(Kind.MEMORY,), projects=projects))
        entries = self.load(each.outline.entry for each in mentions(store, file.path, where))
        named = [each for each in entries.values() if isinstance(each, Memory) and _is_about(each, file)]
        shared = store.memories.find(where._replace(surfaces=(SURFACE,)), Page())
        patterned = [
            memory
            for memory in shared
            if (source := source_of(memory)) and matches_path(source.about, file.path)
        ]
        return list({memory.id: memory for memory in (*named, *patterned)}.values())

    def _former(self, memory: Memory) -> Iterator[StoryEvent]:
        """The former values of a memory. A task that was marked as done is the same task."""
        kind = kind_of(memory)
        if kind is MemoryKind.TASK:
            return
        history = self.caller.visible_former(memory, self.engine.store.memories.former(memory.id))
        name = short_memory_id(memory.id)
        for former in history:
            if former.text != memory.text:
                yield StoryEvent(
                    at=former.saved_at,
                    kind=StoryKind(kind.value),
                    text=_safe(former.text, memory.trust),
                    name=name,
                    memory=memory.id,
                    state="superseded",
                    superseded_by=EventReference(name, _safe(memory.text, memory.trust), ""),
                    trust=memory.trust,
                )


def _event(memory: Memory, later: Mapping[str, Entry], memories: Iterable[Memory], author: str) -> StoryEvent:
    by = later.get(memory.id)
    state = "superseded" if by else "in_force"
    if memory.category == MemoryKind.TASK:
        state = "open" if is_open_task(memory) else "done"
    return StoryEvent(
        at=memory.updated_at,
        kind=StoryKind(kind_of(memory).value),
        text=_safe(memory.text, memory.trust),
        name=short_memory_id(memory.id),
        memory=memory.id,
        state=state,
        superseded_by=_reference(by) if by else None,
        supersedes=tuple(
            _reference(each) for each in memories if each.id in later and later[each.id].id == memory.id
        ),
        trust=memory.trust,
        author=author,
    )


def _reference(entry: Entry) -> EventReference:
    return EventReference(short_memory_id(entry.id), _safe(entry.text, entry.trust), "")


def _is_about(memory: Memory, file: StoryFile) -> bool:
    least = PathMatch.SAME if file.is_whole else PathMatch.ENDS_ALIKE
    is_marked = any(match_path(mark.path, file.path) >= least for mark in marks_of(memory.metadata))
    return is_marked or file.is_named_in(memory.text, memory.project)


def _safe(text: str, trust: Trust) -> str:
    """Own words are shown as they are."""
    return text if trust is Trust.OWN else neutral(text)
