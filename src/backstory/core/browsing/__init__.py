"""Browsing without a query: lists of conversations and memories, and single ones page by page.

Messages of a conversation are numbered from 1; tool calls and thinking share the number of their message.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from ...domain.errors import InvalidInput, NotFound, check_at_least
from ...domain.filters import Bounds, ConversationFilter, Filter, Kind, MemoryPage, Order, Page
from ...domain.lines import one_line
from ...domain.records import Conversation, Memory
from ..names import ConversationNames, beginnings, known_source
from ..part import CorePart
from ..projects.related import chosen_projects, project_named, projects_named

HEADS = ("main", "fork", "prompt-log")
"""Kinds of conversations in lists; subagents belong to the conversation that started them."""
FEWEST_LETTERS = 4
"""The minimum length of an abbreviated id: a shorter one is more likely a mistake."""
MOST_NAMED = 5


class ListedConversation(NamedTuple):
    conversation: Conversation
    name: str
    """The shortest beginning of its id that no other has."""
    messages: int


class ConversationList(NamedTuple):
    conversations: list[ListedConversation]
    total: int


class MessagePlace(NamedTuple):
    """A conversation, optionally with the number of a message in it."""

    conversation: Conversation
    number: int | None = None


class Browsing(CorePart):
    def conversations(
        self, which: ConversationFilter, *, limit: int | None = None, offset: int = 0, file: str = ""
    ) -> ConversationList:
        """Conversations, last updated first; subagents only if their kind is requested.

        With `file`, those that touched the file, directly or through subagents."""
        if file:
            touching = self._touching(file)
            if not touching:
                return ConversationList([], 0)
            which = which._replace(ids=touching)
        names = self.names()
        return ConversationList(
            [
                ListedConversation(each, names.short(each.id), messages)
                for each, messages in self.latest(which, limit=limit, offset=offset)
            ],
            self.count(which),
        )

    def latest(
        self, which: ConversationFilter, *, limit: int | None = None, offset: int = 0
    ) -> list[tuple[Conversation, int]]:
        """Conversations with the number of their messages, last updated first; subagents only if their kind is requested."""
        conversations = self.engine.store.conversations.find(self._listed(which), limit=limit, offset=offset)
        counts = self.engine.store.messages.lengths([each.id for each in conversations])
        return [(each, counts.get(each.id, 0)) for each in conversations]

    def count(self, which: ConversationFilter) -> int:
        """The number of conversations that match; subagents count only if their kind is requested."""
        return self.engine.store.conversations.count(self._listed(which))

    def _listed(self, which: ConversationFilter) -> ConversationFilter:
        return self.caller.visible_conversations(which if which.kinds else which._replace(kinds=HEADS))

    def _touching(self, file: str) -> tuple[str, ...]:
        store = self.engine.store
        where = self.caller.visible(Filter(kinds=(Kind.MESSAGE,)))
        touching = {hit.conversation for hit in store.traces.touching(file, where)}
        parents = {each.parent for each in store.conversations.get(sorted(touching)) if each.parent}
        return tuple(sorted(touching | parents))

    def memories(self, where: Filter, *, limit: int | None = None, offset: int = 0) -> MemoryPage:
        """Memories of every surface, last changed first."""
        surfaces = where.surfaces or tuple(self.engine.store.memories.surfaces())  # which have an index
        where = self.caller.visible(where)._replace(kinds=(Kind.MEMORY,), surfaces=surfaces)
        memories = self.engine.store.memories.find(where, Page(limit, offset, Order.UPDATED_NEWEST))
        return MemoryPage(memories, self.engine.store.entries.count(where))

    def by_id(self, ids: Iterable[str]) -> dict[str, Conversation]:
        """The stored ones of these conversations, by id."""
        return {each.id: each for each in self.engine.store.conversations.get(sorted(ids))}

    def names(self, ids: Collection[str] | None = None) -> ConversationNames:
        """Short names of all conversations, or of enough of them to abbreviate the given ids."""
        holding = None if ids is None else beginnings(ids)
        return ConversationNames(self.engine.store.conversations.ids(holding))

    def known_projects(self, kind: Kind | None = None) -> list[str]:
        """The projects of all records, or of conversations or memories alone."""
        store = self.engine.store
        if kind is None:
            return store.entries.projects()
        return store.conversations.projects() if kind is Kind.MESSAGE else store.memories.projects()

    def projects(self, wanted: str) -> tuple[str, ...]:
        """The projects that a name or a directory means. Raises NotFound."""
        known = self.engine.store.entries.projects()
        path = os.path.normpath(os.path.join(self.caller.directory, os.path.expanduser(wanted)))
        named = projects_named(wanted, known) or projects_named(path, known)
        if not named:
            is_path = os.sep in wanted or wanted in (os.curdir, os.pardir)
            hint = "`backstory sessions` names the projects that are known."
            raise NotFound("project", path if is_path else wanted, hint=hint)
        return tuple(named)

    def project_named(self, name: str) -> str | None:
        """The project that a name or a path means, or None."""
        return project_named(name, self.engine.store.entries.projects())

    def find(self, id: str) -> Memory | MessagePlace:
        """The memory or message with this id or abbreviated id. Raises NotFound, and InvalidInput if it is ambiguous."""
        memories = self._memories(id)
        places = self._places(id)
        if len(memories) + len(places) > 1:
            named = [f"{each.id} ({one_line(each.text, 60)})" for each in memories]
            named += [f"{each.conversation.id} ({one_line(each.conversation.name, 60)})" for each in places]
            count = len(named) if len(named) <= MOST_NAMED else f"More than {MOST_NAMED}"
            raise InvalidInput(
                f"{count} records begin with {id!r}.",
                hint="Use more characters of one of them:\n" + "\n".join(named[:MOST_NAMED]),
                field="id",
            )
        if not memories and not places:
            slip = f" {FEWEST_LETTERS} letters of one are the fewest." if len(id) < FEWEST_LETTERS else ""
            hint = f"Lists and search results begin with the ids.{slip}"
            raise NotFound("memory or conversation", id, hint=hint)
        return memories[0] if memories else places[0]

    def conversation(self, id: str) -> Conversation:
        """The conversation with this id or abbreviated id. Raises like `find`, and for memories too."""
        target = self.find(id)
        if isinstance(target, Memory):
            raise NotFound("conversation", id, hint="That is the id of a memory.")
        return target.conversation

    def memory(self, id: str) -> Memory:
        target = self.find(id)
        if not isinstance(target, Memory):
            raise NotFound("memory", id, hint="That is the id of a conversation.")
        return target

    def recent(
        self,
        project: str | None = None,
        assistant: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int = 10,
    ) -> ConversationList:
        """Recent conversations of the caller's project, of another one by name or path, or of all with EVERY_PROJECT."""
        check_at_least(1, limit, "limit")
        projects = chosen_projects(project, self.caller.project, self.engine.store.conversations.projects)
        if projects is None:
            return ConversationList([], 0)
        surfaces = () if assistant is None else (known_source(self.engine, assistant),)
        return self.conversations(Bounds(projects, surfaces, since, until).conversation_filter(), limit=limit)

    def _memories(self, id: str) -> list[Memory]:
        store = self.engine.store
        exact = store.memories.find(self.caller.visible(Filter(ids=(id,))), Page())
        if exact or len(id) < FEWEST_LETTERS:
            return exact
        ids = tuple(store.memories.ids_beginning(id, MOST_NAMED + 1))
        return store.memories.find(self.caller.visible(Filter(ids=ids)), Page()) if ids else []

    def _places(self, id: str) -> list[MessagePlace]:
        room = self.engine.store.conversations
        if message := self.engine.store.messages.get(id):
            return [MessagePlace(each, message.seq + 1) for each in self._visible([message.conversation])]
        name, mark, number = id.rpartition("#")
        if mark and number.isdigit() and len(room.get([id])) == 0:
            return [MessagePlace(each, int(number)) for each in self._visible(self._named(name))]
        return [MessagePlace(each) for each in self._visible(self._named(id))]

    def _named(self, name: str) -> Sequence[str]:
        names = self.names()
        return names.find(name) if len(name) >= FEWEST_LETTERS or name in names else ()

    def _visible(self, ids: Sequence[str]) -> list[Conversation]:
        if not ids:
            return []
        which = self.caller.visible_conversations(ConversationFilter(ids=tuple(ids[: MOST_NAMED + 1])))
        return self.engine.store.conversations.find(which)
