"""Short names of conversations: the shortest beginning that means one conversation alone."""

from __future__ import annotations

import pytest

from backstory.core.names import MIN_NAME_CHARS, ConversationNames

FIRST = "codex:019f03e0-321f-7eb2-83cc-b54ecd71be23"
LATER = "codex:019f03e0-3220-7eb2-83cc-000000000001"
COPY = "cline:019f03e0-321f-7eb2-83cc-b54ecd71be23"
OTHER = "claude-code:61d299fc-d26a-498a-b04f-cc8059ceb9a2"
HELPER = f"{OTHER}/agent-9"
LONG_HELPER = f"{OTHER}/agent-of-61d299fc-d26a"
NAMED = "claude-code:todowrite_session"
SHORT = "cursor:chat-1"
IDS = (FIRST, LATER, OTHER, HELPER, LONG_HELPER, NAMED, SHORT)


@pytest.mark.parametrize(
    ("id", "name"),
    [
        (FIRST, "019f03e0-321"),
        (LATER, "019f03e0-322"),
        (OTHER, "61d299fc"),
        (HELPER, "agent-9"),
        (LONG_HELPER, "agent-of"),
        (NAMED, "todowrit"),
        (SHORT, "chat-1"),
    ],
)
def test_a_short_name_means_one_conversation_and_no_shorter_one_does(id: str, name: str) -> None:
    names = ConversationNames(IDS)
    assert names.short(id) == name
    assert names.find(name) == [id]
    if len(name) > MIN_NAME_CHARS:
        assert names.find(name[:-1]) != [id]


def test_a_name_that_two_conversations_have_is_not_short() -> None:
    names = ConversationNames((*IDS, COPY))
    assert names.short(FIRST) == FIRST
    assert names.short(COPY) == COPY
    assert names.find("019f03e0-321f-7eb2-83cc-b54ecd71be23") == [FIRST, COPY]
