"""Conversion of a piece of a foreign conversation to records. Pure functions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from ...domain.handoffs import HANDOFF_MARK, SessionHandoff
from ...domain.records import Conversation, Message, Trace, Trust
from ...domain.runs import MessageRun
from ...domain.statements import MessageSaying
from ...domain.tool_results import StoredCall, StoredResult, TextRange
from ...domain.when import from_ms, to_ms
from ...readers import CallResult, Piece, Role, ToolCall, Turn
from ...readers.formats.titles import title_of
from ..failures.extraction import RUN_RULES, signed
from ..statements.extraction import RULES
from .transactions import ROW_COST, TRANSACTION_COST

PART_COST = TRANSACTION_COST // 4  # several parts fit into a transaction, so that it ends close to its limit


def conversation_id(reader: str, native_id: str) -> str:
    return f"{reader}:{native_id}"


def message_ids(conversation: str, turn_id: str) -> tuple[str, str, str]:
    """The ids of a turn's spoken text, its thinking and its tool calls."""
    spoken = f"{conversation}/{turn_id}"
    return spoken, f"{spoken}#thinking", f"{spoken}#tool"


def without_copies(piece: Piece, handoff: SessionHandoff, title: str) -> Piece:
    """The turns of a session after we wrote it: its first turns are copies of another conversation.

    If its title comes from one of these turns, it gets the title of the original conversation."""
    handed_ms = to_ms(handoff.handed_at)
    turns = [turn for turn in piece.turns if turn.at_ms is None or turn.at_ms >= handed_ms]
    if not any(turn.role in (Role.USER, Role.ASSISTANT) for turn in turns):
        turns = []  # only notes that the program wrote while it loaded the session
    header = piece.header
    if header.title.startswith(HANDOFF_MARK):
        header = header._replace(title=title)
    started_ms, ended_ms = (
        None if at_ms is None else max(at_ms, handed_ms) for at_ms in (header.started_ms, header.ended_ms)
    )
    return piece._replace(turns=turns, header=header._replace(started_ms=started_ms, ended_ms=ended_ms))


def times_of(piece: Piece, modified_ms: int) -> list[int]:
    """The times of turns and conversation, or the file's time if there are none."""
    header = piece.header
    times = [turn.at_ms for turn in piece.turns if turn.at_ms is not None]
    times += [at for at in (header.started_ms, header.ended_ms) if at is not None]
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
    header = piece.header
    times = times_of(piece, modified_ms)
    if known is not None:
        times += (to_ms(known.created_at), to_ms(known.updated_at))
    return Conversation(
        id=conversation_id(reader, header.native_id),
        # The file's own title comes first, then the stored one, then the first turns.
        title=header.title or (known.title if known is not None else "") or title_of(piece.turns),
        project=project,
        surface=reader,
        created_at=from_ms(min(times)),
        updated_at=from_ms(max(times)),
        kind=header.kind.value,
        parent=None if header.parent is None else conversation_id(reader, header.parent),
        native_id=header.native_id,
        source=header.source,
        directory=header.directory,
        branch=header.branch,
        model=header.model,
        completeness=header.completeness,
        standing=int(header.standing),
        trust=trust,
        rules=RULES,
        run_rules=RUN_RULES,
    )


def messages_of(
    conversation: Conversation, turns: Sequence[Turn], known: Mapping[str, int], last: int, at: datetime
) -> list[Message]:
    """The messages of turns that follow `last`. A turn without a time gets that of the turn before it, the first one `at`."""
    messages: list[Message] = []
    for turn, seq in _placed(conversation.id, turns, known, last):
        at = at if turn.at_ms is None else from_ms(turn.at_ms)
        messages += _messages_of(conversation, turn, seq, at)
    return messages


def _placed(
    conversation: str, turns: Sequence[Turn], known: Mapping[str, int], last: int
) -> Iterator[tuple[Turn, int]]:
    """Each turn with its `seq`.

    Spoken turns continue from `last`. A turn with only tool calls shares the place of the spoken turn before it, so
    that a question and its answer stay adjacent. A known turn retains its place, and a new turn before it shares the
    place of the spoken turn before: another copy of the log lacked it."""
    limits = _next_places(conversation, turns, known)
    for turn, limit in zip(turns, limits, strict=True):
        spoken, thinking, tool = message_ids(conversation, turn.id)
        alone = known.get(tool, known.get(thinking, max(last, 0)))
        # Between two known neighbours there is no free number, so the place of the former is shared.
        next_place = last + 1 if limit is None or limit > last + 1 else max(last, 0)
        seq = known.get(spoken, next_place) if turn.text else alone
        last = max(last, seq)
        yield turn, seq


def _next_places(conversation: str, turns: Sequence[Turn], known: Mapping[str, int]) -> list[int | None]:
    """For each turn, the place of the next known spoken turn after it."""
    places: list[int | None] = []
    following: int | None = None
    for turn in reversed(turns):
        places.append(following)
        if turn.text:
            following = known.get(message_ids(conversation, turn.id)[0], following)
    return places[::-1]


def _messages_of(conversation: Conversation, turn: Turn, seq: int, at: datetime) -> Iterator[Message]:
    spoken, thinking, tool = message_ids(conversation.id, turn.id)
    for id, role, text in (
        (spoken, turn.role.value, turn.text),
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
    # Commands and paths that the arguments lack are added, so that they can be searched.
    parts += [more for more in (call.command, *call.reads, *call.writes) if more not in call.arguments]
    if call.error:
        parts.append(f"failed: {call.error}")
    return " ".join(part for part in parts if part)


def calls_of(conversation: str, turn: Turn) -> Iterator[StoredCall]:
    """The tool calls of a turn, with the range of their arguments in the text of its message.

    Entries of the harness (role SYSTEM) are notes, not calls."""
    message = message_ids(conversation, turn.id)[2]
    start = 0
    for call in turn.calls:
        text = _call_text(call)
        if call.name and turn.role is not Role.SYSTEM:
            arguments = (
                TextRange(start + len(call.name) + 1, len(call.arguments)) if call.arguments else TextRange()
            )
            command_at = text.find(call.command, len(call.name)) if call.command else -1
            command = TextRange(start + command_at, len(call.command)) if command_at >= 0 else TextRange()
            yield StoredCall(message, call.id, call.name, arguments, command, stored_result(call.result))
        start += len(text) + 1  # the line break between two calls


def stored_result(result: CallResult | None) -> StoredResult | None:
    if result is None:
        return None
    is_cut = result.cut is not None
    return StoredResult(
        result.text, result.bytes, is_cut, result.is_error, result.exit_code, result.duration_ms
    )


def sayings_of(conversation: str, turn: Turn) -> Iterator[MessageSaying]:
    """The sayings of a turn, attached to its spoken text or, without one, to its calls."""
    if turn.sayings:
        spoken, _, tool = message_ids(conversation, turn.id)
        yield from (MessageSaying(spoken if turn.text else tool, saying) for saying in turn.sayings)


def runs_of(conversation: str, turn: Turn) -> Iterator[MessageRun]:
    """The runs of a turn's commands."""
    message = message_ids(conversation, turn.id)[2]
    yield from (MessageRun(message, signed(run)) for run in turn.runs)


def traces_of(conversation: str, turn: Turn) -> Iterator[Trace]:
    message = message_ids(conversation, turn.id)[2]
    for call in turn.calls:
        yield from (Trace(message, "read", path) for path in call.reads if path)
        yield from (Trace(message, "written", path) for path in call.writes if path)
        if call.command:
            yield Trace(message, "command", call.command)
        if call.error:
            yield Trace(message, "error", call.error)


def split_piece(piece: Piece) -> Iterator[Piece]:
    """Split a piece into parts that are cheap to write; at least one."""
    rest = piece
    turns: list[Turn] = []
    cost = 0
    for turn in piece.turns:
        if cost >= PART_COST:
            # Usage and late results refer to messages, so they are written with the last part.
            yield rest._replace(turns=turns, usage=(), late_results={})
            # The following parts continue the first one instead of replacing it.
            rest = rest._replace(is_whole=False)
            turns, cost = [], 0
        turns.append(turn)
        # A call has about two rows besides its message: the call itself and a trace.
        cost += ROW_COST * (1 + 2 * len(turn.calls)) + len(turn.text) + len(turn.thinking)
    yield rest._replace(turns=turns)


def possible_ids(conversation: str, piece: Piece) -> set[str]:
    """The ids of all messages that the turns of a piece may have or had."""
    return {id for turn in piece.turns for id in message_ids(conversation, turn.id)}


def is_same_turn(message: Message, turn: Turn) -> bool:
    """True if a message that is identified by its place is the turn at that place, and not an earlier one."""
    if turn.at_ms is not None:
        return to_ms(message.created_at) == turn.at_ms
    text = {"thinking": turn.thinking, "tool": message.text}.get(message.role, turn.text)
    return message.text.startswith(text) or text.startswith(message.text)


def is_beginning(text: str, whole: str) -> bool:
    return len(text) < len(whole) and whole.startswith(text)


def is_excerpt(text: str, whole: str) -> bool:
    """True if a text consists of some of the lines of another, in order, and no others."""
    # Membership tests consume the iterator, so the order of lines is checked too.
    lines = iter(whole.split("\n"))
    return len(text) < len(whole) and all(line in lines for line in text.split("\n"))
