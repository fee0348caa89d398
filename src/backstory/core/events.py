"""Events that other tools report. They are public, as items are by default, and belong to their session."""

from __future__ import annotations

import json
from typing import Any

from ..domain.errors import InvalidInput
from ..domain.filters import Filter
from ..domain.records import Event, Priority, Trust
from .memories import Memories, MemoryDraft
from .part import CallContext, CorePart
from .sessions import Sessions


class Events(CorePart):
    def __init__(self, context: CallContext, sessions: Sessions, memories: Memories) -> None:
        super().__init__(context)
        self._sessions = sessions
        self._memories = memories

    def record(self, tool: str, type: str, data: Any, *, important: bool = False) -> Event:
        """Store an event of the current session. An important one is also saved as a memory, so that search finds it."""
        for field, text in (("tool", tool), ("type", type)):
            if not text.strip():
                raise InvalidInput(f"{field} is empty.", field=field)
        session = self._sessions.current()
        memories = self._memories
        with self.engine.store.transaction():
            event = Event(
                id=self.engine.new_id(),
                session=session.id,
                project=session.project,
                surface=self.surface,
                tool=tool,
                type=type,
                data=data,
                created_at=self.engine.now(),
            )
            memory = memories.put_item(_draft(event), session) if important else None
            event = event._replace(memory=memory.id if memory else None)
            self.engine.check_room()
            self.engine.store.sessions.add_event(event)
            self.engine.store.sessions.put(session._replace(updated_at=event.created_at))
        if memory is not None:
            memories.follow_up(memory)
        return event

    def find(self, where: Filter, limit: int | None = None) -> list[Event]:
        """Events of this surface, newest first."""
        return self.engine.store.sessions.events(self._of_this_surface(where), limit)

    def busy_hours(self, where: Filter) -> list[tuple[int, int]]:
        """The number of events per hour since 1970."""
        return self.engine.store.sessions.count_events(self._of_this_surface(where))

    def _of_this_surface(self, where: Filter) -> Filter:
        return where._replace(surfaces=(self.surface,))


def _draft(event: Event) -> MemoryDraft:
    return MemoryDraft(
        text=f"{event.tool} reported {event.type}.\n{readable(event.data)}".strip(),
        key=f"event_{event.tool}_{event.type}_{event.id[-8:]}",
        category="note",
        priority=Priority.HIGH,
        metadata={"tool": event.tool, "eventType": event.type, "eventId": event.id},
        trust=Trust.TOOL,
    )


def readable(data: Any) -> str:
    """JSON as lines that a person reads and a search finds: one `name: value` for each member."""
    if isinstance(data, dict):
        return "\n".join(f"{name}: {_inline(value)}" for name, value in data.items())
    if isinstance(data, list):
        return "\n".join(f"- {_inline(value)}" for value in data)
    return _inline(data)


def _inline(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
