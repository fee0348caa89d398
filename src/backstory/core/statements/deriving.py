"""Statements and titles of conversations that were stored by older rules, or not read from a log.

They are derived from the stored messages, because the logs may be gone. Results of tools are ignored, so these
conversations have only statements of people and assistants.
"""

from __future__ import annotations

from ...domain.records import Conversation, Message
from ...domain.statements import MessageSaying, PlacedSaying, Saying, Speaker
from ...readers import Role, ToolCall, Turn
from ...readers.formats.titles import retitled
from ...store import Store
from ..subjects import OPENING, subject_of
from .extraction import RULES, sayings_of

OPENING_MESSAGES = 20
"""Number of first messages that are searched for a title."""
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
    """Derive the statements of one conversation again by the current rules, and replace a meaningless title."""
    sayings = [MessageSaying(each.message, each.saying) for each in sayings_in(store, conversation)]
    opening = store.messages.said(conversation.id, limit=OPENING_MESSAGES)
    title = retitled(conversation.title, [_turn(each) for each in opening if each.role in _ROLES])
    # Statements and rules change together: a conversation with new rules and old statements would never be looked at
    # again.
    with store.transaction():
        store.conversations.restate(conversation.id, sayings, RULES)
        if title != conversation.title:
            subject = subject_of(title, store.messages.opening(conversation.id, OPENING))
            renamed = conversation._replace(title=title, subject=subject, rules=RULES)
            store.conversations.add(renamed, [], [])


def sayings_in(store: Store, conversation: Conversation) -> list[PlacedSaying]:
    """Statements that the current rules find in the stored messages of a conversation, with those read from its
    log: checks, commits and lists cannot be derived again from stored messages. Nothing is written."""
    messages = {each.id: each for each in store.messages.of(conversation.id) if each.role in (*_ROLES, TOOL)}
    logged = [each for each in store.sayings.of(conversation.id) if _is_of_log(each.saying)]
    derived = sayings_of([_turn(each) for each in messages.values()])
    # A statement of the log also occurs in the text of the same message; one of the two is enough.
    known = {(message, saying.kind, saying.text) for message, saying in logged}
    stated = [
        *logged,
        *(
            MessageSaying(id, saying)
            for id, sayings in derived.items()
            for saying in sayings
            if (id, saying.kind, saying.text) not in known
        ),
    ]
    return [
        PlacedSaying(conversation.id, id, message.seq, message.created_at, message.trust, saying)
        for id, saying in stated
        if (message := messages.get(id)) is not None
    ]


def _is_of_log(saying: Saying) -> bool:
    """Return whether a statement was read from a field of the log or from the result of a tool."""
    return saying.speaker is Speaker.LOG or bool(saying.subject)


def _turn(message: Message) -> Turn:
    if message.role != TOOL:
        return Turn(message.id, _ROLES[message.role], message.text)
    calls = tuple(ToolCall(*_name_and_arguments(line)) for line in message.text.splitlines())
    return Turn(message.id, Role.ASSISTANT, "", calls=calls)


def _name_and_arguments(line: str) -> tuple[str, str]:
    name, _, arguments = line.partition(" ")
    return name, arguments
