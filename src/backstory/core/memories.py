"""Save, find, replace and delete memories."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..domain.errors import InvalidInput, NotFound
from ..domain.filters import Filter, Kind, Page
from ..domain.records import Memory
from .engine import Caller, Engine

if TYPE_CHECKING:
    from ..search.hybrid import Found


class Memories(NamedTuple):
    engine: Engine
    caller: Caller
    surface: str

    def save(self, text: str) -> Memory:
        """Committed when this returns; its vectors and a better summary follow in the background."""
        _check_text(text)
        now = self.engine.now()
        memory = Memory(
            id=self.engine.new_id(),
            text=text,
            summary=self.engine.summarizer.summary(text),
            project=self.caller.project,
            surface=self.surface,
            session=self.caller.session,
            created_at=now,
            updated_at=now,
        )
        self.engine.store.put_memories([memory])
        self._follow_up(memory)
        return memory

    def replace(self, id: str, text: str) -> Memory:
        """The memory keeps its id and the time it was made."""
        _check_text(text)
        with self.engine.store.transaction():
            found = self.engine.store.find_memories(self._mine(id), Page(limit=1))
            if not found:
                raise NotFound("saved text", id)
            summary = self.engine.summarizer.summary(text)
            memory = found[0]._replace(text=text, summary=summary, updated_at=self.engine.now())
            self.engine.store.put_memories([memory])
        self._follow_up(memory)
        return memory

    def delete(self, id: str) -> None:
        if not self.engine.store.delete_memories(self._mine(id)):
            raise NotFound("saved text", id)

    def clear(self) -> int:
        """Delete all that this surface made, in every project; how many memories that were."""
        return self.engine.store.delete_memories(Filter(surfaces=(self.surface,)))

    def search(self, query: str, limit: int) -> Found:
        """Memories of every surface and project that the caller may see; its own project is preferred."""
        if not query.strip():
            raise InvalidInput("query is empty.", hint="Say what to look for.", field="query")
        where = Filter(kinds=(Kind.MEMORY,), public_or_in=self.caller.session or "")
        return self.engine.search.find(query, where, limit, project=self.caller.project)

    def _mine(self, id: str) -> Filter:
        return Filter(ids=(id,), surfaces=(self.surface,))

    def _follow_up(self, memory: Memory) -> None:
        """After the commit: others see the memory only then."""
        if self.engine.backlog is not None:
            self.engine.backlog.wake()
        self.engine.summarizer.improve(self.engine.store, memory)


def _check_text(text: str) -> None:
    if not text.strip():
        raise InvalidInput("The text is empty.", hint="Nothing was saved; send the text to remember.")
