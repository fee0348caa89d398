"""context_search and context_semantic_search: every promise of their chapters, through the tools."""

from __future__ import annotations

from typing import Any

import pytest

from backstory.core import Caller, Core
from backstory.domain.errors import Unavailable
from backstory.store import Store

from ..conftest import Call, OpenCore, caller_of
from ..doubles import HashedWords, SteppedClock, make_conversation, make_messages

requirement = pytest.mark.requirement


def found(call: Call, query: str, **arguments: Any) -> list[str]:
    answer = call("context_search", query=query, **arguments)
    return [result["key"] for result in answer.get("results") or answer.get("items", [])]


def failure(answer: dict[str, Any]) -> tuple[str, str | None]:
    return answer["error"]["code"], answer["error"].get("details", {}).get("field")


def save(call: Call, key: str, value: str, **more: Any) -> None:
    call("context_save", key=key, value=value, **more)


@pytest.fixture
def varied(call: Call, clock: SteppedClock) -> Call:
    """Notes about configuration, an hour apart from each other."""
    for key, category, priority, channel, value in (
        ("app_port", "note", "low", "ops", "The config sets the port"),
        ("app_host", "task", "high", "ops", "Move the host into the config file"),
        ("user_theme", "decision", "critical", "ui", "Theme config belongs to the user"),
        ("user_locale", "task", "normal", "web", "Locale is configured in the browser"),
        ("unrelated", "task", "high", "ui", "Paint the shed"),
    ):
        save(call, key, value, category=category, priority=priority, channel=channel)
        clock.step(3_600)
    return call


@requirement("keeper-items.search.reply")
def test_results_are_key_value_category_and_priority(call: Call) -> None:
    save(call, "k", "The API key is in the vault", category="note", metadata={"x": 1})
    save(call, "plain", "another api key")
    assert call("context_search", query="api vault") == {
        "results": [
            {
                "key": "k",
                "value": "The API key is in the vault",
                "category": "note",
                "priority": "normal",
                "source": "memory-keeper",
                "trust": "own",
            }
        ]
    }
    [result] = call("context_search", query="another")["results"]
    assert result == {
        "key": "plain",
        "value": "another api key",
        "priority": "normal",
        "source": "memory-keeper",
        "trust": "own",
    }


@requirement("keeper-items.search.detailed")
def test_with_metadata_items_are_whole_and_counted_exactly(call: Call, clock: SteppedClock) -> None:
    for number in range(7):
        save(call, f"k{number}", f"über {number}", metadata={"n": number})
        clock.step()
    answer = call("context_search", query="über", includeMetadata=True, limit=3, offset=3, sort="created_asc")
    assert (answer["totalCount"], answer["page"], answer["pageSize"]) == (7, 2, 3)
    assert [item["key"] for item in answer["items"]] == ["k3", "k4", "k5"]
    assert (answer["hasMore"], answer["nextOffset"]) == (True, 6)
    item = answer["items"][0]
    assert item == {
        "id": item["id"],
        "key": "k3",
        "value": "über 3",
        "priority": "normal",
        "channel": "general",
        "created_at": "2026-03-01T09:30:03.000Z",
        "updated_at": "2026-03-01T09:30:03.000Z",
        "size": 7,
        "metadata": {"n": 3},
        "sessionId": item["sessionId"],
        "private": False,
        "source": "memory-keeper",
        "trust": "own",
    }
    assert call("context_search", query="nowhere", includeMetadata=True) == {
        "items": [],
        "totalCount": 0,
        "page": 1,
        "pageSize": 250,
    }


@requirement("keeper-items.search.language")
@pytest.mark.parametrize(
    ("query", "keys"),
    [
        ("config port", ["app_port"]),
        ("config nowhere", []),
        ('"the config"', ["app_host", "app_port"]),
        ('"config the"', []),
        ("loc*", ["user_locale"]),
        ("configura*", []),
        ("bro* conf*", ["user_locale"]),
        ("shed OR browser", ["unrelated", "user_locale"]),
        ("config -file -theme", ["app_port"]),
        ('config -"belongs to"', ["app_host", "app_port"]),
        ("-config -configured", ["unrelated"]),
        ("configures", ["user_locale"]),
        ("paint OR", ["unrelated"]),
    ],
)
def test_the_query_language_works(varied: Call, query: str, keys: list[str]) -> None:
    assert sorted(found(varied, query)) == sorted(keys)


@requirement("keeper-items.search.any-text")
@pytest.mark.parametrize(
    "query",
    ['"', "((", "a AND", "NEAR(a, b)", "*", "-", "OR OR", "col:", ":x", "'; DROP TABLE entry; --", "^x", "{body}:x", "🎉", "\\", "a" * 5_000, "w " * 3_000, "x:>", "a.b.c:1"],
)  # fmt: skip
def test_any_text_is_a_valid_query(varied: Call, query: str) -> None:
    assert varied("context_search", query=query)["results"] == []


@requirement("keeper-items.search.any-text")
@pytest.mark.parametrize("query", ["", "  \n"])
def test_an_empty_query_is_an_error(varied: Call, query: str) -> None:
    assert failure(varied("context_search", query=query)) == ("INVALID_PARAMS", "query")
    assert failure(varied("context_semantic_search", query=query)) == ("INVALID_PARAMS", "query")


@requirement("keeper-items.search.text-only")
def test_only_words_of_key_and_value_are_found(call: Call) -> None:
    save(call, "login", "The car is red", category="decision", channel="garage", metadata={"colour": "blue"})
    assert found(call, "automobile") == []
    assert found(call, "decision OR garage OR blue OR general") == []
    assert found(call, "car") == found(call, "login") == ["login"]


@requirement("keeper-items.search.in")
def test_search_in_chooses_key_or_value(call: Call) -> None:
    save(call, "token_store", "where secrets live", category="task")
    save(call, "secrets", "where the token goes", category="task")
    assert sorted(found(call, "token")) == ["secrets", "token_store"]
    assert found(call, "token", searchIn=["key"]) == ["token_store"]
    assert found(call, "token", searchIn=["value"]) == ["secrets"]
    assert found(call, "tok*", searchIn=["key"]) == ["token_store"]
    assert found(call, "task", searchIn=["key"]) == []
    assert found(call, "token secrets", searchIn=["key", "value"]) == found(call, "token secrets")
    assert failure(call("context_search", query="x", searchIn=["body"])) == ("INVALID_PARAMS", "searchIn")
    assert failure(call("context_search", query="x", searchIn=[])) == ("INVALID_PARAMS", "searchIn")


@requirement("keeper-items.search.filters", "keeper-items.search.relative")
@pytest.mark.parametrize(
    ("arguments", "keys"),
    [
        ({}, ["app_host", "app_port", "user_theme"]),
        ({"category": "task"}, ["app_host"]),
        ({"categories": ["task", "note"]}, ["app_host", "app_port"]),
        ({"channel": "ui"}, ["user_theme"]),
        ({"channels": ["ui", "ops"]}, ["app_host", "app_port", "user_theme"]),
        ({"priority": "high"}, ["app_host"]),
        ({"priorities": ["high"]}, ["app_host"]),
        ({"priorities": ["critical", "low"]}, ["app_port", "user_theme"]),
        ({"keyPattern": "app_*"}, ["app_host", "app_port"]),
        ({"keyPattern": "app_p?rt"}, ["app_port"]),
        ({"keyPattern": "app"}, []),
        ({"createdAfter": "2026-03-01T10:30:00Z"}, ["app_host", "user_theme"]),
        ({"createdBefore": "2026-03-01T10:30:00Z"}, ["app_port"]),
        ({"afterDate": "2026-03-01"}, ["app_host", "app_port", "user_theme"]),
        ({"beforeDate": "2026-03-01"}, []),
        ({"relativeTime": "4 hours ago"}, ["app_host", "user_theme"]),
        ({"relativeTime": "yesterday"}, ["app_host", "app_port", "user_theme"]),
        ({"relativeTime": "now"}, []),
        ({"timeRange": "-3h"}, ["user_theme"]),
        ({"limit": 1, "sort": "key_asc"}, ["app_host"]),
        ({"limit": 1, "offset": 1, "sort": "key_asc"}, ["app_port"]),
        ({"keyPattern": "app_*", "priorities": ["high"], "sort": "created_desc", "limit": 20}, ["app_host"]),
    ],
)
def test_every_filter_of_a_search_narrows(varied: Call, arguments: dict[str, Any], keys: list[str]) -> None:
    assert sorted(found(varied, "config", **arguments)) == keys


@requirement("keeper-items.search.filters")
def test_a_glob_may_be_long_and_one_that_is_too_long_is_refused_by_name(call: Call) -> None:
    save(call, "k" * 9_999, "The config")
    assert len(found(call, "config", keyPattern="k" * 9_998 + "*")) == 1
    refused = call("context_search", query="config", keyPattern="ü" * 60_000)["error"]
    assert refused["code"] == "INVALID_PARAMS"
    assert "keyPattern" in refused["message"]


@requirement("keeper-items.search.sort")
@pytest.mark.parametrize(
    ("arguments", "keys"),
    [
        ({"sort": "created_desc"}, ["user_theme", "app_host", "app_port"]),
        ({"sort": "created_asc"}, ["app_port", "app_host", "user_theme"]),
        ({"sort": "updated_desc"}, ["app_port", "user_theme", "app_host"]),
        ({"sort": "updated_asc"}, ["app_host", "user_theme", "app_port"]),
        ({"sort": "key_asc"}, ["app_host", "app_port", "user_theme"]),
        ({"sort": "key_desc"}, ["user_theme", "app_port", "app_host"]),
        ({"sort": "priority"}, ["user_theme", "app_host", "app_port"]),
        ({"sortBy": "key", "order": "desc"}, ["user_theme", "app_port", "app_host"]),
    ],
)
def test_every_order_of_a_search_is_kept(varied: Call, arguments: dict[str, Any], keys: list[str]) -> None:
    save(varied, "app_port", "The config sets the port", priority="low")
    assert found(varied, "config", **arguments) == keys


@requirement("keeper-items.search.ranked")
def test_the_best_match_comes_first_unless_sorted(call: Call, clock: SteppedClock) -> None:
    save(call, "exact", "cache cache invalidation")
    clock.step()
    save(call, "passing", "cache " + "and much else about other things " * 20)
    clock.step()
    save(call, "cache_notes", "what we know of the cache")
    assert found(call, "cache")[-1] == "passing"
    assert found(call, "cache", sort="created_desc") == ["cache_notes", "passing", "exact"]


@requirement("keeper-items.search.words")
@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("See AUTH-1234 for details", "auth-1234"),
        ("call getUserName() here", "user"),
        ("call getUserName() here", "getusername"),
        ("the user_name column", "user_name"),
        ("in src/auth/token.py", "src/auth/token.py"),
        ("用户认证失败", "认证"),
        ("ログイン画面の設定", "画面"),
        ("Größe der Datei", "grosse OR größe"),
    ],
)
def test_identifiers_paths_and_scripts_without_spaces_are_found(call: Call, text: str, query: str) -> None:
    save(call, "decoy", "AUTH 99 1234, user names, token src, 失败认")
    save(call, "k", text)
    assert found(call, query, searchIn=["value"], limit=1) == ["k"]


@requirement("keeper-items.search.everything")
def test_what_other_surfaces_saved_is_found_with_its_id_as_key(call: Call) -> None:
    id = call("save_context", context_text="Rotate the signing certificate")["id"]
    assert found(call, "certificate") == [id]
    [result] = call("context_semantic_search", query="certificate")["results"]
    assert (result["id"], result["key"]) == (id, id)
    assert call("context_get", key=id)["items"][0]["value"] == "Rotate the signing certificate"


@requirement("keeper-items.search.session")
def test_a_search_is_narrowed_to_one_session(call: Call, core: Core) -> None:
    other = caller_of(core._replace(caller=Caller(project="/p")))
    save(call, "mine", "shared word")
    session = other("context_save", key="theirs", value="shared word")["sessionId"]
    assert sorted(found(call, "shared")) == ["mine", "theirs"]
    assert found(call, "shared", sessionId=session) == ["theirs"]
    assert failure(call("context_search", query="x", sessionId="nobody"))[0] == "SESSION_NOT_FOUND"
    near = call("context_semantic_search", query="shared word", sessionId=session)["results"]
    assert [result["key"] for result in near] == ["theirs"]
    everywhere = call("context_semantic_search", query="shared word", sessionId="all")["results"]
    assert sorted(result["key"] for result in everywhere) == ["mine", "theirs"]
    assert failure(call("context_semantic_search", query="x", sessionId="nobody"))[0] == "SESSION_NOT_FOUND"


@pytest.fixture
def library(call: Call, clock: SteppedClock) -> Call:
    """Save the items that the queries of the document's library refer to."""
    for key, value, category, priority, metadata in (
        ("um", "feature:user-management status:in-progress", "progress", "normal", None),
        (
            "um_meta",
            "half of it works",
            "progress",
            "normal",
            {"feature": "user-management", "status": "done"},
        ),
        ("um_note", "feature:user-management status:open", "note", "normal", None),
        ("billing", "feature:billing status:done", "progress", "normal", None),
        ("stuck", "blocked by the vendor", "task", "high", None),
        ("late", "waiting for review", "warning", "high", None),
        ("calm", "waiting for nobody", "task", "low", None),
        ("react", "use React", "decision", "normal", {"area": "frontend"}),
        ("go", "use Go", "decision", "normal", {"area": "backend"}),
        ("slow", "nightly import", "progress", "normal", {"duration": 5000}),
        ("slower", "full rebuild", "progress", "normal", {"duration": "9s"}),
        ("quick", "ping", "progress", "normal", {"duration": 20}),
        ("leak", "memory usage keeps growing", "warning", "normal", None),
    ):
        save(call, key, value, category=category, priority=priority, metadata=metadata)
        clock.step()
    return call


@requirement("keeper-items.search.library")
@pytest.mark.parametrize(
    ("arguments", "keys"),
    [
        (
            {"query": "feature:user-management status:*", "searchIn": ["value"], "categories": ["progress"]},
            ["um", "um_meta"],
        ),
        (
            {
                "query": "blocked OR waiting OR impediment",
                "categories": ["task", "warning"],
                "priority": "high",
            },
            ["late", "stuck"],
        ),
        (
            {"category": "decision", "query": "area:frontend OR area:backend", "groupBy": "metadata.area"},
            ["go", "react"],
        ),
        (
            {
                "query": "duration:>1000ms",
                "categories": ["progress"],
                "sortBy": "metadata.duration",
                "order": "desc",
            },
            ["slow", "slower"],
        ),
        ({"query": "memory usage", "categories": ["progress", "warning"], "timeRange": "-7d"}, ["leak"]),
    ],
)
def test_the_query_library_works_as_written(
    library: Call, arguments: dict[str, Any], keys: list[str]
) -> None:
    answer = library("context_search", **arguments)
    assert sorted(result["key"] for result in answer["results"]) == keys
    if "sortBy" in arguments:
        assert [result["key"] for result in answer["results"]] == ["slower", "slow"]
    if "groupBy" in arguments:
        assert [(group["value"], group["keys"]) for group in answer["groups"]] == [
            ("backend", ["go"]),
            ("frontend", ["react"]),
        ]


@requirement("keeper-items.search.invalid")
@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"relativeTime": "some day"}, "relativeTime"),
        ({"createdAfter": "x"}, "createdAfter"),
        ({"createdBefore": "x"}, "createdBefore"),
        ({"afterDate": "x"}, "afterDate"),
        ({"beforeDate": "x"}, "beforeDate"),
        ({"timeRange": "x"}, "timeRange"),
        ({"sort": "best"}, "sort"),
        ({"sortBy": "value"}, "sortBy"),
        ({"groupBy": "value"}, "groupBy"),
        ({"priorities": ["urgent"]}, "priorities"),
        ({"limit": 0}, "limit"),
        ({"offset": -1}, "offset"),
    ],
)
def test_wrong_arguments_of_a_search_are_named(call: Call, arguments: dict[str, Any], field: str) -> None:
    assert failure(call("context_search", query="x", **arguments)) == ("INVALID_PARAMS", field)


@requirement("keeper-items.semantic.reply")
def test_a_search_by_meaning_answers_with_similarities_and_the_query_vector(
    call: Call, embedder: HashedWords
) -> None:
    saved = call("context_save", key="auth", value="signin flow", category="task", priority="high")
    save(call, "other", "paint the shed")
    answer = call("context_semantic_search", query="login")
    [best, *_] = answer["results"]
    assert best == {
        "id": saved["id"],
        "key": "auth",
        "value": "signin flow",
        "similarity": best["similarity"],
        "category": "task",
        "priority": "high",
        "sessionId": saved["sessionId"],
        "source": "memory-keeper",
        "trust": "own",
    }
    assert 0 < best["similarity"] <= 1
    assert len(answer["queryEmbedding"]) == embedder.dimensions
    assert sum(number**2 for number in answer["queryEmbedding"]) == pytest.approx(1, abs=1e-4)


@requirement("keeper-items.semantic.options")
def test_the_number_the_least_similarity_and_the_categories_are_honoured(call: Call) -> None:
    for number in range(12):
        save(call, f"k{number}", "car " * (number + 1) + "wheel", category="task" if number % 2 else "note")
    everything = call("context_semantic_search", query="automobile")["results"]
    assert len(everything) == 10
    similarities = [result["similarity"] for result in everything]
    assert similarities == sorted(similarities, reverse=True)
    assert len(call("context_semantic_search", query="automobile", topK=3)["results"]) == 3
    assert len(call("context_semantic_search", query="automobile", topK=50)["results"]) == 12
    least = similarities[4]
    some = call("context_semantic_search", query="automobile", minSimilarity=least)["results"]
    assert some == [result for result in everything if result["similarity"] >= least]
    assert call("context_semantic_search", query="automobile", minSimilarity=1)["results"] == []
    notes = call("context_semantic_search", query="automobile", categories=["note"])["results"]
    assert {result["category"] for result in notes} == {"note"}
    assert len(notes) == 6
    for arguments, field in (
        ({"topK": 0}, "topK"),
        ({"minSimilarity": 1.5}, "minSimilarity"),
        ({"minSimilarity": -0.1}, "minSimilarity"),
    ):
        answer = call("context_semantic_search", query="x", **arguments)
        assert failure(answer) == ("INVALID_PARAMS", field)


@requirement("keeper-items.semantic.number")
def test_unrelated_items_and_those_below_the_minimum_are_left_out(call: Call) -> None:
    texts = {"auth": "signin flow", "shed": "paint the shed", "page": "the text beside the signin button"}
    for key, text in texts.items():
        save(call, key, text)
    related = call("context_semantic_search", query="login")["results"]
    assert [result["key"] for result in related] == ["auth", "page"]
    assert call("context_semantic_search", query="login", topK=1)["results"] == related[:1]
    least = {"query": "login", "minSimilarity": related[0]["similarity"]}
    assert call("context_semantic_search", **least)["results"] == related[:1]


@requirement("keeper-items.semantic.identifiers")
def test_a_thing_that_is_named_exactly_comes_first(call: Call) -> None:
    for number in range(40):
        save(call, f"n{number}", f"Ticket AUTH-{1000 + number} is about a ticket")
    for number in (0, 17, 39):
        [best, *_] = call("context_semantic_search", query=f"AUTH-{1000 + number}")["results"]
        assert best["key"] == f"n{number}"


@requirement("keeper-items.semantic.off")
def test_without_vectors_words_are_used_and_the_answer_says_so(
    store: Store, open_core: OpenCore, embedder: HashedWords
) -> None:
    call = caller_of(open_core(store, None))
    save(call, "k", "the red car")
    answer = call("context_semantic_search", query="car")
    assert [result["key"] for result in answer["results"]] == ["k"]
    assert answer["queryEmbedding"] == []
    assert "words alone" in answer["notices"][0]
    failing = caller_of(open_core(store, HashedWords(failure=Unavailable("The endpoint is down."))))
    assert "endpoint is down" in failing("context_semantic_search", query="car")["notices"][0]


@requirement("keeper-items.budget")
def test_large_values_in_a_search_by_meaning_are_cut_and_marked(call: Call) -> None:
    for number in range(3):
        save(call, f"k{number}", f"car {number} " + "padding " * 20_000)
    results = call("context_semantic_search", query="car")["results"]
    assert len(results) == 3
    assert all(result["truncated"]["size"] > 100_000 for result in results)


@requirement("keeper-items.search.conversations")
def test_who_finds_no_item_is_told_of_conversations_that_match(varied: Call, store: Store) -> None:
    texts = ("What about Kafka?", "Kafka was chosen for the queue, since consumers must replay.")
    store.conversations.put(make_conversation("c"), make_messages("c", *texts))
    for tool in ("context_search", "context_semantic_search"):
        told = varied(tool, query="Kafka chosen queue")["notices"][-1]
        assert told.startswith("1 conversation matches what no memory says for sure")
    assert "notices" not in varied("context_search", query="shed")
