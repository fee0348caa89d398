"""Cline, Roo Code and Kilo Code: one directory per task, and in newer versions a pair of files per session."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from .. import ConversationHeader, ConversationKind, Cursor, Form, Piece, Places, Reader, Role, Source, Turn
from ..formats.documents import read_beside, read_document, stamps
from ..formats.paths import EDITORS, editor_directories, homes
from ..formats.pieces import whole
from ..formats.times import TurnTimes
from ..formats.values import fields_of, records_of, text_of, time_ms
from .messages import directory_in, turns_of
from .usage import usage_of

EXTENSIONS = ("saoudrizwan.claude-dev", "rooveterinaryinc.roo-cline", "kilocode.kilo-code")
TASK = "api_conversation_history.json"
UI_MESSAGES = "ui_messages.json"
ITEM = "history_item.json"
SESSION = ".messages.json"
TYPED = ("task", "user_feedback")
ANSWERED = ("text", "completion_result")


def find(places: Places) -> Iterator[Source]:
    editors = editor_directories(places, *EDITORS)
    storages = [user / "globalStorage" / extension for user in editors for extension in EXTENSIONS]
    for storage in dict.fromkeys([*storages, *_data(places)]):
        listed = _task_items(storage)
        for path in sorted(storage.glob(f"tasks/*/{TASK}")):
            yield Source(path, Form.DOCUMENT, beside=_beside(path, listed.get(path.parent.name, {})))
    for sessions in dict.fromkeys(_sessions(places)):
        for path in sorted(sessions.glob(f"*/*{SESSION}")):
            yield Source(path, Form.DOCUMENT, beside=stamps(_manifest(path)))


def _task_items(storage: Path) -> dict[str, dict[str, Any]]:
    """Return the entries of the task list by task id."""
    items = records_of(read_beside(storage / "state" / "taskHistory.json"))
    return {str(item.get("id")): item for item in items}


def _beside(task: Path, item: Mapping[str, Any]) -> str:
    """Return a fingerprint of the other files that describe a task and are written later."""
    texts = [text_of(item.get("task")), _directory(item)]
    return stamps(task.with_name(UI_MESSAGES), task.with_name(ITEM)) + (
        "\n".join(texts) if any(texts) else ""
    )


def _manifest(messages: Path) -> Path:
    return messages.with_name(messages.name.replace(SESSION, ".json"))


def _data(places: Places) -> Iterator[Path]:
    variables = places.environment
    if named := variables.get("CLINE_DATA_DIR", ""):
        yield Path(named)
    if named := variables.get("CLINE_DIR", ""):
        yield Path(named) / "data"
    yield from (home / ".cline" / "data" for home in homes(places))
    yield from places.roots.get("cline", ())


def _sessions(places: Places) -> Iterator[Path]:
    if named := places.environment.get("CLINE_SESSION_DATA_DIR", ""):
        yield Path(named)
    yield from (data / "sessions" for data in _data(places))


def read(source: Source, cursor: Cursor) -> Iterator[Piece]:
    document = read_document(source.path)
    yield _session(source, document) if source.path.name.endswith(SESSION) else _task(source, document)


def _task(source: Source, document: object) -> Piece:
    directory = source.path.parent
    messages, skipped = list(records_of(document)), Counter[str]()
    turns = list(turns_of(messages, skipped))
    entries = list(records_of(read_beside(directory / UI_MESSAGES)))
    _compare(turns, entries)
    item = _item(directory)
    header = ConversationHeader(
        native_id=directory.name,
        source=str(source.path),
        title=text_of(item.get("task")),
        directory=_directory(item) or directory_in(messages),
        model=text_of(item.get("modelId")),
        started_ms=time_ms(directory.name),  # the directory is named after the task's start time
        ended_ms=time_ms(item.get("ts")),
    )
    model = header.model or next((turn.model for turn in turns if turn.model), "")
    return whole(header, turns, skipped, usage=usage_of(header.native_id, messages, entries, model))


def _compare(turns: list[Turn], entries: list[dict[str, Any]]) -> None:
    """Take times from the displayed messages, which contain the person's complete text as typed.

    They lack the file contents that replace mentions. Prompts whose words match none are matched in order."""
    typed, answered = _prompt_times(entries), _answer_times(entries)
    unmatched = []
    for n, turn in enumerate(turns):
        at_ms = (typed if turn.role is Role.USER else answered).take(turn.text)
        if at_ms is None and turn.role is Role.USER:
            unmatched.append(n)
        turns[n] = turn if turn.at_ms is not None else turn._replace(at_ms=at_ms)
    left = sorted(typed.left())
    for n, (at_ms, text) in zip(unmatched, left, strict=False):
        turns[n] = turns[n]._replace(text=text, at_ms=at_ms)
    for at_ms, text in left[len(unmatched) :]:
        turns.insert(_place(turns, at_ms), Turn(f"ui-{at_ms}", Role.USER, text, at_ms))


def _prompt_times(entries: list[dict[str, Any]]) -> TurnTimes:
    """Return the times of the person's messages. Older versions show the task itself as ordinary text."""
    first = [entry for entry in entries[:1] if entry.get("say") == "text"]
    return _times([*first, *(entry for entry in entries if entry.get("say") in TYPED)])


def _answer_times(entries: list[dict[str, Any]]) -> TurnTimes:
    return _times([entry for entry in entries if (entry.get("say") or entry.get("ask")) in ANSWERED])


def _times(entries: list[dict[str, Any]]) -> TurnTimes:
    texts = ((text_of(entry.get("text")), time_ms(entry.get("ts"))) for entry in entries)
    return TurnTimes((text, at_ms) for text, at_ms in texts if text.strip() and at_ms is not None)


def _place(turns: list[Turn], at_ms: int) -> int:
    """Return the index of the first turn that is known to be later."""
    later = (n for n, turn in enumerate(turns) if turn.at_ms is not None and turn.at_ms > at_ms)
    return next(later, len(turns))


def _item(directory: Path) -> dict[str, Any]:
    """Return the entry of this task in the task list."""
    if item := fields_of(read_beside(directory / ITEM)):
        return item
    return _task_items(directory.parents[1]).get(directory.name, {})


def _directory(item: Mapping[str, Any]) -> str:
    return text_of(item.get("cwdOnTaskInitialization")) or text_of(item.get("workspace"))


def _session(source: Source, document: object) -> Piece:
    session = fields_of(document)
    id = text_of(session.get("sessionId")) or source.path.name.removesuffix(SESSION)
    manifest = fields_of(read_beside(_manifest(source.path)))
    metadata = fields_of(manifest.get("metadata"))
    skipped: Counter[str] = Counter()
    messages = list(records_of(session.get("messages")))
    turns = list(turns_of(messages, skipped))
    origin = text_of(fields_of(metadata.get("fork")).get("forkedFromSessionId"))
    header = ConversationHeader(
        native_id=id,
        source=str(source.path),
        title=text_of(metadata.get("title")),
        directory=text_of(manifest.get("cwd")) or text_of(manifest.get("workspace_root")),
        kind=ConversationKind.FORK if origin else ConversationKind.MAIN,
        parent=origin or None,
        model=text_of(manifest.get("model")),
        started_ms=time_ms(manifest.get("started_at")) or time_ms(manifest.get("created_at")),
        ended_ms=time_ms(manifest.get("ended_at")),
    )
    return whole(header, turns, skipped, usage=usage_of(id, messages, (), header.model))


reader = Reader("cline", "Cline, Roo Code, Kilo Code", find, read)
