"""The journal, and events that other tools report."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, TypedDict

from ...core import Core
from ...core.memories import MemoryDraft
from ...domain.categories import JOURNAL
from ...domain.errors import InvalidInput
from ...domain.when import iso
from ...tools import ADDS
from ...tools.params import CoreName
from .vocabulary import surface

Mood = Literal["excited", "happy", "neutral", "frustrated", "stressed"]


class JournalAnswer(TypedDict):
    id: str
    createdAt: str
    wordCount: int


class EventAnswer(TypedDict):
    eventId: str
    createdAt: str
    contextItemId: NotRequired[str]


@surface.tool("Write journal entry", ADDS)
def context_journal_entry(
    core: Core,
    entry: Annotated[str, "Journal entry text"],
    tags: Annotated[list[str] | None, "Tags for categorization"] = None,
    mood: Annotated[Mood | None, "How it feels"] = None,
) -> JournalAnswer:
    """Write a dated journal entry into the current session. Entries show in the timeline and are found by search."""
    if not entry.strip():
        raise InvalidInput("entry is empty.", hint="Nothing was saved; write something.", field="entry")
    metadata = {"mood": mood} if mood else {}
    # without a key, because entries never replace each other
    memory = core.memories.save_item(
        MemoryDraft(entry, None, JOURNAL, tags=tuple(tags or ()), metadata=metadata)
    )
    return {"id": memory.id, "createdAt": iso(memory.created_at), "wordCount": len(entry.split())}


@surface.tool("Record tool event", ADDS)
def context_integrate_tool(
    core: Core,
    tool_name: Annotated[str, "Which tool reports", CoreName("tool")],
    event_type: Annotated[str, "What kind of event it is", CoreName("type")],
    data: Annotated[Any, "The event's data, any JSON"],
    important: Annotated[bool, "Make a context item of it as well"] = False,
) -> EventAnswer:
    """Record an event of another tool in the current session, visible to all sessions. Events show in the timeline;
    an important one also becomes a context item of high priority, which search finds."""
    event = core.events.record(tool_name, event_type, data, important=important)
    reply: EventAnswer = {"eventId": event.id, "createdAt": iso(event.created_at)}
    return reply if event.memory is None else {**reply, "contextItemId": event.memory}
