"""What a user typed, where another program noted that and not the answers."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from ...domain.when import to_ms
from ...readers import ConversationHeader, ConversationKind, Piece, Role, Turn, WitnessRank
from ..sync.pieces import conversation_id
from .archives import conversation_of
from .contents import ForeignConversation


class Prompt(NamedTuple):
    id: str
    text: str
    at: datetime


def prompt_log(
    program: str,
    session: str,
    prompts: Sequence[Prompt],
    *,
    source: str,
    project: str,
    assistants: Sequence[str],
) -> ForeignConversation:
    """The prompts of a session; nothing where one of the assistants' own histories tells of it."""
    turns = [Turn(each.id, Role.USER, each.text, to_ms(each.at)) for each in prompts if each.text.strip()]
    header = ConversationHeader(
        session,
        source,
        kind=ConversationKind.PROMPT_LOG,
        standing=WitnessRank.PROMPTS,
        completeness="partial",
    )
    also = tuple(conversation_id(assistant, session) for assistant in assistants)
    return conversation_of(program, "prompt logs", Piece(header, turns), 0, project=project, also=also)
