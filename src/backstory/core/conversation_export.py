"""Conversations as files that people read or other programs take, one each: JSON, Markdown or plain text."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..domain.errors import InvalidInput
from ..domain.filters import ConversationFilter
from ..domain.records import Conversation, Message
from ..domain.when import iso
from ..settings import expand_home
from .facet import Facet
from .families import MINOR
from .transfer import places
from .workspaces import is_workspace, workspace_hash

LONGEST_NAME_BYTES = 80
_NAMES = {
    "user": "User",
    "assistant": "Assistant",
    "system": "System",
    "summary": "Summary",
    "tool": "Tool",
    "thinking": "Thinking",
}


class ExportedFiles(NamedTuple):
    folder: Path
    files: list[Path]
    total: int
    """How many conversations match."""


class ConversationExport(Facet):
    def write(
        self, form: str, *, limit: int, folder: str | None, title_part: str, workspace: str
    ) -> ExportedFiles:
        """The last updated that match, each in a new file. Nothing is made when none does."""
        target = self._folder(folder)
        found = self._find(title_part, workspace)
        files: list[Path] = []
        for number, talk in enumerate(found[:limit], 1):
            self.call.checkpoint()
            text = _FORMS[form](self.transcript(talk))
            files.append(places.write_new(target, file_stem(talk), f".{form}", text))
            self.call.progress(number, min(limit, len(found)), talk.title)
        return ExportedFiles(target, files, len(found))

    def _folder(self, given: str | None) -> Path:
        usual = expand_home(self.engine.settings.conversation_exports)
        if given is not None:
            self.caller.check_local("folder", hint="Leave it out: the server writes to its own place.")
        folder = usual if given is None else places.locate(usual, given, "folder")
        if folder.exists() and not folder.is_dir():
            raise InvalidInput(f"{folder} is not a directory.", field="folder")
        return folder

    def _find(self, title_part: str, workspace: str) -> list[Conversation]:
        """Subagents and forks are written with the conversation that started them."""
        talks = self.engine.store.conversations.find(
            self.caller.visible_conversations(ConversationFilter(title_part=title_part))
        )
        wanted = [talk for talk in talks if not workspace or is_workspace(workspace, talk.project)]
        parents = {talk.parent for talk in wanted if talk.kind in MINOR and talk.parent}
        known = (
            {talk.id for talk in self.engine.store.conversations.find(ConversationFilter(ids=tuple(parents)))}
            if parents
            else ()
        )
        return [talk for talk in wanted if talk.kind not in MINOR or talk.parent not in known]

    def transcript(self, talk: Conversation, above: frozenset[str] = frozenset()) -> Transcript:
        """With those of its subagents and forks."""
        store = self.engine.store
        above |= {talk.id}  # files of others may tell of a ring
        minor = store.conversations.find(ConversationFilter(parents=(talk.id,), kinds=MINOR))
        started = [each for each in reversed(minor) if each.id not in above]
        return Transcript(
            talk,
            store.conversations.messages(talk.id),
            tuple(store.traces.files([talk.id]).get(talk.id, ())),
            tuple(self.transcript(each, above) for each in started),
        )


class Transcript(NamedTuple):
    talk: Conversation
    messages: Sequence[Message]
    files: tuple[str, ...]
    started: tuple[Transcript, ...]
    """Subagents and forks, the first one first."""


def file_stem(talk: Conversation) -> str:
    """The day, the title as far as every file system takes it, and what makes it unique."""
    words = "".join(letter if letter.isalnum() else " " for letter in talk.title.lower()).split()
    slug = "-".join(words).encode()[:LONGEST_NAME_BYTES].decode(errors="ignore").strip("-")
    return f"{talk.created_at:%Y-%m-%d}-{slug or 'conversation'}-{workspace_hash(talk.id)[:8]}"


def _about(talk: Conversation) -> dict[str, Any]:
    facts = {
        "id": talk.id,
        "title": talk.title,
        "tool": talk.surface,
        "project": talk.project,
        "workspace": workspace_hash(talk.project),
        "created_at": iso(talk.created_at),
        "updated_at": iso(talk.updated_at),
        "conversation_type": talk.subject,
        "kind": talk.kind,
        "branch": talk.branch,
        "model": talk.model,
        "completeness": talk.completeness,
        "trust": talk.trust.value,
    }
    return {name: fact for name, fact in facts.items() if fact}


def _as_json(whole: Transcript) -> Iterator[str]:
    yield json.dumps(_object(whole), ensure_ascii=False, indent=2)
    yield "\n"


def _object(whole: Transcript) -> dict[str, Any]:
    messages = [
        {"role": message.role, "text": message.text, "created_at": iso(message.created_at)}
        for message in whole.messages
    ]
    started = [_object(each) for each in whole.started]
    body = {**_about(whole.talk), "files": list(whole.files), "messages": messages}
    return {**body, "subagents": started} if started else body


def as_markdown(whole: Transcript, level: str = "#") -> Iterator[str]:
    yield f"{level} {whole.talk.title}\n\n"
    for name, fact in _about(whole.talk).items():
        if name != "title":
            yield f"- {name.replace('_', ' ')}: {fact}\n"
    for message in whole.messages:
        yield f"\n{level}# {_speaker(message)} ({iso(message.created_at)})\n\n"
        yield _quoted(message.text) if message.role in ("tool", "thinking") else f"{message.text}\n"
    for each in whole.started:
        yield "\n"
        yield from as_markdown(each, f"{level}#")


def _quoted(text: str) -> str:
    return "".join(f"> {line}\n" for line in text.split("\n"))


def _as_text(whole: Transcript) -> Iterator[str]:
    yield f"{whole.talk.title}\n{'=' * min(len(whole.talk.title), 100)}\n"
    for name, fact in _about(whole.talk).items():
        if name != "title":
            yield f"{name}: {fact}\n"
    for message in whole.messages:
        yield f"\n[{iso(message.created_at)}] {_speaker(message)}:\n{message.text}\n"
    for each in whole.started:
        yield "\n"
        yield from _as_text(each)


def _speaker(message: Message) -> str:
    return message.speaker or _NAMES.get(message.role, message.role)


_FORMS: dict[str, Callable[[Transcript], Iterator[str]]] = {
    "json": _as_json,
    "md": as_markdown,
    "txt": _as_text,
}
