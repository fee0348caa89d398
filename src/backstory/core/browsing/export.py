"""Conversations as files that people read or other programs take, one each: JSON, Markdown or plain text."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path, PurePath
from typing import Any, NamedTuple

from ...domain.errors import InvalidInput
from ...domain.filters import ConversationFilter
from ...domain.records import MINOR, Conversation, Message
from ...domain.topics import slug
from ...domain.when import iso
from ...readers.formats.paths import workspace_folder
from ...settings import expand_home
from .. import export_paths, stored_exports
from ..part import CorePart
from ..projects import is_workspace, workspace_hash

LONGEST_NAME_BYTES = 80
WORKSPACES = ("workspaceStorage", "projects")
"""Directories of editors and of Claude Code that have one for each workspace."""
STORED_FOLDER = Path("conversations")
"""The prefix of names of exports in the store."""
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
    """The number of conversations that match."""


class ConversationExport(CorePart):
    def write(
        self, form: str, *, limit: int, folder: str | None, title_part: str, workspace: str
    ) -> ExportedFiles:
        """The last updated that match, each in a new file. Nothing is made when none does."""
        target = self._folder(folder)
        conversations = self._find(title_part, workspace)
        files: list[Path] = []
        for number, conversation in enumerate(conversations[:limit], 1):
            self.call.raise_if_cancelled()
            files.append(self._write_new(target, conversation, form))
            self.call.progress(number, min(limit, len(conversations)), conversation.title)
        return ExportedFiles(target, files, len(conversations))

    def text(self, conversation: Conversation, form: str) -> str:
        """One conversation with its subagents, as `json`, `md` or `txt`."""
        return "".join(_FORMS[form](self.transcript(conversation)))

    def _write_new(self, folder: Path, conversation: Conversation, form: str) -> Path:
        tree, suffix = self.transcript(conversation), f".{form}"
        stem, text = file_stem(conversation), _FORMS[form](tree)
        if self.caller.is_local:
            return export_paths.write_new(folder, stem, suffix, text)
        stem = (folder / stem).as_posix()
        return Path(stored_exports.save_new(self.engine, stem, suffix, text, tree.ids()).path)

    def _folder(self, path: str | None) -> Path:
        if not self.caller.is_local:
            if path is not None:
                self.caller.check_local("folder", hint="Leave it out: the server stores exports itself.")
            return STORED_FOLDER
        usual = expand_home(self.engine.settings.conversation_exports)
        folder = usual if path is None else export_paths.locate(usual, path, "folder")
        if folder.exists() and not folder.is_dir():
            raise InvalidInput(f"{folder} is not a directory.", field="folder")
        return folder

    def _find(self, title_part: str, workspace: str) -> list[Conversation]:
        """Subagents and forks are written with the conversation that started them, if that is written."""
        conversations = self.engine.store.conversations.find(
            self.caller.visible_conversations(ConversationFilter(title_part=title_part))
        )
        folder = self._folder_of(workspace)
        wanted = [
            conversation
            for conversation in conversations
            if not workspace
            or is_workspace(workspace, conversation.project)
            or _storage(conversation.source.partition("#")[0]).name == workspace
            or (folder and folder in (conversation.directory, conversation.project))
        ]
        ids = {each.id for each in wanted}
        return [each for each in wanted if each.kind not in MINOR or each.parent not in ids]

    def _folder_of(self, workspace: str) -> str:
        """The folder of a workspace that an editor knows by this name; one file may contain conversations of all
        workspaces."""
        storages = map(_storage, self.engine.store.sync.sources() if workspace else ())
        folders = (
            workspace_folder(Path(storage)).path for storage in set(storages) if storage.name == workspace
        )
        return next(filter(None, folders), "")

    def transcript(self, conversation: Conversation, above: frozenset[str] = frozenset()) -> ConversationTree:
        """A conversation with its subagents and forks."""
        store = self.engine.store
        above |= {conversation.id}  # foreign files may claim a cycle of parents
        minor = store.conversations.find(ConversationFilter(parents=(conversation.id,), kinds=MINOR))
        started = [each for each in reversed(minor) if each.id not in above]
        return ConversationTree(
            conversation,
            store.messages.of(conversation.id),
            tuple(store.traces.files([conversation.id]).get(conversation.id, ())),
            tuple(self.transcript(each, above) for each in started),
        )


def _storage(source: str) -> PurePath:
    """The directory by whose name an assistant knows a workspace; empty if it has none."""
    folder = PurePath(source).parent
    return folder if folder.parent.name in WORKSPACES else PurePath()


class ConversationTree(NamedTuple):
    conversation: Conversation
    messages: Sequence[Message]
    files: tuple[str, ...]
    started: tuple[ConversationTree, ...]
    """Subagents and forks, the first one first."""

    def ids(self) -> set[str]:
        return {self.conversation.id}.union(*(each.ids() for each in self.started))


def file_stem(conversation: Conversation) -> str:
    """A file name: the day, the title as far as every file system accepts it, and a unique suffix."""
    name = slug(conversation.title).encode()[:LONGEST_NAME_BYTES].decode(errors="ignore").strip("-")
    return (
        f"{conversation.created_at:%Y-%m-%d}-{name or 'conversation'}-{workspace_hash(conversation.id)[:8]}"
    )


def _about(conversation: Conversation) -> dict[str, Any]:
    facts = {
        "id": conversation.id,
        "title": conversation.name,
        "tool": conversation.surface,
        "project": conversation.project,
        "workspace": workspace_hash(conversation.project),
        "created_at": iso(conversation.created_at),
        "updated_at": iso(conversation.updated_at),
        "conversation_type": conversation.subject,
        "kind": conversation.kind,
        "branch": conversation.branch,
        "model": conversation.model,
        "completeness": conversation.completeness,
        "trust": conversation.trust.value,
    }
    return {name: fact for name, fact in facts.items() if fact}


def _as_json(whole: ConversationTree) -> Iterator[str]:
    yield json.dumps(_object(whole), ensure_ascii=False, indent=2)
    yield "\n"


def _object(whole: ConversationTree) -> dict[str, Any]:
    messages = [
        {"role": message.role, "text": message.text, "created_at": iso(message.created_at)}
        for message in whole.messages
    ]
    started = [_object(each) for each in whole.started]
    body = {**_about(whole.conversation), "files": list(whole.files), "messages": messages}
    return {**body, "subagents": started} if started else body


def as_markdown(whole: ConversationTree, level: str = "#") -> Iterator[str]:
    yield f"{level} {whole.conversation.name}\n\n"
    for name, fact in _about(whole.conversation).items():
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


def _as_text(whole: ConversationTree) -> Iterator[str]:
    name = whole.conversation.name
    yield f"{name}\n{'=' * min(len(name), 100)}\n"
    for name, fact in _about(whole.conversation).items():
        if name != "title":
            yield f"{name}: {fact}\n"
    for message in whole.messages:
        yield f"\n[{iso(message.created_at)}] {_speaker(message)}:\n{message.text}\n"
    for each in whole.started:
        yield "\n"
        yield from _as_text(each)


def _speaker(message: Message) -> str:
    return message.speaker or _NAMES.get(message.role, message.role)


_FORMS: dict[str, Callable[[ConversationTree], Iterator[str]]] = {
    "json": _as_json,
    "md": as_markdown,
    "txt": _as_text,
}
