"""ProjectMemory: every promise of its document, through its tools."""

from __future__ import annotations

import json
from typing import Any

import pytest

from backstory.core import Caller, Core
from backstory.core.summaries import MAX_SUMMARY_CHARS
from backstory.domain.errors import Unavailable
from backstory.domain.filters import Filter, Page
from backstory.domain.records import Memory
from backstory.guests.projectmemory.tools import surface
from backstory.store import Store
from backstory.surfaces import load_surfaces
from backstory.tools.budget import ANSWER_BYTES

from ..conftest import Call, OpenCore, OpenStore, caller_of
from ..doubles import HashedWords, SteppedClock, make_conversation, make_memory, make_messages
from ..patience import until

requirement = pytest.mark.requirement

ABOUT = (
    "ProjectMemory is a Go application that allows Large Language Models to maintain context across interactions "
    "by storing and retrieving relevant information using vector similarity search."
)
STORAGE = "ProjectMemory stores context in a SQLite database with embeddings to enable semantic search."


def parameters(tool: str) -> tuple[dict[str, Any], list[str]]:
    schema = surface.tools[tool].describe()["inputSchema"]
    return schema["properties"], schema["required"]


def results(call: Call, query: str, **arguments: Any) -> list[str]:
    found: list[str] = call("retrieve_context", query=query, **arguments)["results"]
    return found


def memories(store: Store) -> list[Memory]:
    return store.memories.find(Filter(), Page())


@requirement("projectmemory.tools")
def test_the_five_documented_tools_are_there() -> None:
    assert list(load_surfaces(["projectmemory"])["projectmemory"].tools) == [
        "save_context",
        "retrieve_context",
        "delete_context",
        "clear_all_context",
        "replace_context",
    ]


@requirement("projectmemory.parameters")
@pytest.mark.parametrize(
    ("tool", "types", "required"),
    [
        ("save_context", {"context_text": "string"}, ["context_text"]),
        ("retrieve_context", {"query": "string", "limit": "integer", "offset": "integer"}, ["query"]),
        ("delete_context", {"id": "string"}, ["id"]),
        ("clear_all_context", {"confirmation": "string"}, ["confirmation"]),
        ("replace_context", {"id": "string", "context_text": "string"}, ["id", "context_text"]),
    ],
)
def test_parameters_are_the_documented_ones(tool: str, types: dict[str, str], required: list[str]) -> None:
    properties, wanted = parameters(tool)
    assert {name: schema["type"] for name, schema in properties.items()} == types
    assert wanted == required


@requirement("projectmemory.save.reply")
def test_saving_answers_success_and_an_id(call: Call) -> None:
    reply = call("save_context", context_text=ABOUT)
    assert reply == {"status": "success", "id": reply["id"]}
    assert isinstance(reply["id"], str)
    assert reply["id"]


@requirement("projectmemory.save.unique-id")
def test_every_saved_text_has_an_id_of_its_own(call: Call) -> None:
    ids = {call("save_context", context_text="the same text")["id"] for _ in range(20)}
    assert len(ids) == 20


@requirement("projectmemory.save.stores")
def test_a_saved_text_is_found_again(call: Call) -> None:
    call("save_context", context_text=ABOUT)
    assert results(call, "Large Language Models") == [ABOUT]


@requirement("projectmemory.save.durable", "projectmemory.save.stores")
def test_a_saved_text_is_found_after_a_restart(open_store: OpenStore, open_core: OpenCore) -> None:
    first = open_core(open_store(), HashedWords())
    caller_of(first)("save_context", context_text="We use vehicle tracking")
    restarted = open_core(open_store(), HashedWords())
    assert results(caller_of(restarted), "car") == ["We use vehicle tracking"]


@requirement("projectmemory.save.durable")
def test_a_text_is_committed_before_the_answer_is_sent(
    call: Call, open_store: OpenStore, embedder: HashedWords
) -> None:
    other = open_store()
    id = call("save_context", context_text="committed")["id"]
    assert [memory.id for memory in memories(other)] == [id]


@requirement("projectmemory.save.full-text")
@pytest.mark.parametrize(
    "text", ["x" * 5000 + " needle", "needle\r\n\ttabs,\n\nlines \x00 and 🎉", "  needle  ", "null needle"]
)
def test_the_full_text_is_kept_and_returned_as_it_was(call: Call, text: str) -> None:
    call("save_context", context_text=text)
    assert results(call, "needle") == [text]


@requirement("projectmemory.save.summary")
def test_a_long_text_gets_a_summary_beside_it(call: Call, store: Store) -> None:
    text = "\n".join(f"Line {n} says that the build was fixed." for n in range(100))
    call("save_context", context_text=text)
    (memory,) = memories(store)
    assert memory.text == text
    assert 0 < len(memory.summary) <= MAX_SUMMARY_CHARS


@requirement("projectmemory.save.embedding", "projectmemory.retrieve.similar")
def test_a_saved_text_is_found_by_its_meaning_without_a_common_word(call: Call) -> None:
    call("save_context", context_text="The vehicle is red")
    call("save_context", context_text="The weather was fine")
    assert results(call, "car") == ["The vehicle is red"]


@requirement("projectmemory.retrieve.similar")
def test_a_query_that_no_text_has_to_do_with_finds_nothing(call: Call) -> None:
    call("save_context", context_text="The weather was fine")
    assert results(call, "car") == []
    call("save_context", context_text="The vehicle is red")
    assert results(call, "car") == ["The vehicle is red"]


@requirement("projectmemory.save.empty", "projectmemory.errors.input")
@pytest.mark.parametrize("text", ["", "   ", "\n\t"])
def test_an_empty_text_is_an_error_and_nothing_is_saved(call: Call, store: Store, text: str) -> None:
    reply = call("save_context", context_text=text)
    assert reply == {
        "status": "error",
        "error": "context_text is empty. Nothing was saved; send the text to remember.",
    }
    assert memories(store) == []


@requirement("projectmemory.strings-are-data")
@pytest.mark.parametrize("text", ["null", "123", "true", '{"a": 1}', "[]", '"quoted"'])
def test_no_text_is_reinterpreted(call: Call, store: Store, text: str) -> None:
    call("save_context", context_text=text)
    assert [memory.text for memory in memories(store)] == [text]


@requirement("projectmemory.retrieve.reply")
def test_retrieving_answers_success_and_plain_strings(call: Call) -> None:
    call("save_context", context_text=ABOUT)
    reply = call("retrieve_context", query="context", limit=2)
    assert reply == {
        "status": "success",
        "results": [ABOUT],
        "origins": [{"source": "projectmemory", "trust": "own"}],
        "search_strategy": "hybrid",
    }


@requirement("projectmemory.retrieve.reply")
def test_finding_nothing_is_a_success_without_results(call: Call) -> None:
    assert call("retrieve_context", query="anything")["results"] == []


@requirement("projectmemory.retrieve.example", "projectmemory.retrieve.similar")
def test_the_documents_example_works(call: Call) -> None:
    call("save_context", context_text="The weather was fine")
    call("save_context", context_text=ABOUT)
    call("save_context", context_text=STORAGE)
    found = results(call, "How does ProjectMemory store context?", limit=2)
    assert sorted(found) == [ABOUT, STORAGE]


@requirement("projectmemory.retrieve.best-first")
def test_the_best_comes_first(call: Call) -> None:
    call("save_context", context_text="The JWT secret rotates monthly")
    call("save_context", context_text="The build runs monthly")
    call("save_context", context_text="The JWT lives an hour")
    assert results(call, "JWT secret rotates")[0] == "The JWT secret rotates monthly"


@requirement("projectmemory.retrieve.limit")
def test_five_results_come_by_default(call: Call) -> None:
    for n in range(8):
        call("save_context", context_text=f"context number {n}")
    assert parameters("retrieve_context")[0]["limit"]["default"] == 5
    assert len(results(call, "context")) == 5
    assert len(results(call, "context", limit=None)) == 5


@requirement("projectmemory.retrieve.limit")
@pytest.mark.parametrize(("limit", "count"), [(1, 1), (3, 3), (3.0, 3), (8, 8), (1000, 8), (10**30, 8)])
def test_the_limit_is_honoured(call: Call, limit: float, count: int) -> None:
    for n in range(8):
        call("save_context", context_text=f"context number {n}")
    best = results(call, "context", limit=8)
    assert results(call, "context", limit=limit) == best[:count]


@requirement("projectmemory.retrieve.limit-minimum", "projectmemory.errors.input")
@pytest.mark.parametrize("limit", [0, -1, -(10**30)])
def test_a_limit_below_1_is_an_error(call: Call, limit: int) -> None:
    reply = call("retrieve_context", query="context", limit=limit)
    assert reply == {"status": "error", "error": "limit must be at least 1."}


@requirement("projectmemory.retrieve.any-query")
@pytest.mark.parametrize(
    "query", ['"', "a AND (b", "NEAR/3", "-x", "*", "'; DROP TABLE entry; --", "%", "🎉"]
)
def test_any_text_is_a_query(call: Call, query: str) -> None:
    call("save_context", context_text="something else")
    assert call("retrieve_context", query=query)["status"] == "success"


@requirement("projectmemory.retrieve.any-query", "projectmemory.errors.input")
def test_an_empty_query_is_an_error(call: Call) -> None:
    assert call("retrieve_context", query="  ")["status"] == "error"


@requirement("projectmemory.retrieve.every-surface")
def test_what_another_surface_saved_is_found(core: Core, call: Call) -> None:
    core.through("other").memories.save("JWT expires after 24h")
    assert results(call, "jwt") == ["JWT expires after 24h"]


@requirement("projectmemory.retrieve.every-surface")
def test_what_was_saved_in_another_project_is_found_after_the_own(core: Core, call: Call) -> None:
    elsewhere = Core(core.engine, Caller(project="/elsewhere"))
    call("save_context", context_text="JWT here")
    caller_of(elsewhere)("save_context", context_text="JWT there")
    assert results(call, "jwt") == ["JWT here", "JWT there"]


@requirement("projectmemory.retrieve.private")
def test_private_memories_of_another_session_are_not_found(call: Call, store: Store) -> None:
    store.memories.put([make_memory("a", "JWT secret", session="other", private=True)])
    assert results(call, "jwt") == []
    assert results(call, "JWT secret") == []


@requirement("projectmemory.retrieve.budget")
def test_an_answer_holds_whole_texts_within_its_budget_and_says_what_is_left(call: Call) -> None:
    texts = [f"JWT {n} " + "x" * (ANSWER_BYTES // 2 - 100) for n in range(3)]
    for text in texts:
        call("save_context", context_text=text)
    reply = call("retrieve_context", query="JWT")
    assert len(reply["results"]) == 2
    assert set(reply["results"]) < set(texts)
    assert "1 more results do not fit into this answer: offset 2 goes on." in reply["notices"]
    rest = call("retrieve_context", query="JWT", offset=2)
    assert {*reply["results"], *rest["results"]} == {*texts}
    assert "notices" not in rest


@requirement("projectmemory.retrieve.budget", "projectmemory.save.full-text")
def test_the_best_text_is_returned_whole_however_long_it_is(call: Call) -> None:
    text = "JWT " + "x" * (2 * ANSWER_BYTES)
    call("save_context", context_text=text)
    assert results(call, "jwt") == [text]


@requirement("projectmemory.retrieve.strategy")
def test_the_answer_says_how_it_was_found(call: Call, open_core: OpenCore, store: Store) -> None:
    call("save_context", context_text="JWT")
    assert call("retrieve_context", query="jwt")["search_strategy"] == "hybrid"
    by_text = caller_of(open_core(store, None))("retrieve_context", query="jwt")
    assert by_text == {
        "status": "success",
        "results": ["JWT"],
        "origins": [{"source": "projectmemory", "trust": "own"}],
        "search_strategy": "text",
        "notices": ["Searched by words alone: embeddings are switched off."],
    }


@requirement("projectmemory.retrieve.same-order")
def test_the_same_query_gets_the_same_answer(call: Call, core: Core) -> None:
    for n in range(20):
        call("save_context", context_text=f"JWT note {n % 4}")
    assert core.engine.backlog is not None
    until(core.engine.backlog.catch_up)
    answers = [call("retrieve_context", query="JWT note 2", limit=20) for _ in range(3)]
    assert answers[0] == answers[1] == answers[2]


@requirement("projectmemory.delete.reply", "projectmemory.delete.removes")
def test_a_deleted_text_is_gone_for_words_and_for_meaning(call: Call, store: Store) -> None:
    id = call("save_context", context_text="vehicle")["id"]
    kept = call("save_context", context_text="The other vehicle")["id"]
    assert results(call, "car") != []
    assert call("delete_context", id=id) == {"status": "success"}
    assert results(call, "vehicle") == results(call, "car") == ["The other vehicle"]
    assert [memory.id for memory in memories(store)] == [kept]


@requirement("projectmemory.errors.not-found")
@pytest.mark.parametrize("tool", ["delete_context", "replace_context"])
@pytest.mark.parametrize("id", ["missing", "", "' OR '1'='1", "%"])
def test_an_id_that_is_not_there_is_an_error_that_names_it(
    call: Call, store: Store, tool: str, id: str
) -> None:
    call("save_context", context_text="kept")
    text = {"context_text": "new"} if tool == "replace_context" else {}
    reply = call(tool, id=id, **text)
    assert reply == {"status": "error", "error": f"There is no saved text {id!r}."}
    assert [memory.text for memory in memories(store)] == ["kept"]


@requirement("projectmemory.errors.not-found")
def test_a_text_cannot_be_deleted_twice(call: Call) -> None:
    id = call("save_context", context_text="once")["id"]
    assert call("delete_context", id=id)["status"] == "success"
    assert call("delete_context", id=id)["status"] == "error"


@requirement("projectmemory.own-surface")
def test_what_another_surface_saved_cannot_be_deleted_or_replaced_here(
    core: Core, call: Call, store: Store
) -> None:
    other = core.through("other").memories.save("theirs")
    assert call("delete_context", id=other.id)["status"] == "error"
    assert call("replace_context", id=other.id, context_text="mine")["status"] == "error"
    assert memories(store) == [other]


@requirement("projectmemory.clear.reply", "projectmemory.clear.removes")
def test_clearing_removes_every_saved_text_in_all_projects(core: Core, call: Call, store: Store) -> None:
    call("save_context", context_text="here")
    caller_of(Core(core.engine, Caller(project="/elsewhere")))("save_context", context_text="there")
    assert call("clear_all_context", confirmation="confirm") == {"status": "success", "deleted_count": 2}
    assert memories(store) == []
    assert results(call, "here") == []
    assert call("clear_all_context", confirmation="confirm") == {"status": "success", "deleted_count": 0}


@requirement("projectmemory.own-surface", "projectmemory.clear.removes")
def test_clearing_never_removes_what_another_surface_saved(core: Core, call: Call, store: Store) -> None:
    other = core.through("other").memories.save("theirs")
    call("save_context", context_text="mine")
    assert call("clear_all_context", confirmation="confirm")["deleted_count"] == 1
    assert memories(store) == [other]


@requirement("projectmemory.clear.confirmation", "projectmemory.errors.confirmation")
@pytest.mark.parametrize("confirmation", ["", "Confirm", "confirm ", "yes", "true", '"confirm"'])
def test_clearing_needs_exactly_the_word_confirm(call: Call, store: Store, confirmation: str) -> None:
    call("save_context", context_text="kept")
    assert call("clear_all_context", confirmation=confirmation) == {
        "status": "error",
        "error": 'confirmation must be exactly "confirm". Nothing was deleted.',
    }
    assert len(memories(store)) == 1


@requirement("projectmemory.clear.confirmation", "projectmemory.errors.confirmation")
@pytest.mark.parametrize("arguments", [{}, {"confirmation": None}, {"confirmation": True}])
def test_clearing_without_a_confirmation_deletes_nothing(
    call: Call, store: Store, arguments: dict[str, Any]
) -> None:
    call("save_context", context_text="kept")
    reply = call("clear_all_context", **arguments)
    assert reply["status"] == "error"
    assert "confirmation" in reply["error"]
    assert len(memories(store)) == 1


@requirement("projectmemory.replace.reply", "projectmemory.replace.keeps-id")
def test_a_replaced_text_keeps_its_id_and_is_found_by_its_new_words(
    call: Call, store: Store, clock: SteppedClock
) -> None:
    id = call("save_context", context_text="old words")["id"]
    (before,) = memories(store)
    clock.step(60)
    assert call("replace_context", id=id, context_text="fresh words") == {"status": "success"}
    (after,) = memories(store)
    assert (after.id, after.created_at, after.updated_at) == (id, before.created_at, clock())
    assert results(call, "fresh") == ["fresh words"]
    assert "old words" not in results(call, "old")


@requirement("projectmemory.replace.summary-and-embedding")
def test_a_replaced_text_has_a_new_summary_and_a_new_meaning(call: Call, store: Store) -> None:
    id = call("save_context", context_text="vehicle")["id"]
    assert results(call, "car") == ["vehicle"]
    call("replace_context", id=id, context_text="login")
    assert results(call, "car") == []
    assert results(call, "signin") == ["login"]
    assert [memory.summary for memory in memories(store)] == ["login"]


@requirement("projectmemory.save.empty", "projectmemory.errors.input")
def test_replacing_with_an_empty_text_is_an_error_and_the_old_text_stays(call: Call) -> None:
    id = call("save_context", context_text="old words")["id"]
    assert call("replace_context", id=id, context_text=" ")["status"] == "error"
    assert results(call, "old") == ["old words"]


@requirement("projectmemory.errors.format", "projectmemory.errors.input")
@pytest.mark.parametrize(
    ("tool", "arguments", "error"),
    [
        ("save_context", {}, "context_text is required."),
        ("save_context", {"context_text": 5}, "context_text must be of type string, not integer."),
        ("save_context", {"context_text": None}, "context_text is required."),
        ("retrieve_context", {"limit": 3}, "query is required."),
        ("retrieve_context", {"query": "x", "limit": "3"}, "limit must be of type integer, not string."),
        ("retrieve_context", {"query": "x", "limit": True}, "limit must be of type integer, not boolean."),
        ("retrieve_context", {"query": "x", "limit": 1.5}, "limit must be of type integer, not number."),
        ("delete_context", {}, "id is required."),
        ("delete_context", {"id": 7}, "id must be of type string, not integer."),
        ("replace_context", {"id": "a"}, "context_text is required."),
        (
            "save_context",
            {"context_text": "x", "text": "y"},
            "text is not a known argument. Known arguments: context_text.",
        ),
    ],
)
def test_wrong_arguments_are_errors_that_name_the_argument(
    core: Core, store: Store, tool: str, arguments: dict[str, Any], error: str
) -> None:
    reply = surface.tools[tool].call(core, arguments)
    assert reply.is_error
    assert reply.structured is None
    assert json.loads(reply.text) == {"status": "error", "error": error}
    assert memories(store) == []


@requirement("projectmemory.errors.format", "projectmemory.errors.input")
def test_half_a_surrogate_pair_is_an_error(call: Call, store: Store) -> None:
    assert call("save_context", context_text="a\ud83d")["status"] == "error"
    assert memories(store) == []


@requirement("projectmemory.errors.database")
def test_a_store_that_cannot_answer_is_an_error_with_a_reason(open_core: OpenCore, store: Store) -> None:
    call = caller_of(open_core(store, None))
    store.close()
    replies = [
        call("save_context", context_text="after"),
        call("retrieve_context", query="before"),
        call("delete_context", id="x"),
        call("clear_all_context", confirmation="confirm"),
        call("replace_context", id="x", context_text="y"),
    ]
    for reply in replies:
        assert reply["status"] == "error"
        assert reply["error"].startswith("The store could not answer")


@requirement("projectmemory.errors.embedding", "projectmemory.errors.rate-limit")
@pytest.mark.parametrize("reason", ["The endpoint is down.", "The endpoint answered 429."])
def test_what_cannot_be_embedded_is_saved_and_found_by_its_words_and_the_answer_says_why(
    call: Call, embedder: HashedWords, reason: str
) -> None:
    embedder.failure = Unavailable(reason)
    assert call("save_context", context_text="JWT expires after 24h")["status"] == "success"
    assert call("retrieve_context", query="jwt") == {
        "status": "success",
        "results": ["JWT expires after 24h"],
        "origins": [{"source": "projectmemory", "trust": "own"}],
        "search_strategy": "text",
        "notices": [f"Searched by words alone: {reason}"],
    }


@requirement("projectmemory.client-example")
def test_the_documents_client_session_works(call: Call) -> None:
    saved = call("save_context", context_text="This is important information to remember.")
    assert saved["id"]
    retrieved = call("retrieve_context", query="What information do we have?", limit=3)
    assert retrieved["results"] == ["This is important information to remember."]


@requirement("projectmemory.retrieve.conversations")
def test_conversations_that_hold_what_no_memory_does_are_told_of(call: Call, store: Store) -> None:
    call("save_context", context_text="The weather is fine.")
    texts = ("What about Kafka?", "Kafka was chosen for the queue, since consumers must replay.")
    store.conversations.put(make_conversation("c"), make_messages("c", *texts))
    notice = call("retrieve_context", query="Kafka chosen for the queue")["notices"][-1]
    assert notice.startswith("1 conversation matches what no memory says for sure")
    assert "The best is c, of " in notice
    call("save_context", context_text="Kafka was chosen for the queue.")
    known = call("retrieve_context", query="Kafka chosen for the queue")
    assert not any("conversation" in notice for notice in known.get("notices", []))
