"""Memories as one caller sees them."""

from __future__ import annotations

import pytest

from backstory.core import Caller, Core
from backstory.core.ask import Inquiry
from backstory.domain.errors import InvalidInput, NotFound, Unavailable
from backstory.domain.filters import Filter, Page
from backstory.domain.records import Memory
from backstory.store import Store

from ..conftest import OpenCore
from ..doubles import (
    DAWN,
    HashedWords,
    SteppedClock,
    found_memories,
    make_conversation,
    make_memory,
    make_messages,
)


def saved(store: Store) -> list[Memory]:
    return store.memories.find(Filter(), Page())


def texts(core: Core, query: str) -> list[str]:
    return [memory.text for memory in found_memories(core, query, 10)]


@pytest.mark.requirement("server.store.tags")
def test_a_saved_memory_carries_project_surface_session_and_time(core: Core, store: Store) -> None:
    core.caller.session = "s1"
    memory = core.through("keeper").memories.save("Use JWT")
    assert saved(store) == [memory]
    assert (memory.project, memory.surface, memory.session) == ("/p", "keeper", "s1")
    assert memory.created_at == memory.updated_at == DAWN
    assert memory.text == memory.summary == "Use JWT"


def test_every_memory_gets_an_id_of_its_own(core: Core) -> None:
    assert core.memories.save("same").id != core.memories.save("same").id


@pytest.mark.parametrize("text", ["", " \n\t", "\u3000"])
def test_an_empty_text_is_refused_and_nothing_is_saved(core: Core, store: Store, text: str) -> None:
    with pytest.raises(InvalidInput, match="empty"):
        core.memories.save(text)
    kept = core.memories.save("kept")
    with pytest.raises(InvalidInput, match="empty"):
        core.memories.replace(kept.id, text)
    assert saved(store) == [kept]


def test_a_replaced_memory_keeps_id_and_birth_and_has_a_new_summary(
    core: Core, store: Store, clock: SteppedClock
) -> None:
    before = core.memories.save("old")
    clock.step(60)
    after = core.memories.replace(before.id, "new")
    assert saved(store) == [after]
    assert (after.id, after.created_at) == (before.id, before.created_at)
    assert (after.text, after.summary, after.updated_at) == ("new", "new", clock())


def test_what_is_not_there_is_not_found(core: Core) -> None:
    with pytest.raises(NotFound, match="nobody"):
        core.memories.replace("nobody", "text")
    with pytest.raises(NotFound, match="nobody"):
        core.deletion.by_id("nobody")


@pytest.mark.requirement("server.store.changed-by-own")
def test_a_surface_replaces_and_deletes_only_what_it_made(core: Core, store: Store) -> None:
    other = core.through("other").memories.save("theirs")
    for act in (lambda: core.memories.replace(other.id, "mine now"), lambda: core.deletion.by_id(other.id)):
        with pytest.raises(NotFound):
            act()
    core.memories.save("mine")
    assert core.deletion.all().memories == 1
    assert saved(store) == [other]


def test_clearing_leaves_conversations_of_the_same_surface(core: Core, store: Store) -> None:
    core.engine.store.conversations.put(
        make_conversation("c", surface="backstory"), make_messages("c", "hello", surface="backstory")
    )
    core.memories.save("mine")
    assert core.deletion.all().memories == 1
    assert len(store.messages.of("c")) == 1


@pytest.mark.requirement("server.store.found-by-all")
def test_search_finds_what_every_surface_saved_and_prefers_the_own_project(
    core: Core, open_core: OpenCore
) -> None:
    core.through("keeper").memories.save("JWT here")
    elsewhere = Core(core.engine, Caller(project="/q"), surface="projectmemory")
    elsewhere.memories.save("JWT there")
    assert texts(core, "jwt") == ["JWT here", "JWT there"]
    assert texts(elsewhere, "jwt") == ["JWT there", "JWT here"]


def test_search_over_memories_finds_no_messages_and_the_other_way_round(core: Core) -> None:
    core.memories.save("JWT saved")
    core.engine.store.conversations.put(make_conversation("c"), make_messages("c", "JWT said"))
    assert texts(core, "jwt") == ["JWT saved"]
    assert [message.text for message in core.ask.messages("jwt", limit=10)] == ["JWT said"]


def test_conversations_can_be_searched_in_some_projects_only(core: Core) -> None:
    core.engine.store.conversations.put(make_conversation("c"), make_messages("c", "JWT here"))
    core.engine.store.conversations.put(
        make_conversation("d", project="/q"), make_messages("d", "JWT there", project="/q")
    )
    found = core.ask.messages("jwt", limit=10, projects=("/q",))
    assert [message.text for message in found] == ["JWT there"]


@pytest.mark.requirement("server.store.private")
def test_private_memories_show_only_to_their_session(core: Core, store: Store) -> None:
    store.memories.put([make_memory("secret", "JWT secret", session="s1", private=True)])
    assert texts(core, "jwt") == []
    core.caller.session = "s2"
    assert texts(core, "jwt") == []
    core.caller.session = "s1"
    assert texts(core, "jwt") == ["JWT secret"]


@pytest.mark.parametrize("query", ["", "  \n"])
def test_an_empty_query_is_refused(core: Core, query: str) -> None:
    with pytest.raises(InvalidInput, match="query is empty") as caught:
        found_memories(core, query)
    assert caught.value.field == "query"


def test_a_save_is_kept_though_its_text_cannot_be_embedded(core: Core, embedder: HashedWords) -> None:
    embedder.failure = Unavailable("The endpoint is down.")
    core.memories.save("JWT expires after 24h")
    assert [memory.text for memory in found_memories(core, "jwt")] == ["JWT expires after 24h"]
    ranking = core.ask.find(Inquiry("jwt"))
    assert ranking.strategy == "text"
    assert "The endpoint is down." in ranking.notices[0]


@pytest.mark.requirement("server.session.per-connection")
def test_two_callers_of_one_engine_do_not_share_a_session(core: Core) -> None:
    other = Core(core.engine, Caller(project="/p"))
    core.caller.session = "s1"
    assert other.memories.save("text").session is None
