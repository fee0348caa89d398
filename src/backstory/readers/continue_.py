"""Continue: one document per session, and a list of sessions. Messages have no times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from . import ConversationHeader, Cursor, Form, Piece, Places, Reader, Role, Source, ToolCall, Turn
from .formats.blocks import ToolOutput, blocks_of, functions_in, text_in
from .formats.documents import read_beside, read_document
from .formats.paths import homes, locate
from .formats.pieces import whole
from .formats.values import fields_of, records_of, text_of, time_ms

LIST = "sessions.json"
UNNAMED = "New Session"


def find(places: Places) -> Iterator[Source]:
    named = places.environment.get("CONTINUE_GLOBAL_DIR", "")
    usual = ([Path(named)] if named else []) + [home / ".continue" for home in homes(places)]
    for root in dict.fromkeys([*usual, *places.roots.get("continue", ())]):
        listed = {
            text_of(entry.get("sessionId")): entry
            for entry in records_of(read_beside(root / "sessions" / LIST))
        }
        for path in sorted(root.glob("sessions/*.json")):
            if path.name != LIST:
                title = text_of(listed.get(path.stem, {}).get("title"))
                yield Source(path, Form.DOCUMENT, beside=title)


def read(source: Source, cursor: Cursor) -> Iterator[Piece]:
    session = fields_of(read_document(source.path))
    id = text_of(session.get("sessionId")) or source.path.stem
    listed = records_of(read_beside(source.path.with_name(LIST)))
    entry = next((entry for entry in listed if entry.get("sessionId") == id), {})
    skipped: Counter[str] = Counter()
    turns = list(_turns(session, skipped))
    titles = (text_of(record.get("title")) for record in (session, entry))
    place = text_of(session.get("workspaceDirectory")) or text_of(entry.get("workspaceDirectory"))
    header = ConversationHeader(
        native_id=id,
        source=str(source.path),
        title=next((title for title in titles if title not in ("", UNNAMED)), ""),
        directory=locate(place).path,
        model=text_of(session.get("chatModelTitle")),
        started_ms=time_ms(entry.get("dateCreated")),
    )
    yield whole(header, turns, skipped)


def _turns(session: dict[str, Any], skipped: Counter[str]) -> Iterator[Turn]:
    thought = ""
    for n, item in enumerate(records_of(session.get("history"))):
        message = fields_of(item.get("message"))
        id, text = text_of(message.get("id")) or str(n), text_in(blocks_of(message.get("content")))
        match message.get("role"):
            case "user":
                turn = Turn(id, Role.USER, text)
            case "assistant":
                reasoning = text_of(fields_of(item.get("reasoning")).get("text"))
                thinking = "\n\n".join(filter(None, (thought, reasoning.strip())))
                turn = Turn(id, Role.ASSISTANT, text, thinking=thinking, calls=tuple(_calls(item, message)))
                thought = ""
            case "thinking":
                thought = text  # belongs to the next answer
                continue
            case "system" | "tool":
                continue
            case _:
                skipped["unknown role"] += 1
                continue
        if not turn.is_empty:
            yield turn
        if summary := text_of(item.get("conversationSummary")).strip():
            yield Turn(f"{id}/summary", Role.SUMMARY, summary)


def _calls(item: dict[str, Any], message: dict[str, Any]) -> Iterator[ToolCall]:
    """Yield tool calls with their outcomes, which the states contain. A session that was left at once has no states."""
    states = list(records_of(item.get("toolCallStates") or [item.get("toolCallState")]))
    if not states:
        yield from (use.call() for use in functions_in(message.get("toolCalls")))
    for state in states:
        for use in functions_in([state.get("toolCall")]):
            arguments = fields_of(state.get("parsedArgs")) or use.arguments
            yield use._replace(arguments=arguments).answered(_output(state))


def _output(state: dict[str, Any]) -> ToolOutput | None:
    texts = (text_of(output.get("content")) for output in records_of(state.get("output")))
    text, has_failed = "\n".join(filter(None, texts)), state.get("status") == "errored"
    if not has_failed and state.get("status") != "done" and not text:
        return None
    return ToolOutput(text or ("failed" if has_failed else ""), has_failed)


reader = Reader("continue", "Continue", find, read)
