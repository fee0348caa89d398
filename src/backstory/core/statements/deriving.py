"""Statements of conversations that were stored before the present rules, or otherwise than by reading a log.

They are made from the stored messages, since the logs may be gone. What tools gave back is not stored, so such a
conversation has only what was said in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from ...domain.errors import BackstoryError
from ...domain.records import Conversation, Message, Trace
from ...domain.statements import MessageSaying
from ...readers import Role, ToolCall, Turn
from ...store import Store
from .extraction import RULES, sayings_of

MAX_AT_ONCE = 50
"""Conversations that one question waits for; the newest, the others are for the next."""
TOOL = "tool"
_ROLES = {role.value: role for role in (Role.USER, Role.ASSISTANT, Role.SUMMARY)}


def derive_next(store: Store) -> int:
    """Make the statements of some conversations that have none by the present rules; how many there were."""
    return derive_missing(store, store.conversations.with_older_rules(RULES, limit=MAX_AT_ONCE))


def derive_missing(store: Store, conversations: Sequence[Conversation]) -> int:
    """Make the statements of those that have none by the present rules; how many conversations there were."""
    due = [each for each in conversations if each.rules < RULES][:MAX_AT_ONCE]
    for conversation in due:
        with suppress(BackstoryError):  # a store that cannot be written still tells what it knows
            derive(store, conversation)
    return len(due)


def derive(store: Store, conversation: Conversation) -> None:
    """Replace the statements of one conversation by those that the present rules find in its stored messages."""
    touched: dict[str, list[Trace]] = {}
    for trace in store.traces.of(conversation.id):
        touched.setdefault(trace.message, []).append(trace)
    messages = store.messages.of(conversation.id)
    turns = [_turn(each, touched.get(each.id, ())) for each in messages if each.role in (*_ROLES, TOOL)]
    stated = sayings_of(turns)
    sayings = [MessageSaying(id, saying) for id, some in stated.items() for saying in some]
    with store.transaction():
        store.conversations.restate(conversation.id, sayings, RULES)


def _turn(message: Message, traces: Sequence[Trace]) -> Turn:
    if message.role != TOOL:
        return Turn(message.id, _ROLES[message.role], message.text)
    reads = tuple(trace.value for trace in traces if trace.kind == "read")
    writes = tuple(trace.value for trace in traces if trace.kind == "written")
    first, *others = [ToolCall(*_name_and_arguments(line)) for line in message.text.splitlines() or [""]]
    return Turn(message.id, Role.ASSISTANT, "", calls=(first._replace(reads=reads, writes=writes), *others))


def _name_and_arguments(line: str) -> tuple[str, str]:
    name, _, arguments = line.partition(" ")
    return name, arguments
