"""A piece of a foreign conversation → the records that are kept of it. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from ...domain.records import Conversation, Message, Trace, Trust
from ...domain.statements import MessageSaying
from ...domain.when import from_ms, to_ms
from ...readers import Piece, ToolCall, Turn
from ...readers.formats.titles import title_of
from ..statements.extraction import RULES


def conversation_id(reader: str, native_id: str) -> str:
    return f"{reader}:{native_id}"


def message_ids(conversation: str, turn: Turn) -> tuple[str, str, str]:
    """Of what was said, of what was thought and of what tools were called with."""
    said = f"{conversation}/{turn.id}"
    return said, f"{said}#thinking", f"{said}#tool"


def times_of(piece: Piece, modified_ms: int) -> list[int]:
    """The turns' own and the conversation's; where there are none, the file's."""
    told = piece.header
    times = [turn.at_ms for turn in piece.turns if turn.at_ms is not None]
    times += [at for at in (told.started_ms, told.ended_ms) if at is not None]
    return times or [modified_ms]


def merged(
    reader: str,
    piece: Piece,
    known: Conversation | None,
    *,
    project: str,
    modified_ms: int,
    trust: Trust,
) -> Conversation:
    """The conversation's row after this piece."""
    told = piece.header
    times = times_of(piece, modified_ms)
    if known is not None:
        times += (to_ms(known.created_at), to_ms(known.updated_at))
    return Conversation(
        id=conversation_id(reader, told.native_id),
        title=told.title or (known.title if known is not None else "") or title_of(piece.turns),
        project=project,
        surface=reader,
        created_at=from_ms(min(times)),
        updated_at=from_ms(max(times)),
        kind=told.kind.value,
        parent=None if told.parent is None else conversation_id(reader, told.parent),
        native_id=told.native_id,
        source=told.source,
        directory=told.directory,
        branch=told.branch,
        model=told.model,
        completeness=told.completeness,
        standing=int(told.standing),
        trust=trust,
        rules=RULES,
    )


def messages_of(
    conversation: Conversation, turns: Sequence[Turn], known: Mapping[str, int], last: int, at: datetime
) -> list[Message]:
    """What is kept of turns that follow on `last`. One without a time has that of the one before it, the first `at`."""
    messages: list[Message] = []
    for turn, seq in _placed(conversation.id, turns, known, last):
        at = at if turn.at_ms is None else from_ms(turn.at_ms)
        messages += _messages_of(conversation, turn, seq, at)
    return messages


def _placed(
    conversation: str, turns: Sequence[Turn], known: Mapping[str, int], last: int
) -> Iterator[tuple[Turn, int]]:
    """Each turn with its `seq`. What is said goes on from `last`; a turn of calls alone stands with what was said
    before it, so that a question and its answer stay neighbours. A turn that is known keeps its place, and a new one
    before it stands with what was said before: another copy of the log lacked it."""
    limits = _next_places(conversation, turns, known)
    for turn, limit in zip(turns, limits, strict=True):
        said, thinking, tool = message_ids(conversation, turn)
        alone = known.get(tool, known.get(thinking, max(last, 0)))
        next_place = last + 1 if limit is None or limit > last + 1 else max(last, 0)
        seq = known.get(said, next_place) if turn.text else alone
        last = max(last, seq)
        yield turn, seq


def _next_places(conversation: str, turns: Sequence[Turn], known: Mapping[str, int]) -> list[int | None]:
    """For each turn, the place of the next one after it in which something known is said."""
    places: list[int | None] = []
    following: int | None = None
    for turn in reversed(turns):
        places.append(following)
        if turn.text:
            following = known.get(message_ids(conversation, turn)[0], following)
    return places[::-1]


def _messages_of(conversation: Conversation, turn: Turn, seq: int, at: datetime) -> Iterator[Message]:
    said, thinking, tool = message_ids(conversation.id, turn)
    for id, role, text in (
        (said, turn.role.value, turn.text),
        (thinking, "thinking", turn.thinking),
        (tool, "tool", "\n".join(map(_call_text, turn.calls))),
    ):
        if text:
            yield Message(
                id,
                conversation.id,
                seq,
                role,
                text,
                conversation.project,
                conversation.surface,
                at,
                trust=conversation.trust_of(role),
            )


def _call_text(call: ToolCall) -> str:
    parts = [call.name, call.arguments]
    parts += [more for more in (call.command, *call.reads, *call.writes) if more not in call.arguments]
    if call.error:
        parts.append(f"failed: {call.error}")
    return " ".join(part for part in parts if part)


def sayings_of(conversation: str, turn: Turn) -> Iterator[MessageSaying]:
    """What a turn states, as sayings of what was said in it, or else of its calls."""
    said, _, tool = message_ids(conversation, turn)
    yield from (MessageSaying(said if turn.text else tool, saying) for saying in turn.sayings)


def traces_of(conversation: str, turn: Turn) -> Iterator[Trace]:
    message = message_ids(conversation, turn)[2]
    for call in turn.calls:
        yield from (Trace(message, "read", path) for path in call.reads if path)
        yield from (Trace(message, "written", path) for path in call.writes if path)
        if call.command:
            yield Trace(message, "command", call.command)
        if call.error:
            yield Trace(message, "error", call.error)
