"""The command that resumes a conversation in its own assistant, and the directory to run it in.

`core/handoff` continues it in another assistant.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from typing import NamedTuple

from ...domain.errors import BackstoryError, NotAllowed, NotFound
from ...domain.lazy import lazy_pattern
from ...domain.records import Conversation
from ...readers import load_readers, reader_names
from ..engine import Engine

_ID = lazy_pattern(r"\w[\w.:@/\\+=~-]*")
"""Valid ids. They come from files that anyone may have written: a leading dash would be a flag, and Windows scripts
obey characters such as `&`."""


class Resumption(NamedTuple):
    conversation: Conversation
    words: tuple[str, ...]
    directory: str
    """The working directory of the assistant, or "" if unknown."""

    @property
    def line(self) -> str:
        """The command as a line for a shell."""
        return self.line_of([self.words])

    def line_of(self, steps: Iterable[Sequence[str]]) -> str:
        """Several commands in the same directory, one after the other."""
        commands = [shlex.join(words) for words in steps]
        return " && ".join([f"cd {shlex.quote(self.directory)}", *commands] if self.directory else commands)


def root_conversation(engine: Engine, conversation: Conversation) -> Conversation:
    """The conversation itself, or for a subagent the conversation that started it. Raises NotFound if that is not stored."""
    seen = {conversation.id}
    while conversation.kind == "subagent" and conversation.parent and conversation.parent not in seen:
        seen.add(conversation.parent)
        parents = engine.store.conversations.get([conversation.parent])
        if not parents:
            raise NotFound("conversation", conversation.parent, hint="It started the one that was asked for.")
        conversation = parents[0]
    return conversation


def resumption(engine: Engine, conversation: Conversation) -> Resumption:
    """The command that resumes a conversation; for a subagent, that of its root. Raises NotAllowed if there is none."""
    conversation = root_conversation(engine, conversation)
    if conversation.is_gone:
        raise NotAllowed(
            f"{conversation.id} cannot be resumed: its assistant deleted it. The stored copy stays here.",
            hint=f"Continue it in any assistant: backstory resume {conversation.id} --in {conversation.surface}",
        )
    words = _words(conversation)
    if not words:
        raise NotAllowed(
            f"{conversation.surface} has no command that opens a single conversation.",
            hint=f"Read it here instead: backstory show {conversation.id}",
        )
    store = engine.store
    machines = store.devices.machines_with(conversation.id)
    if machines and not store.sync.has_read(conversation.source):
        raise NotAllowed(
            f"{conversation.id} can be resumed on {' or '.join(machines)} only, where its assistant stores it.",
            hint=f"Read it here instead: backstory show {conversation.id}",
        )
    return Resumption(conversation, words, conversation.directory)


class HandoffLinks(NamedTuple):
    """The conversations that this one continues, or that continue it, in other assistants."""

    source: str
    """The conversation that it continues, or ""."""
    sessions: list[str]
    """The conversations that continue it and have messages."""


def handoff_links(engine: Engine, conversation: Conversation) -> HandoffLinks:
    store = engine.store
    source = next((each.source for each in store.handoffs.into([conversation.id])), "")
    written = [each.conversation for each in store.handoffs.of([conversation.id])]
    return HandoffLinks(source, sorted(each.id for each in store.conversations.get(written)))


def resume_line(engine: Engine, conversation: Conversation) -> str:
    """The command line that resumes a conversation, or "" if there is none."""
    try:
        return resumption(engine, conversation).line
    except BackstoryError:
        return ""


def missing_directory(wanted: Resumption) -> bool:
    return bool(wanted.directory) and not os.path.isdir(wanted.directory)


def _words(conversation: Conversation) -> tuple[str, ...]:
    if conversation.surface not in reader_names():
        return ()  # stored through us, by no assistant
    resume = load_readers([conversation.surface])[conversation.surface].resume
    if resume is None or not fnmatchcase(conversation.source.replace("\\", "/"), resume.sources):
        return ()
    if not _ID.fullmatch(conversation.native_id):
        raise NotAllowed(
            f"{conversation.id} cannot be resumed: its id cannot be used on a command line.",
            hint=f"Read it here instead: backstory show {conversation.id}",
        )
    return tuple(word.replace("{id}", conversation.native_id) for word in resume.words)
