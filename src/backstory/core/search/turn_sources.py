"""What an assistant took in before it spoke: pages, messages and documents of others, of which its answer may be a summary.

The store has the calls of tools and not their results, so which tool was called with what is all there is to go by."""

from __future__ import annotations

import re

from ...domain.records import Message
from ...store import Store

TURN_MESSAGES = 20
"""Before an answer: a turn goes back to what the user said, or so far."""
_CALL_CHARS = 500  # of the calls of a message: names and paths come first
_WRITES = re.compile(r"\w*(?:write|edit|patch|create|replace|todo|plan)", re.IGNORECASE)
_READS_OTHERS = re.compile(
    r"https?://|\.(?:mdx?|rst|adoc|txt|html?|pdf|docx?|eml|ipynb)\b|\bREADME\b"
    r"|\b(?i:web|mcp__)|(?i:fetch|browse|slack|mail|issue|comment)"
)
"""An address, a document of prose, a tool that asks another service."""


def follows_reading(message: Message, store: Store) -> bool:
    """Whether tools read what others wrote, between the user's last words and this message."""
    around = store.messages.of(
        message.conversation, range(max(message.seq - TURN_MESSAGES, 0), message.seq + 1)
    )
    asked = max((each.seq for each in around if each.role == "user" and each.seq < message.seq), default=-1)
    calls = (each.text for each in around if each.role == "tool" and each.seq >= asked)
    return any(
        _READS_OTHERS.search(call[:_CALL_CHARS]) and not _WRITES.match(call)
        for calls_of_message in calls
        for call in calls_of_message.splitlines()
    )
