"""The timeline across assistants and projects: conversations, memories and commits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from ...domain.filters import Bounds, ConversationFilter, Filter, Kind, Order, Page
from ...domain.lazy import lazy_pattern
from ...domain.records import ConversationOutline
from ..part import CorePart
from ..projects.git import git, printable
from . import HEADS

_FIELDS = "%x1f".join(("%H", "%at", "%an", "%s"))
_HASH = lazy_pattern(r"[0-9a-f]{7,64}")


class EventKind(StrEnum):
    CONVERSATION = "conversation"
    MEMORY = "memory"
    COMMIT = "commit"


class ChronicleEvent(NamedTuple):
    at: datetime
    """The time of the event; for a conversation, of its last message."""
    kind: EventKind
    id: str
    """The id of the record; for a commit its hash."""
    title: str
    project: str
    who: str
    """The assistant, the surface a memory was saved through, or the author."""


class Chronicle(CorePart):
    def events(
        self, span: Bounds, kinds: Sequence[EventKind] = tuple(EventKind), *, limit: int
    ) -> list[ChronicleEvent]:
        """Events, newest first.

        Commits come from the named projects, or else the caller's own, if they are on this machine; a filter by
        assistant excludes them."""
        events: list[ChronicleEvent] = []
        if EventKind.CONVERSATION in kinds:
            events += self._conversations(span, limit)
        if EventKind.MEMORY in kinds:
            events += self._memories(span, limit)
        if EventKind.COMMIT in kinds and self.caller.is_local and not span.surfaces:
            events += self._commits(span, limit)
        return sorted(events, key=lambda event: (event.at, event.kind, event.id), reverse=True)[:limit]

    def busy_hours(self) -> list[tuple[int, int]]:
        """The number of messages and memories in each hour since 1970, without empty hours."""
        return self.engine.store.entries.tally_hours(self.caller.visible(Filter()))

    def outlines(self, which: ConversationFilter) -> list[ConversationOutline]:
        """Outlines of conversations that match, in no order."""
        return self.engine.store.conversations.outlines(self.caller.visible_conversations(which))

    def repositories(self, projects: Iterable[str]) -> list[str]:
        """The projects that are git repositories on this machine."""
        # "" would be wherever the server was started
        return [each for each in projects if each and (Path(each) / ".git").exists()]

    def _conversations(self, span: Bounds, limit: int) -> Iterator[ChronicleEvent]:
        which = span.conversation_filter()._replace(kinds=HEADS)
        for each in self.engine.store.conversations.find(
            self.caller.visible_conversations(which), limit=limit
        ):
            yield ChronicleEvent(
                each.updated_at, EventKind.CONVERSATION, each.id, each.name, each.project, each.surface
            )

    def _memories(self, span: Bounds, limit: int) -> Iterator[ChronicleEvent]:
        where = span.filter()._replace(kinds=(Kind.MEMORY,))
        page = Page(limit, order=Order.NEWEST)
        for each in self.engine.store.memories.find(self.caller.visible(where), page):
            yield ChronicleEvent(
                each.created_at, EventKind.MEMORY, each.id, each.text, each.project, each.surface
            )

    def _commits(self, span: Bounds, limit: int) -> Iterator[ChronicleEvent]:
        for project in self.repositories(span.projects or (self.caller.project,)):
            yield from _commits_of(project, span, limit)


def _commits_of(project: str, span: Bounds, limit: int) -> Iterator[ChronicleEvent]:
    bounds = [f"--since={span.since:%Y-%m-%dT%H:%M:%SZ}"] if span.since else []
    bounds += [f"--until={span.until:%Y-%m-%dT%H:%M:%SZ}"] if span.until else []
    output = git(Path(project), "log", f"--max-count={limit}", "-z", f"--format={_FIELDS}", *bounds)
    for record in (output or "").split("\0"):
        hash, *rest = record.split("\x1f")
        if _HASH.fullmatch(hash) and len(rest) == 3:
            at, author, subject = rest
            moment = datetime.fromtimestamp(int(at), UTC)
            yield ChronicleEvent(
                moment, EventKind.COMMIT, hash, printable(subject), project, printable(author)
            )
