"""Statements of conversations that were stored before the present rules, or otherwise than by reading a log.

They are made from the stored messages, since the logs may be gone. What tools gave back is not stored, so such a
conversation has only what was said in it.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...domain.records import Conversation, Message, Trace
from ...domain.statements import MessageSaying, PlacedSaying
from ...readers import Role, ToolCall, Turn
from ...store import Store
from .extraction import RULES, sayings_of

MAX_AT_ONCE = 50
"""Conversations that one question waits for; the newest, the others are for the next."""
TOOL = "tool"
_ROLES = {role.value: role for role in (Role.USER, Role.ASSISTANT, Role.SUMMARY)}


def derive_next(store: Store) -> int:
    """Store the statements of some conversations that have none by the present rules; how many there were."""
    due = store.conversations.with_older_rules(RULES, limit=MAX_AT_ONCE)
    for conversation in due:
        derive(store, conversation)
    return len(due)


def derive(store: Store, conversation: Conversation) -> None:
    """Replace the statements of one conversation by those that the present rules find in its stored messages."""
    sayings = [MessageSaying(each.message, each.saying) for each in sayings_in(store, conversation)]
    with store.transaction():
        store.conversations.restate(conversation.id, sayings, RULES)


def sayings_in(store: Store, conversation: Conversation) -> list[PlacedSaying]:
    """What the present rules find in the stored messages of a conversation. Nothing is written."""
    touched: dict[str, list[Trace]] = {}
    for trace in store.traces.of(conversation.id):
        touched.setdefault(trace.message, []).append(trace)
    messages = {each.id: each for each in store.messages.of(conversation.id) if each.role in (*_ROLES, TOOL)}
    stated = sayings_of([_turn(each, touched.get(each.id, ())) for each in messages.values()])
    return [
        PlacedSaying(
            conversation.id, id, messages[id].seq, messages[id].created_at, messages[id].trust, saying
        )
        for id, sayings in stated.items()
        for saying in sayings
    ]


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
