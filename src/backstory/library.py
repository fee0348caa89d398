"""Backstory as a Python library: the same memory, without a server (docs/library.md).

An object can be used from several threads, and concurrently with servers on the same store.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import wraps
from inspect import signature
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, ParamSpec, TypeVar

from .app import open_core, read_settings
from .core import Core
from .core.ask import Inquiry
from .core.brief import DEFAULT_BRIEF_TOKENS
from .core.lookup import LookupHit
from .core.pages import ConversationPage, PagedMessage
from .core.projects import work_tree
from .domain.errors import InvalidInput
from .domain.filters import Filter, Kind
from .domain.kinds import MemoryKind, kind_of
from .domain.records import Conversation, Memory, Trust
from .domain.when import parse_bounds
from .settings import expand_home

P = ParamSpec("P")
R = TypeVar("R")
Moment = datetime | str | None
"""A relative time such as "7d", or a datetime with a time zone."""

SURFACE, TEXTS = "backstory", "projectmemory"
"""The families of tools whose memories the library uses: tools and library share them."""


def _validated(method: Callable[P, R]) -> Callable[P, R]:
    """Check the types of the arguments, as a tool does of its own: a wrong one is an InvalidInput that names it."""
    parameters = signature(method)

    @wraps(method)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        for name, value in parameters.bind(*args, **kwargs).arguments.items():
            annotation = parameters.parameters[name].annotation
            if annotation in _ACCEPTED and not _ACCEPTED[annotation](value):
                raise InvalidInput(f"{name} must be {_WORDINGS[annotation]}, not {value!r}.", field=name)
        return method(*args, **kwargs)

    return call


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_moment(value: Any) -> bool:
    return value is None or _is_text(value) or (isinstance(value, datetime) and value.utcoffset() is not None)


def _are_texts(value: Any) -> bool:
    return isinstance(value, Sequence) and not _is_text(value) and all(map(_is_text, value))


# keyed by annotation text: `from __future__ import annotations` keeps annotations as strings
_ACCEPTED: dict[str, Callable[[Any], bool]] = {
    "str": _is_text,
    "str | None": lambda value: value is None or _is_text(value),
    "int": _is_number,
    "int | None": lambda value: value is None or _is_number(value),
    "bool": lambda value: isinstance(value, bool),
    "Moment": _is_moment,
    "Sequence[str]": _are_texts,
}
_WORDINGS = {
    "str": "a text",
    "str | None": "a text or None",
    "int": "a whole number",
    "int | None": "a whole number or None",
    "bool": "True or False",
    "Moment": "a text or a datetime with its time zone",
    "Sequence[str]": "a list of texts",
}


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
    """The former texts, oldest first; only for a memory that was opened."""
    freshness: str = ""
    """`fresh`, or the changes of the files it is about; only for a memory that was opened."""


class PastMessage(NamedTuple):
    number: int
    role: str
    text: str
    at: datetime
    left_out: int = 0
    """Characters at the end of the message that are not in the text."""


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
    """The messages of the opened page."""
    next: int | None = None
    """The number at which the next page begins."""
    trust: Trust = Trust.OWN
    """The origin of the words."""


class Backstory:
    """An open store, created by `backstory.open`."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def __enter__(self) -> Backstory:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the background threads. Everything saved is already committed."""
        self._core.engine.close()

    @_validated
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
        outcome = own.remember(text, _kind(kind), replaces=replaces, files=files, project=project)
        return _memory(outcome.memory)

    @_validated
    def recall(
        self,
        query: str,
        *,
        project: str | None = None,
        kind: str | None = None,
        file: str | None = None,
        since: Moment = None,
        until: Moment = None,
        assistant: str | None = None,
        limit: int = 5,
    ) -> list[LookupHit]:
        """Memories and conversations in one ranking, each with how certain it is."""
        start, end = parse_bounds(since, until, self._core.engine.now())
        inquiry = Inquiry(query, project, kind=kind, file=file, since=start, until=end, assistant=assistant)
        return list(self._core.lookup.find(inquiry, limit).hits)

    @_validated
    def open(self, id: str, at: int | None = None, limit: int = 10) -> SavedMemory | PastSession:
        """A memory with its history, or a page of a conversation."""
        page = self._core.pages.open(id, at, limit)
        if isinstance(page, ConversationPage):
            messages = tuple(map(_message, page.messages))
            return _session(page.conversation, page.total)._replace(messages=messages, next=page.next)
        if isinstance(page.entry, Memory):
            former = tuple(former.text for former in page.history)
            return _memory(page.entry)._replace(former=former, freshness=page.freshness)
        return self.open(page.entry.conversation, page.entry.seq + 1, limit)

    @_validated
    def brief(self, project: str | None = None, max_tokens: int = DEFAULT_BRIEF_TOKENS) -> str:
        return self._core.briefing.brief(project, max_tokens).text

    @_validated
    def sessions(
        self,
        *,
        project: str | None = None,
        assistant: str | None = None,
        since: Moment = None,
        until: Moment = None,
        limit: int = 10,
    ) -> list[PastSession]:
        """Conversations, newest first; of this project, another by name or path, or all for "*"."""
        times = parse_bounds(since, until, self._core.engine.now())
        conversations = self._core.browsing.recent(project, assistant, *times, limit)
        return [
            _session(conversation, message_count)
            for conversation, _, message_count in conversations.conversations
        ]

    @_validated
    def done(self, id: str, note: str = "") -> SavedMemory:
        return _memory(self._core.through(SURFACE).remembering.done(id, note))

    @_validated
    def forget(self, id: str, *, for_good: bool = False) -> None:
        self._core.forgetting.forget(id, for_good=for_good)

    @_validated
    def save(self, text: str) -> str:
        """Save a text like the tool `save_context`, and return its id."""
        return self._core.through(TEXTS).memories.save(text).id

    @_validated
    def retrieve(self, query: str, limit: int = 5) -> list[str]:
        """The best matching texts, like the tool `retrieve_context`."""
        ranking = self._core.ask.find(Inquiry(query, where=Filter(kinds=(Kind.MEMORY,)), limit=limit))
        return [memory.text for memory, _ in self._core.ask.memories(ranking, limit)]

    @_validated
    def replace(self, id: str, text: str) -> None:
        self._core.through(TEXTS).memories.replace(id, text)

    @_validated
    def delete(self, id: str) -> None:
        self._core.through(TEXTS).deletion.by_id(id)


def _kind(name: str | None) -> MemoryKind | None:
    if name is not None and name not in list(MemoryKind):
        raise InvalidInput(f"kind must be one of {', '.join(MemoryKind)}.", field="kind")
    return None if name is None else MemoryKind(name)


def _memory(memory: Memory) -> SavedMemory:
    return SavedMemory(
        memory.id,
        memory.text,
        kind_of(memory),
        memory.project,
        memory.created_at,
        memory.updated_at,
        memory.trust,
    )


def _session(conversation: Conversation, message_count: int) -> PastSession:
    return PastSession(
        conversation.id,
        conversation.title,
        conversation.project,
        conversation.surface,
        conversation.branch,
        conversation.updated_at,
        message_count,
        trust=conversation.trust,
    )


def _message(paged: PagedMessage) -> PastMessage:
    message = paged.message
    return PastMessage(paged.number, message.role, paged.text, message.created_at, paged.left_out)


def open_library(home: str | Path | None, project: str | Path | None) -> Backstory:
    """`home` is made when it is not there."""
    flags = {} if home is None else {"home": expand_home(str(home))}
    place = {} if project is None else {"project": work_tree(expand_home(str(project)))}
    settings = read_settings({**flags, **place})
    settings.home.mkdir(mode=0o700, parents=True, exist_ok=True)
    return Backstory(open_core(settings))
