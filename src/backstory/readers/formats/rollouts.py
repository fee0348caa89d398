"""Rollouts of Codex and programs built on it: one log per thread, by day, later archived and sometimes compressed in
place."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from ...domain.errors import Unreadable
from ...domain.lazy import lazy_pattern
from ...domain.zstd import ZstdError, open_frames
from .. import ConversationHeader, ConversationKind, Cursor, Form, Piece, Role, Source, WitnessRank
from .files import open_regular, read_regular
from .lines import decode_raw, read_records, to_ms
from .logs import Log, OpenConversation, OpenTurn, Title
from .noise import CODEX, head_and_tail, is_injected
from .rollout_lines import (
    ENTRIES,
    NAMES,
    PROMPTS,
    ROLLOUT,
    RolloutEntry,
    RolloutItem,
    RolloutPrompt,
    call_of,
    is_content,
    model_call,
    output_of,
    request_in,
    spawner_of,
    text_of,
    texts_of,
    token_count_of,
)
from .rollout_replays import ForkReplay

PROMPT_LOG = "history.jsonl"
NAMES_FILE = "session_index.jsonl"
COMPRESSED = ".zst"
_NAME = lazy_pattern(r"rollout-[\dT-]{19}-([0-9a-fA-F-]{36})(?:_([0-9a-fA-F-]+))?")
_CWD = lazy_pattern(r"<cwd>(.*?)</cwd>")

HOOK = "hooks.additional_context"
"""The kind of content that one of the user's programs, such as this one, had Codex add."""

SPEAKING = "speaking"
ASKING = "asking"


def find_rollouts(homes: Iterable[Path], named: Iterable[Path] = ()) -> Iterator[Source]:
    """Yield the rollouts below a program's homes. A directory named by the user may contain the logs directly."""
    for home in dict.fromkeys(homes):
        if (home / PROMPT_LOG).is_file():
            yield Source(home / PROMPT_LOG, Form.LOG)
        if (home / NAMES_FILE).is_file():
            yield Source(home / NAMES_FILE, Form.DOCUMENT)
        for directory in ("sessions", "archived_sessions"):
            yield from _rollouts(home / directory, "rollout-*")
    for home in named:
        if not (home / "sessions").is_dir():
            yield from _rollouts(home, "*.jsonl*")


def _rollouts(directory: Path, pattern: str) -> Iterator[Source]:
    for path in sorted(directory.rglob(pattern)):
        if path.suffix == ".jsonl" and path.name not in (PROMPT_LOG, NAMES_FILE):
            yield Source(path, Form.LOG)
        elif path.suffix == ".json" or (path.suffix == COMPRESSED and not path.with_suffix("").exists()):
            yield Source(path, Form.DOCUMENT)


def read(source: Source, cursor: Cursor) -> Iterator[Piece]:
    if source.path.name == NAMES_FILE:
        yield from _read_names(source.path)
        return
    log = Log(str(source.path), cursor)
    if source.path.suffix == ".json":
        yield from _read_document(source.path, log)
        return
    with _open(source.path) as stream:
        if source.path.name == PROMPT_LOG:
            yield from log.read(stream, PROMPTS, functools.partial(_hear_prompt, log))
            return
        try:
            yield from log.read(stream, ENTRIES, _Thread(source.path, log).hear, is_content)
        except ZstdError as error:
            raise Unreadable(f"{source.path} cannot be decompressed: {error}.") from error


def _open(path: Path) -> BinaryIO:
    """Open the log in its current form: Codex compresses an inactive one, and expands it on resuming."""
    plain = path.with_suffix("") if path.suffix == COMPRESSED else path
    try:
        return open_regular(plain)
    except FileNotFoundError:
        packed = open_regular(plain.with_name(plain.name + COMPRESSED))
        return open_frames(packed)


def _read_document(path: Path, log: Log) -> Iterator[Piece]:
    """Read the oldest format."""
    try:
        rollout = ROLLOUT.decode(read_regular(path))
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Unreadable(f"{path} is not a rollout: {error}.") from error
    thread = _Thread(path, log)
    for position, raw in enumerate((rollout.session, *rollout.items)):
        log.goes_on(position, bytes(raw))
        if (entry := decode_raw(raw, ENTRIES)) is not None:
            thread.hear(entry)
    yield from log.pieces(is_last=True)


class _Thread:
    """The state of reading one log.

    Messages are recorded twice: items contain the text, and events identify the speaker."""

    def __init__(self, path: Path, log: Log) -> None:
        name = _NAME.match(path.name)
        stem = path.name.partition(".")[0]
        self.log = log
        self.memory: dict[str, Any] = log.memory.setdefault("thread", {"id": name[1] if name else stem})
        self.prefix = name[2] if name and name[2] else ""
        """A prefix for the ids of a reverted thread, which has several logs with different lines."""
        self.names = _names(path)
        self.replay = ForkReplay(log.memory.setdefault("replay", {}))

    def hear(self, entry: RolloutEntry) -> None:
        item = entry.payload
        match entry.type:
            case "response_item":
                self._hear_item(entry, item or entry)
            case "event_msg" if item is not None:
                self._hear_event(entry, item)
            case "session_meta" | "":
                self._hear_meta(item or entry)
            case "turn_context" if item is not None:
                self._hear_turn(item)
                self.memory["model"] = item.model or self.memory.get("model", "")
                self._set_directory(item.cwd)
            case "compacted":
                if text := text_of((item or entry).message):
                    self._begin(entry, Role.SUMMARY).texts.append(text)
            case _:
                self._hear_item(entry, entry)

    def _hear_meta(self, meta: RolloutItem) -> None:
        """Read the thread's record. A fork repeats the record of its original: only the first one is its own."""
        if meta.id and meta.id == self.memory.get("root", meta.id):
            # each repeated log names the log that it was forked from
            self.memory["root"] = meta.forked_from_id or meta.id
        if "kind" in self.memory or not meta.id:
            if self.memory.get("kind") == ConversationKind.FORK and meta.id == self.memory["parent"]:
                self.replay.begin(self.memory["id"], meta)
            return
        spawned_by = meta.parent_thread_id or spawner_of(meta.source)
        kind = ConversationKind.MAIN if spawned_by is None else ConversationKind.SUBAGENT
        if meta.forked_from_id and kind is ConversationKind.MAIN:
            kind = ConversationKind.FORK
        self.memory.update(
            id=meta.id,
            kind=kind.value,
            parent=spawned_by or meta.forked_from_id,
            directory=meta.cwd or "",
            branch=(meta.git.branch if meta.git else None) or "",
        )

    def _hear_turn(self, turn: RolloutItem) -> None:
        if self.replay.ends_with(turn.turn_id):
            self.log.close()

    def _hear_item(self, entry: RolloutEntry, item: RolloutItem) -> None:
        match item.type or ("message" if item.role else ""):
            case "message" if item.role == "assistant":
                for text in texts_of(item.content):
                    self._say(entry, text)
            case "message" if item.role == "user":
                self._hear_user(entry, texts_of(item.content))
            case "message" if HOOK not in (item.content_item_kinds or ()):
                self._inject(entry, texts_of(item.content))
            case "reasoning":
                for text in texts_of(item.summary):
                    self._think(entry, text)
            case (
                "function_call"
                | "custom_tool_call"
                | "local_shell_call"
                | "web_search_call"
                | "tool_search_call"
            ):
                self._speak(entry).call(item.call_id or item.id or "", call_of(item))
            case "function_call_output" | "custom_tool_call_output" | "local_shell_call_output":
                at_ms = to_ms(entry.timestamp)
                conversation = self._conversation()
                conversation.happened(at_ms)
                self._end_answer()
                output = output_of(item.output)
                self.log.answer(
                    conversation,
                    item.call_id or "",
                    lambda: output.text,
                    at_ms,
                    is_error=output.is_error,
                    exit_code=output.exit_code,
                    duration_ms=output.duration_ms,
                )

    def _end_answer(self) -> None:
        """Make the model's next message a new turn, even if nothing in between is stored."""
        if (turn := self.log.open) is not None and turn.key == SPEAKING:
            turn.key = ""

    def _hear_event(self, entry: RolloutEntry, event: RolloutItem) -> None:
        match event.type:
            case "task_started":
                self._hear_turn(event)
            case "user_message":
                self.memory["has_events"] = True
                if text := request_in(text_of(event.message)):
                    self._confirm(entry, text)
            case "agent_message":
                if text := text_of(event.message):
                    self._say(entry, text)
            case "agent_reasoning" if event.text:
                self._think(entry, event.text)
            case "patch_apply_end":
                self._patch(event)
            case "token_count":
                self._count(entry, event)
            case "thread_name_updated":
                self._conversation().entitle(event.thread_name or "", Title.GENERATED)

    def _hear_user(self, entry: RolloutEntry, texts: list[str]) -> None:
        requests = [
            text for text in (request_in(text) for text in texts if not is_injected(text, CODEX)) if text
        ]
        if not requests:
            self._end_answer()
            self._inject(entry, texts)
            return
        self._doubt()
        text = "\n\n".join(requests)
        turn = self.log.open
        if turn is not None and turn.key == ASKING and (turn.texts[0] == text or turn.texts[0] in requests):
            turn.texts[0] = text
            return
        is_human = not self.memory.get("has_events")
        turn = self._begin(entry, self._asker() if is_human else Role.SYSTEM, ASKING)
        turn.texts.append(text)
        if is_human:
            turn.conversation.entitle_by_prompt(text)

    def _confirm(self, entry: RolloutEntry, text: str) -> None:
        """Mark a text as typed by a person, according to an event. Items without an event were not typed."""
        turn = self.log.open
        if turn is None or turn.key != ASKING or text not in turn.texts[0]:
            if turn is not None and turn.key == ASKING:
                turn.role = Role.SYSTEM
            turn = self._begin(entry, Role.SYSTEM, ASKING)
            turn.texts.append(text)
        turn.role = self._asker()
        turn.conversation.entitle_by_prompt(text)

    def _doubt(self) -> None:
        if self.replay.ends_in_doubt():
            self.log.close()

    def _asker(self) -> Role:
        """Return the role of prompts. In a subagent's log they come from the agent that gave it its task."""
        return Role.SYSTEM if self.memory.get("kind") == ConversationKind.SUBAGENT else Role.USER

    def _inject(self, entry: RolloutEntry, texts: list[str]) -> None:
        text = "\n\n".join(texts)
        if (match := _CWD.search(text)) is not None:
            self._set_directory(match[1].strip())
        if text:
            self._begin(entry, Role.SYSTEM).texts.append(head_and_tail(text))

    def _say(self, entry: RolloutEntry, text: str) -> None:
        turn = self._speak(entry)
        if text not in turn.texts:
            turn.texts.append(text)

    def _think(self, entry: RolloutEntry, text: str) -> None:
        turn = self._speak(entry)
        if text not in turn.thoughts:
            turn.thoughts.append(text)

    def _patch(self, event: RolloutItem) -> None:
        turn = self.log.open
        position = turn.waiting.get(event.call_id or "") if turn is not None else None
        if turn is not None and position is not None and event.changes:
            turn.calls[position] = turn.calls[position]._replace(writes=tuple(event.changes))

    def _count(self, entry: RolloutEntry, event: RolloutItem) -> None:
        """Count a model call. Codex repeats the total with its rate limits: only a different total is a new call."""
        count = token_count_of(event)
        if count is None or count.total_token_usage is None:
            return
        total = count.total_token_usage.numbers()
        if total == self.memory.get("total"):
            return
        self.memory["total"] = total
        thread = self.memory.get("root") or self.memory["id"]
        if (
            used := model_call(thread, count, self.memory.get("model", ""), to_ms(entry.timestamp))
        ) is not None:
            turn = self.log.open
            is_speaking = turn is not None and turn.role is Role.ASSISTANT
            self._conversation().spend(
                used._replace(turn=turn.id if turn is not None and is_speaking else "")
            )

    def _speak(self, entry: RolloutEntry) -> OpenTurn:
        """Return the model's turn, which lasts until it receives a result or the person speaks."""
        self._doubt()
        turn = self.log.open
        if turn is None or turn.key != SPEAKING:
            turn = self._begin(entry, Role.ASSISTANT, SPEAKING)
            turn.model = turn.conversation.model = self.memory.get("model", "")
        return turn

    def _begin(self, entry: RolloutEntry, role: Role, key: str = "") -> OpenTurn:
        at_ms = to_ms(entry.timestamp)
        conversation = self._conversation()
        conversation.happened(at_ms)
        return self.log.begin(conversation, self.log.name(at_ms, self.prefix), role, at_ms, key)

    def _set_directory(self, directory: str | None) -> None:
        if directory and not self.memory.get("directory"):
            self.memory["directory"] = directory

    def _conversation(self) -> OpenConversation:
        if origin := self.replay.origin:
            repeated = self.log.conversation(origin, standing=WitnessRank.REPLAY)
            repeated.directory = self.replay.directory
            return repeated
        id = self.memory["id"]
        kind = ConversationKind(self.memory.get("kind", ConversationKind.MAIN))
        conversation = self.log.conversation(id, kind=kind, parent=self.memory.get("parent"))
        conversation.directory = self.memory.get("directory", "")
        conversation.branch = self.memory.get("branch", "")
        if name := self.names.get(id):
            conversation.entitle(name, Title.CHOSEN)
        return conversation


def _read_names(path: Path) -> Iterator[Piece]:
    """Yield the names of inactive threads. An active log takes its name from here when it is read."""
    names = _names(path)
    for place, (id, name) in enumerate(names.items(), 1):
        cursor = Cursor() if place == len(names) else None
        yield Piece(ConversationHeader(id, str(path), title=name), (), cursor, is_name=True)


def _names(path: Path) -> dict[str, str]:
    """Return the names of threads, from the file above all logs of this user."""
    for parent in path.parents[:6]:
        index = parent / NAMES_FILE
        if index.is_file():
            return _names_as_of(index, index.stat().st_mtime_ns)
    return {}


@functools.lru_cache(maxsize=4)
def _names_as_of(index: Path, _modified_ns: int) -> dict[str, str]:
    with open_regular(index) as stream:
        return {name.id: name.thread_name for _, name in read_records(stream, NAMES, Counter())}


def _hear_prompt(log: Log, prompt: RolloutPrompt) -> None:
    if prompt.session_id and (text := prompt.text.strip()):
        log.prompt(prompt.session_id, text, to_ms(prompt.ts))
