"""Backstory inside another Python program: the same memory, without a server (docs/library.md).

One object may be used from several threads, and beside servers that run over the same store."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

from .app import open_core, read_settings
from .core import Core
from .core.brief import USUAL_TOKENS
from .core.browsing.pages import ConversationPage
from .core.projects import work_tree
from .core.search.lookup import LookupHit, LookupQuery
from .domain.errors import InvalidInput
from .domain.kinds import MemoryKind, kind_of
from .domain.records import Memory, Trust
from .domain.when import parse_until, parse_when
from .settings import expand_home

SURFACE, TEXTS = "backstory", "projectmemory"
"""The families of tools whose memories these are: a tool and this library see the same."""


class SavedMemory(NamedTuple):
    """One saved thing."""

    id: str
    text: str
    kind: MemoryKind
    project: str
    created_at: datetime
    updated_at: datetime
    trust: Trust
    former: tuple[str, ...] = ()
    """What it said before, the oldest first; known of one that was opened."""


class PastMessage(NamedTuple):
    number: int
    role: str
    text: str
    at: datetime


class PastSession(NamedTuple):
    """A conversation with an assistant."""

    id: str
    title: str
    project: str
    assistant: str
    branch: str
    updated_at: datetime
    message_count: int
    messages: tuple[PastMessage, ...] = ()
    """Of the page that was opened."""
    next: int | None = None
    """Where the next page begins."""


class Backstory:
    """Made by `backstory.open`."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def __enter__(self) -> Backstory:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """What was saved is committed already; this ends the threads behind it."""
        self._core.engine.close()

    def remember(
        self,
        text: str,
        kind: str | None = None,
        *,
        replaces: str | None = None,
        files: Sequence[str] = (),
        project: str | None = None,
    ) -> SavedMemory:
        """Save one thing, once; or correct the memory that it replaces, whichever family of tools saved it."""
        own = self._core.through(SURFACE).remembering
        made = own.remember(text, _kind(kind), replaces=replaces, files=files, project=project)
        return _memory(made.memory)

    def recall(
        self,
        query: str,
        *,
        project: str | None = None,
        kind: str | None = None,
        file: str | None = None,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        assistant: str | None = None,
        limit: int = 5,
    ) -> list[LookupHit]:
        """Memories and conversations in one ranking, each with how certain it is."""
        wanted = LookupQuery(
            query, project, kind, file, self._start(since), self._end(until), assistant, limit
        )
        return list(self._core.lookup.find(wanted).hits)

    def open(self, id: str, at: int | None = None, limit: int = 10) -> SavedMemory | PastSession:
        """A memory with what it said before, or a page of a conversation."""
        page = self._core.pages.open(id, at, limit)
        if isinstance(page, ConversationPage):
            return _session(page)
        if isinstance(page.entry, Memory):
            return _memory(page.entry)._replace(former=tuple(former.text for former in page.history))
        return self.open(page.entry.conversation, page.entry.seq + 1, limit)

    def brief(self, project: str | None = None, max_tokens: int = USUAL_TOKENS) -> str:
        return self._core.briefing.brief(project, max_tokens).text

    def sessions(
        self,
        *,
        project: str | None = None,
        assistant: str | None = None,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        limit: int = 10,
    ) -> list[PastSession]:
        """The newest first; of this project, another by name or path, or all for "*"."""
        found = self._core.browsing.recent(project, assistant, self._start(since), self._end(until), limit)
        return [
            PastSession(
                told.id, told.title, told.project, told.surface, told.branch, told.updated_at, messages
            )
            for told, _, messages in found.conversations
        ]

    def done(self, id: str, note: str = "") -> SavedMemory:
        return _memory(self._core.through(SURFACE).remembering.done(id, note))

    def forget(self, id: str, *, for_good: bool = False) -> None:
        self._core.forgetting.forget(id, for_good=for_good)

    def save(self, text: str) -> str:
        """As the tool `save_context`: the text's id."""
        return self._core.through(TEXTS).memories.save(text).id

    def retrieve(self, query: str, limit: int = 5) -> list[str]:
        """As the tool `retrieve_context`: the texts that answer best."""
        found = self._core.through(TEXTS).search.memories(query, limit=limit)
        return [hit.memory.text for hit in found.hits]

    def replace(self, id: str, text: str) -> None:
        self._core.through(TEXTS).memories.replace(id, text)

    def delete(self, id: str) -> None:
        self._core.through(TEXTS).deletion.by_id(id)

    def _start(self, moment: datetime | str | None) -> datetime | None:
        return (
            parse_when(moment, self._core.engine.now(), field="since") if isinstance(moment, str) else moment
        )

    def _end(self, moment: datetime | str | None) -> datetime | None:
        return (
            parse_until(moment, self._core.engine.now(), field="until") if isinstance(moment, str) else moment
        )


def _kind(name: str | None) -> MemoryKind | None:
    if name is not None and name not in list(MemoryKind):
        raise InvalidInput(f"kind must be one of {', '.join(MemoryKind)}.", field="kind")
    return None if name is None else MemoryKind(name)


def _memory(kept: Memory) -> SavedMemory:
    return SavedMemory(
        kept.id, kept.text, kind_of(kept), kept.project, kept.created_at, kept.updated_at, kept.trust
    )


def _session(page: ConversationPage) -> PastSession:
    told = page.conversation
    messages = [
        PastMessage(paged.number, paged.message.role, paged.text, paged.message.created_at)
        for paged in page.messages
    ]
    return PastSession(
        told.id, told.title, told.project, told.surface, told.branch, told.updated_at, page.total,
        tuple(messages), page.next,
    )  # fmt: skip


def open_library(home: str | Path | None, project: str | Path | None) -> Backstory:
    """`home` is made when it is not there."""
    flags = {} if home is None else {"home": expand_home(str(home))}
    place = {} if project is None else {"project": work_tree(expand_home(str(project)))}
    settings = read_settings({**flags, **place})
    settings.home.mkdir(mode=0o700, parents=True, exist_ok=True)
    return Backstory(open_core(settings))
