"""Convert sessions to searchable rows of the store, from which the exact turns can be restored."""

from __future__ import annotations

from collections.abc import Sequence

from ...domain.records import Conversation, Message
from .turns import SPEAKERS, SYSTEM, SessionTurn, from_json, plain_turn, to_json, turn_of

AS_JSON = ":json"
"""Suffix of the id of a row whose text is the turn itself, as JSON."""


def messages_of(conversation: Conversation, turns: Sequence[SessionTurn]) -> list[Message]:
    return [_message(conversation, seq, turn) for seq, turn in enumerate(turns)]


def turns_in(messages: Sequence[Message]) -> list[SessionTurn]:
    return [_turn(message) for message in messages]


def _message(conversation: Conversation, seq: int, turn: SessionTurn) -> Message:
    role = SPEAKERS.get(turn.role.lower(), SYSTEM)
    text = turn.text
    # a database may refuse NUL, a blank text cannot be searched, and a row has only role and text
    is_text = turn.is_plain and bool(text.strip()) and "\0" not in text + turn.role and turn.role != ""
    return Message(
        id=f"{conversation.id}:{seq}" + ("" if is_text else AS_JSON),
        conversation=conversation.id,
        seq=seq,
        role=role,
        text=text if is_text else to_json(turn.as_json()),
        project=conversation.project,
        surface=conversation.surface,
        created_at=conversation.created_at,
        trust=conversation.trust_of(role),
        speaker="" if turn.role == role or not is_text else turn.role,
    )


def _turn(message: Message) -> SessionTurn:
    if not message.id.endswith(AS_JSON):
        return plain_turn(message.speaker or message.role, message.text)
    turn = turn_of(from_json(message.text))
    assert turn is not None
    return turn
