"""What an id opens, a page at a time; and the listing of conversations."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backstory.core import Caller, Core
from backstory.core.memories import MemoryDraft
from backstory.core.pages import PAGE_TOKENS, ConversationPage, TextPage, pieces
from backstory.domain.errors import InvalidInput, NotFound
from backstory.domain.records import Trust
from backstory.domain.tokens import count_tokens

from ..doubles import DAWN, make_conversation, make_memory, make_messages


def keep(core: Core, id: str, *texts: str, days_ago: float = 0, **changes: object) -> None:
    talk = make_conversation(id, updated_at=DAWN - timedelta(days=days_ago), **changes)
    where = {"project": talk.project, "surface": talk.surface}
    core.engine.store.conversations.add(talk, make_messages(id, *texts, **where), [])


def conversation_page(core: Core, id: str, at: int | None = None, limit: int = 10) -> ConversationPage:
    page = core.pages.open(id, at, limit)
    assert isinstance(page, ConversationPage)
    return page


def text_page(core: Core, id: str, at: int | None = None) -> TextPage:
    page = core.pages.open(id, at)
    assert isinstance(page, TextPage)
    return page


def test_a_conversation_is_read_to_its_end_page_by_page(core: Core) -> None:
    keep(core, "c:1", *(f"message {n}" for n in range(1, 26)))
    at, numbers = 1, []
    while at is not None:
        page = conversation_page(core, "c:1", at)
        numbers += [each.number for each in page.messages]
        assert [each.text for each in page.messages] == [f"message {each.number}" for each in page.messages]
        at = page.next  # type: ignore[assignment]
    assert numbers == list(range(1, 26))


def test_the_end_is_counted_from_the_end(core: Core) -> None:
    keep(core, "c:1", *(f"message {n}" for n in range(1, 26)))
    assert [each.number for each in conversation_page(core, "c:1", -1, 3).messages] == [23, 24, 25]
    assert [each.number for each in conversation_page(core, "c:1", -2, 3).messages] == [24, 25]
    assert conversation_page(core, "c:1", -99, 2).messages[0].number == 1


def test_a_page_costs_no_more_than_its_tokens_and_goes_on(core: Core) -> None:
    keep(core, "c:1", *(f"{n} " + "some words of a message " * 80 for n in range(1, 21)))
    page = conversation_page(core, "c:1", 1, 50)
    assert sum(count_tokens(each.text) for each in page.messages) <= PAGE_TOKENS
    assert 1 < len(page.messages) < 20
    assert page.next == page.messages[-1].number + 1


def test_a_long_message_is_cut_among_others_and_read_whole_by_its_own_id(core: Core) -> None:
    long = "One sentence after another. " * 2_000
    keep(core, "c:1", "Short.", long, "After it.")
    page = conversation_page(core, "c:1")
    shown = page.messages[1]
    assert shown.left_out == len(long) - len(shown.text) > 0
    assert page.messages[2].text == "After it."
    pages = [text_page(core, shown.message.id)]
    while pages[-1].number < pages[-1].total:
        pages.append(text_page(core, shown.message.id, pages[-1].number + 1))
    assert "".join(each.text for each in pages) == long


def test_a_memory_opens_with_what_it_said_before(core: Core) -> None:
    memories = core.through("memory-keeper").memories
    memories.save_item(MemoryDraft("Port 8080", key="port"))
    memory = memories.save_item(MemoryDraft("Port 9090", key="port"))
    page = text_page(core, memory.id)
    assert (page.text, page.number, page.total) == ("Port 9090", 1, 1)
    assert [former.text for former in page.history] == ["Port 8080"]


def test_what_the_caller_may_not_see_does_not_open(core: Core) -> None:
    core.engine.store.memories.put([make_memory("m", "secret", private=True, session="other")])
    keep(core, "c:1", "From a clone.", project="/clone", trust=Trust.PROJECT)
    for id in ("m", "c:1", "c:1:0", "nothing"):
        with pytest.raises(NotFound, match="There is no memory or conversation"):
            core.pages.open(id)
    there = core._replace(caller=Caller(project="/clone"))
    assert conversation_page(there, "c:1").total == 1


def test_what_is_in_the_archive_says_how_it_comes_back(core: Core) -> None:
    memory = make_memory("m", "old")
    core.engine.store.memories.put([memory])
    core.engine.store.archive.put_memories([memory])
    with pytest.raises(NotFound, match="backstory unarchive m"):
        core.pages.open("m")


@pytest.mark.parametrize(("at", "reason"), [(0, "must not be 0"), (3, "at most 2")])
def test_a_place_that_is_not_there_is_an_error_that_says_so(core: Core, at: int, reason: str) -> None:
    keep(core, "c:1", "One.", "Two.")
    with pytest.raises(InvalidInput, match=reason):
        core.pages.open("c:1", at)


@given(st.text(max_size=400), st.integers(1, 20))
def test_pieces_are_the_text_and_none_is_too_large(text: str, tokens: int) -> None:
    parts = list(pieces(text, tokens))
    assert "".join(parts) == text
    assert all(count_tokens(part) <= tokens or len(part) == 1 for part in parts)


def test_conversations_are_listed_the_last_first_and_without_subagents(core: Core) -> None:
    keep(core, "a:1", "One.", "Yes.", days_ago=2, surface="claude-code")
    keep(core, "b:1", "Two.", days_ago=1, surface="codex")
    keep(core, "a:2", "Three.", kind="subagent", parent="a:1", surface="claude-code")
    keep(core, "q:1", "Elsewhere.", project="/work/q", surface="claude-code")
    listing = core.browsing.recent()
    assert [(each.conversation.id, each.messages) for each in listing.conversations] == [
        ("b:1", 1),
        ("a:1", 2),
    ]

    def ids(**narrow: object) -> list[str]:
        listing = core.browsing.recent(**narrow)  # type: ignore[arg-type]
        assert listing.total >= len(listing.conversations)
        return [each.conversation.id for each in listing.conversations]

    assert ids(project="*") == ["q:1", "b:1", "a:1"]
    assert ids(project="q") == ids(project="/work/q") == ["q:1"]
    assert ids(project="nowhere") == []
    assert ids(assistant="Claude Code") == ids(assistant="claude-code") == ["a:1"]
    assert ids(since=DAWN - timedelta(days=1)) == ["b:1"]
    assert ids(until=DAWN - timedelta(days=1)) == ["a:1"]
    assert ids(project="*", limit=1) == ["q:1"]


def test_an_unknown_assistant_and_a_name_of_two_projects_are_errors(core: Core) -> None:
    with pytest.raises(InvalidInput, match=r"There is no assistant 'hal'.*claude-code"):
        core.browsing.recent(assistant="hal")
    keep(core, "a:1", "One.", project="/a/shop")
    keep(core, "b:1", "Two.", project="/b/shop")
    with pytest.raises(InvalidInput, match="/a/shop, /b/shop"):
        core.browsing.recent(project="shop")


def test_the_beginning_of_an_id_and_the_number_of_a_message_are_enough(core: Core) -> None:
    keep(core, "claude-code:12a546d1-83a7-49a6-abba-5400db340b43", *(f"message {n}" for n in range(1, 6)))
    page = conversation_page(core, "12a546d1#4")
    assert [each.text for each in page.messages] == ["message 3", "message 4", "message 5"]
    keep(core, "claude-code:12a546d2-83a7-49a6-abba-5400db340b43", "Another.")
    with pytest.raises(InvalidInput, match="2 records begin with"):
        core.pages.open("12a5")
    for n in range(3, 9):
        keep(core, f"claude-code:12a546d{n}-83a7-49a6-abba-5400db340b43", "One more.")
    with pytest.raises(InvalidInput, match="More than 5 records begin with"):
        core.pages.open("12a5")
    with pytest.raises(NotFound, match="4 letters"):
        core.browsing.find("12a")


def test_some_conversations_are_called_as_they_are_among_all(core: Core) -> None:
    ids = (
        "claude-code:1af7fc5e-0000-4000-8000-000000000001",
        "claude-code:1af7fc5e-0000-4000-8000-000000000002",
        "claude-code:1af7fc5e-0000-4000-8000-000000000001/agent-99999999",
        "codex:1af7fc5e-0000-4000-8000-000000000001",
        "codex:100%_sure-of-it",
        "gandalf:short",
    )
    for id in ids:
        keep(core, id, "a message")
    names = core.browsing.names()
    for id in ids:
        assert core.browsing.names({id}).short(id) == names.short(id)
    assert core.browsing.names(()).find("gandalf:short") == []
