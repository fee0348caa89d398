"""session-mgmt's memory and search tools, through the tools themselves."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from backstory.core import Caller, Core, Engine
from backstory.core.calls import Call as Progress
from backstory.core.forgetting.retention import Retention
from backstory.domain.filters import ConversationFilter, Filter
from backstory.domain.records import Trace
from backstory.store import Store

from ..conftest import Call, OpenCore, OpenStore, caller_of
from ..doubles import DAWN, HashedWords, SteppedClock, make_conversation, make_messages, make_settings

requirement = pytest.mark.requirement


def talk(store: Store, id: str, *texts: str, **changes: Any) -> None:
    """A conversation that was read from another assistant."""
    changes = {"surface": "claude-code", **changes}
    store.conversations.put(make_conversation(id, **changes), make_messages(id, *texts, **changes))


Json = dict[str, Any]


def contents(answer: Json) -> list[str]:
    return [result["content"] for result in answer["results"]]


@requirement("session-mgmt-search.reflect.shape", "session-mgmt-search.reflect.everything")
def test_conversations_reflections_and_items_of_all_surfaces_are_found(call: Call, store: Store) -> None:
    talk(store, "c", "deploy the parser", "The parser is deployed.")
    call("save_context", context_text="deploy parser")
    call("context_save", key="parser", value="deploy parser twice")
    call("store_reflection", content="deploy parser at night")
    answer = call("reflect_on_past", query="deploy parser", min_score=0.5)
    assert answer["success"] is True
    assert answer["search_strategy"] == "semantic"
    assert {result["source"] for result in answer["results"]} == {
        "claude-code", "projectmemory", "memory-keeper", "session-mgmt"
    }  # fmt: skip
    assert answer["total_found"] == len(answer["results"])
    for result in answer["results"]:
        assert {"content", "project", "timestamp", "similarity_score", "context"} <= set(result)
        assert 0.5 <= result["similarity_score"] <= 1
        assert result["timestamp"].endswith("Z")


@requirement("session-mgmt-search.reflect.everything")
def test_a_private_item_of_another_session_is_not_found(call: Call, core: Core) -> None:
    call("context_save", key="secret", value="zebra password", private=True)
    stranger = caller_of(core._replace(caller=Caller(project="/p")))
    for tool, arguments in (
        ("reflect_on_past", {"query": "zebra password", "min_score": 0}),
        ("quick_search", {"query": "zebra password", "min_score": 0}),
        ("get_more_results", {"query": "zebra password", "offset": 0}),
        ("search_by_concept", {"concept": "zebra password"}),
        ("search_by_file", {"file_path": "zebra"}),
    ):
        assert "zebra password" not in json.dumps(stranger(tool, **arguments).get("results", [])), tool
        assert "secret" not in json.dumps(stranger(tool, **arguments)), tool
    assert contents(call("reflect_on_past", query="zebra password")) == ["zebra password"]


@requirement("session-mgmt-search.reflect.limit")
def test_limit_cuts_and_the_total_counts_all(call: Call) -> None:
    for number in range(12):
        call("save_context", context_text=f"parser note {number}")
    answer = call("reflect_on_past", query="parser note", min_score=0.5)
    assert (len(answer["results"]), answer["total_found"]) == (10, 12)
    assert len(call("reflect_on_past", query="parser note", min_score=0.5, limit=3)["results"]) == 3
    for limit in (0, 51):
        refused = call("reflect_on_past", query="parser", limit=limit)
        assert (refused["error_code"], "limit" in refused["error"]) == ("INVALID_INPUT", True)


@requirement("session-mgmt-search.reflect.limit")
def test_everything_that_is_sure_enough_is_counted_however_much_it_is(call: Call, core: Core) -> None:
    memories = core.through("projectmemory").memories
    for number in range(260):
        memories.save(f"the parser {number}")
    assert core.engine.backlog is not None
    core.engine.backlog.drain()
    assert call("quick_search", query="the parser", min_score=0.6)["total_count"] == 260


@requirement("session-mgmt-search.reflect.min-score")
def test_min_score_is_honoured_by_meaning_and_by_words(
    open_core: OpenCore, store: Store, embedder: HashedWords
) -> None:
    by_meaning = caller_of(open_core(store, embedder))
    by_words = caller_of(open_core(store, None))
    by_meaning("save_context", context_text="automobile repair")
    by_meaning("save_context", context_text="repair of the roof needs tiles and four people")
    for call, strategy in ((by_meaning, "semantic"), (by_words, "text_fallback")):
        strict, loose = (call("reflect_on_past", query="repair automobile", min_score=s) for s in (0.7, 0.0))
        assert strict["search_strategy"] == loose["search_strategy"] == strategy
        assert contents(strict) == ["automobile repair"]
        assert len(contents(loose)) == 2
        usual = call("reflect_on_past", query="repair automobile")
        assert (contents(usual), usual["total_found"]) == (["automobile repair"], 1)
        lower = loose["results"][1]["similarity_score"]
        assert usual["suggestions"][-1].startswith(f"The nearest below min_score has {lower:.2f}; min_score ")
        quick = call("quick_search", query="repair automobile")
        assert (quick["total_count"], quick["has_more"]) == (1, False)
        more = call("get_more_results", query="repair automobile", offset=0)
        assert (contents(more), more["total_available"]) == (["automobile repair"], 1)
    assert "min_score" in by_meaning("reflect_on_past", query="x", min_score=1.5)["error"]


@requirement("session-mgmt-search.reflect.strategy")
def test_a_paraphrase_is_found_by_meaning_only(
    open_core: OpenCore, store: Store, embedder: HashedWords
) -> None:
    caller_of(open_core(store, embedder))("save_context", context_text="car")
    answer = caller_of(open_core(store, embedder))("reflect_on_past", query="vehicle")
    assert (contents(answer), answer["search_strategy"]) == (["car"], "semantic")
    fallback = caller_of(open_core(store, None))("reflect_on_past", query="vehicle")
    assert (contents(fallback), fallback["search_strategy"]) == ([], "text_fallback")
    assert "notices" in fallback


@requirement("session-mgmt-search.reflect.project")
def test_the_own_project_comes_first_and_a_project_narrows(call: Call, store: Store) -> None:
    talk(store, "there", "parser bug", project="/elsewhere/app")
    talk(store, "here", "parser bug in the long report of yesterday", project="/p")
    every = call("reflect_on_past", query="parser bug", min_score=0.3)
    assert [result["project"] for result in every["results"]] == ["/p", "/elsewhere/app"]
    for name in ("/elsewhere/app", "app", "APP"):
        only = call("reflect_on_past", query="parser bug", min_score=0.3, project=name)
        assert [result["project"] for result in only["results"]] == ["/elsewhere/app"]
    unknown = call("reflect_on_past", query="parser bug", min_score=0.3, project="nowhere")
    assert unknown["results"] == []
    assert "nowhere" in unknown["notices"][0]
    assert call("reflect_on_past", query="parser bug", min_score=0.3, project=None) == every


@requirement("session-mgmt-search.reflect.related")
def test_projects_of_one_remote_are_searched_together(call: Call, store: Store, tmp_path: Path) -> None:
    for name, url in (
        ("one", "git@host:team/app.git"),
        ("two", "https://me@host/team/app"),
        ("three", "x:y"),
    ):
        (tmp_path / name / ".git").mkdir(parents=True)
        (tmp_path / name / ".git" / "config").write_text(f'[remote "origin"]\n\turl = {url}\n')
        talk(store, name, "parser bug", project=str(tmp_path / name))
    both = call("reflect_on_past", query="parser bug", min_score=0.3, project="one")
    assert {Path(result["project"]).name for result in both["results"]} == {"one", "two"}
    alone = call(
        "reflect_on_past", query="parser bug", min_score=0.3, project="one", include_related_projects=False
    )
    assert {Path(result["project"]).name for result in alone["results"]} == {"one"}


@requirement("session-mgmt-search.retention")
def test_old_entries_are_archived_before_they_are_removed_and_only_when_asked_for(
    call: Call, core: Core, store: Store, clock: SteppedClock
) -> None:
    talk(store, "old", "parser bug in the lexer")
    kept = call("store_reflection", content="the parser bug was a missing flush")["reflection_id"]
    clock.step(40 * 24 * 60 * 60)
    Retention(core.engine).archive_daily(Progress())
    assert call("quick_search", query="parser bug", min_score=0.3)["total_count"] == 2
    core.engine.settings = core.engine.settings.changed(retention_days=30.0)
    Retention(core.engine).archive_daily(Progress())
    assert call("quick_search", query="parser bug", min_score=0.3)["total_count"] == 0
    stats = call("reflection_stats")
    assert (stats["total_conversations"], stats["total_reflections"]) == (0, 0)
    assert [each.memory.id for each in store.archive.find_memories(Filter())] == [kept]
    assert [each.conversation.id for each in store.archive.find_conversations(ConversationFilter())] == [
        "old"
    ]


@requirement("session-mgmt-search.reflect.related")
def test_declared_projects_are_related(store: Store, clock: SteppedClock, tmp_path: Path) -> None:
    places = [tmp_path / name for name in ("api", "web", "other")]
    for place in places:
        place.mkdir()
        talk(store, place.name, "parser bug", project=str(place))
    declared = make_settings(related_projects=(str(places[0]), str(places[1])))
    engine = Engine(declared, store, None, now=clock)
    call = caller_of(Core(engine, Caller(project="/p")))
    (tmp_path / "new").mkdir()
    answer = call("reflect_on_past", query="parser bug", min_score=0.3, project="api")
    assert {Path(result["project"]).name for result in answer["results"]} == {"api", "web"}
    call = caller_of(Core(engine, Caller(project=str(tmp_path / "new"))))
    of_new = {"query": "parser bug", "min_score": 0.3, "project": str(tmp_path / "new")}
    answer = call("reflect_on_past", **of_new)
    assert {Path(result["project"]).name for result in answer["results"]} == {"api", "web"}
    alone = call("reflect_on_past", **of_new, include_related_projects=False)
    assert (alone["results"], "Nothing is known of a project" in alone["notices"][-1]) == ([], True)


@requirement("session-mgmt-search.reflect.suggestions")
def test_when_little_is_found_the_words_of_what_came_nearest_are_suggested(call: Call) -> None:
    call("context_save", key="login_flow", value="login with a token from the identity provider")
    answer = call("reflect_on_past", query="token of the printer", min_score=0.95)
    assert answer["results"] == []
    assert answer["suggestions"][0] == "login_flow"
    assert "min_score" in answer["suggestions"][1]


@requirement("session-mgmt-search.reflect.suggestions", "session-mgmt-search.reflect.min-score")
def test_the_suggested_min_score_shows_what_was_below_it(call: Call) -> None:
    call("context_save", key="login_flow", value="login with a token from the identity provider")
    query = {"query": "token of the printer in the office"}
    for tool, results in (("reflect_on_past", "total_found"), ("quick_search", "total_count")):
        answer = call(tool, **query)
        assert answer[results] == 0
        lower = float(re.findall(r"min_score (0\.\d\d) shows 1 more", answer["suggestions"][-1])[0])
        assert call(tool, **query, min_score=lower)[results] == 1


@requirement("session-mgmt-search.nothing")
@pytest.mark.parametrize("query", ["zzqxjk wvut", "photosynthesis"])
def test_what_nothing_has_to_do_with_finds_nothing_in_any_tool(call: Call, store: Store, query: str) -> None:
    talk(store, "lexer", "parser bug in the lexer", "The lexer reads one token too many.")
    call("context_save", key="login_flow", value="login with a token from the identity provider")
    for tool, argument in (("reflect_on_past", "query"), ("search_by_concept", "concept")):
        answer = call(tool, **{argument: query}, **({"min_score": 0} if argument == "query" else {}))
        assert (answer["results"], answer["total_found"]) == ([], 0)
        assert answer["suggestions"] == ["login_flow", "About lexer"]
    assert call("quick_search", query=query, min_score=0)["total_count"] == 0
    assert call("get_more_results", query=query, offset=0)["total_available"] == 0
    assert call("retrieve_context", query=query)["results"] == []
    assert call("context_semantic_search", query=query)["results"] == []


@requirement("session-mgmt-search.reflect.suggestions")
def test_when_nothing_is_near_the_newest_subjects_are_suggested(call: Call, store: Store) -> None:
    (hint,) = call("reflect_on_past", query="qwertz")["suggestions"]
    assert "store_reflection" in hint
    call("context_save", key="login_flow", value="login with a token from the identity provider")
    talk(store, "lexer", "parser bug in the lexer")
    for asked in ({"query": "qwertz"}, {"query": "login token", "project": "unknown"}):
        answer = call("reflect_on_past", min_score=0.95, **asked)
        assert (answer["results"], answer["suggestions"]) == ([], ["login_flow", "About lexer"])
    found = call("search_by_concept", concept="login token identity provider")
    assert (len(found["results"]), found["suggestions"]) == (1, ["About lexer"])


@requirement("session-mgmt-search.reflect.context")
def test_a_message_comes_with_what_was_said_around_it(call: Call, store: Store) -> None:
    talk(store, "c", "How is the zebra?", "The zebra sleeps.", "Thank you, good night.")
    answer = call("reflect_on_past", query="zebra sleeps", min_score=0.5, limit=1)
    (result,) = answer["results"]
    assert result["content"] == "The zebra sleeps."
    assert result["context"] == "user: How is the zebra?\nuser: Thank you, good night."
    assert (result["conversation_id"], result["role"]) == ("c", "assistant")


@requirement("session-mgmt-search.reflect.context")
def test_a_subagent_speaks_for_the_conversation_that_started_it(call: Call, store: Store) -> None:
    talk(store, "main", "Look after the animals.", "I have sent somebody.")
    store.conversations.put(
        make_conversation("helper", kind="subagent", parent="main"),
        make_messages("helper", "Look after the zebra.", "The zebra sleeps."),
    )
    (result,) = call("reflect_on_past", query="zebra sleeps", limit=1)["results"]
    assert (result["content"], result["conversation_id"]) == ("The zebra sleeps.", "main")


@requirement("session-mgmt-search.errors")
@pytest.mark.parametrize(
    ("tool", "arguments", "field"),
    [
        ("reflect_on_past", {"query": " "}, "query"),
        ("reflect_on_past", {}, "query"),
        ("quick_search", {"query": ""}, "query"),
        ("get_more_results", {"query": "x", "offset": -1}, "offset"),
        ("search_by_file", {"file_path": " "}, "file_path"),
        ("search_by_concept", {"concept": ""}, "concept"),
        ("store_reflection", {"content": ""}, "content"),
        ("get_cached_chunk", {"cache_key": "x", "chunk_index": 0}, "chunk_index"),
    ],
)
def test_wrong_arguments_are_named(call: Call, tool: str, arguments: dict[str, Any], field: str) -> None:
    answer = call(tool, **arguments)
    assert (answer["success"], answer["error_code"]) == (False, "INVALID_INPUT")
    assert field in answer["error"]


@requirement("session-mgmt-search.store.shape")
def test_a_reflection_says_truly_whether_it_has_its_vector(
    open_core: OpenCore, store: Store, embedder: HashedWords
) -> None:
    answer = caller_of(open_core(store, embedder))(
        "store_reflection", content="Use sliding windows.", tags=["auth", " jwt ", "auth", ""]
    )
    assert answer == {
        "success": True,
        "reflection_id": answer["reflection_id"],
        "stored_at": "2026-03-01T09:30:00.000Z",
        "embedding_generated": True,
        "tags_applied": ["auth", "jwt"],
    }
    plain = caller_of(open_core(store, None))("store_reflection", content="Without a vector.")
    assert (plain["embedding_generated"], plain["tags_applied"]) == (False, [])


@requirement("session-mgmt-search.store.found")
def test_a_reflection_is_found_by_its_words_and_by_its_tags(call: Call) -> None:
    call("store_reflection", content="Sliding windows balance security.", tags=["oauth"])
    for query in ("sliding windows", "oauth"):
        found = call("reflect_on_past", query=query, min_score=0.5)
        assert contents(found) == ["Sliding windows balance security."]


@requirement("session-mgmt-search.quick.shape")
def test_quick_search_counts_all_and_shows_the_best(call: Call) -> None:
    empty = call("quick_search", query="zebra")
    assert (empty["total_count"], empty["top_result"], empty["has_more"]) == (0, None, False)
    assert "cache_key" not in empty
    for text in ("zebra", "zebra crossing", "zebra of the town"):
        call("save_context", context_text=text)
    answer = call("quick_search", query="zebra", min_score=0.5)
    assert (answer["total_count"], answer["has_more"]) == (3, True)
    assert answer["top_result"]["content"] == "zebra"
    assert call("quick_search", query="crossing")["total_count"] == 1
    assert call("quick_search", query="crossing town", min_score=0.99)["total_count"] == 0
    assert call("quick_search", query="zebra", project="nowhere")["total_count"] == 0


@requirement("session-mgmt-search.more.defaults")
def test_more_results_begin_after_the_third(call: Call, store: Store) -> None:
    for number in range(8):
        call("save_context", context_text=f"zebra {number}")
    whole = contents(call("get_more_results", query="zebra", offset=0, limit=50))
    answer = call("get_more_results", query="zebra")
    assert contents(answer) == whole[3:6]
    assert (answer["has_more"], answer["total_available"]) == (True, 8)
    rest = call("get_more_results", query="zebra", offset=6)
    assert (contents(rest), rest["has_more"]) == (whole[6:], False)
    assert call("get_more_results", query="zebra", offset=0, project="nowhere")["results"] == []


@requirement("session-mgmt-search.more.cache-key")
def test_a_cache_key_pages_the_ranking_as_it_was(call: Call, core: Core) -> None:
    for number in range(4):
        call("save_context", context_text=f"zebra {number}")
    before = contents(call("get_more_results", query="zebra", offset=0, limit=10))
    key = call("quick_search", query="zebra")["cache_key"]
    call("save_context", context_text="zebra")
    page = call("get_more_results", query="zebra", offset=0, limit=10, cache_key=key)
    assert (contents(page), page["total_available"]) == (before, 4)
    other_query = call("get_more_results", query="horse", cache_key=key)
    assert "another query" in other_query["error"]
    stranger = caller_of(core._replace(caller=Caller(project="/p")))
    refused = stranger("get_more_results", query="zebra", cache_key=key)
    assert (refused["error_code"], "cache_key" in refused["suggestions"][0]) == ("NOT_FOUND", True)


@requirement("session-mgmt-search.more.cache-key")
def test_a_frozen_ranking_shows_nothing_that_became_invisible(call: Call) -> None:
    call("context_save", key="mine", value="zebra one", private=True)
    call("save_context", context_text="zebra two")
    key = call("quick_search", query="zebra")["cache_key"]
    call("context_session_start", name="another")
    page = call("get_more_results", query="zebra", offset=0, cache_key=key)
    assert contents(page) == ["zebra two"]
    assert (page["has_more"], page["total_available"]) == (False, 1)


@requirement("session-mgmt-search.more.cache-key")
def test_paging_neither_loops_nor_counts_what_is_private_to_another_session(call: Call) -> None:
    for number in range(9):
        call("context_save", key=f"mine{number}", value=f"zebra {number}", private=True)
    key = call("quick_search", query="zebra")["cache_key"]
    call("context_session_start", name="another")
    page = call("get_more_results", query="zebra", offset=3, cache_key=key)
    assert (page["results"], page["has_more"], page["total_available"]) == ([], False, 0)


@requirement("session-mgmt-search.file")
def test_what_touched_a_file_comes_before_what_names_it(call: Call, store: Store) -> None:
    changes: dict[str, Any] = {"surface": "claude-code"}
    conversation = make_conversation("c", **changes)
    (said,) = make_messages("c", "Fix the bug.", **changes)
    (did,) = make_messages("c", "Edit auth.py", **changes, id="c:did", role="tool")
    path = "/w/app/src/auth.py"
    store.conversations.add(conversation, [said, did], [Trace("c:did", "written", path)])
    call("save_context", context_text="The token is checked in src/auth.py.")
    call("save_context", context_text="There is another auth.py somewhere.")
    call("save_context", context_text="oauth.py is not it, nor is auth.pyc")
    answer = call("search_by_file", file_path="src/auth.py")
    assert [result["similarity_score"] for result in answer["results"]] == [0.95, 0.9, 0.75]
    assert answer["results"][0]["content"] == "Edit auth.py"
    assert answer["results"][0]["context"] == "user: Fix the bug."
    assert answer["results"][0]["files"] == [path]
    assert (answer["total_found"], answer["search_strategy"]) == (3, "text_fallback")
    assert call("search_by_file", file_path=path)["results"][0]["similarity_score"] == 1.0
    assert len(call("search_by_file", file_path="auth.py", limit=2)["results"]) == 2
    assert call("search_by_file", file_path="auth.py", project="nowhere")["results"] == []


@requirement("session-mgmt-search.file", "session-mgmt-search.reflect.suggestions")
def test_who_finds_little_about_a_file_is_told_of_others(call: Call, store: Store) -> None:
    assert call("search_by_file", file_path="auth.py")["suggestions"] == [
        "Nothing else is remembered yet; store_reflection saves what is worth finding again."
    ]
    call("store_reflection", content="Herons wade.", tags=["birds"])
    assert call("search_by_file", file_path="auth.py")["suggestions"] == ["birds"]
    changes: dict[str, Any] = {"surface": "claude-code"}
    (did,) = make_messages("c", "Edit them", **changes, role="tool")
    paths = ["/w/docs/intro.md", "/w/src/auth.py", "/w/src/auths.py"]
    store.conversations.add(
        make_conversation("c", **changes), [did], [Trace(did.id, "written", path) for path in paths]
    )
    assert call("search_by_file", file_path="auth.py")["suggestions"] == [paths[2], paths[0]]


@requirement("session-mgmt-search.concept")
def test_a_concept_is_found_with_its_files(call: Call) -> None:
    call("save_context", context_text="Error handling is in src/errors.py and web/fail.ts.")
    call("save_context", context_text="Bananas are yellow.")
    answer = call("search_by_concept", concept="error handling")
    assert [result["files"] for result in answer["results"]] == [["src/errors.py", "web/fail.ts"]]
    plain = call("search_by_concept", concept="error handling", include_files=False)
    assert "files" not in plain["results"][0]
    assert call("search_by_concept", concept="error handling", project="nowhere")["total_found"] == 0
    call("save_context", context_text="Error handling again.")
    assert len(call("search_by_concept", concept="error handling", limit=1)["results"]) == 1


@requirement("session-mgmt-search.stats")
def test_statistics_count_what_is_there(call: Call, store: Store, core: Core) -> None:
    empty = call("reflection_stats")
    assert (empty["total_conversations"], empty["oldest_conversation"]) == (0, "")
    talk(store, "c", "hello", "world", project="/q")
    call("store_reflection", content="An insight.")
    core.engine.store.memories.put([])
    stats = call("reflection_stats")
    assert stats["total_conversations"] == stats["total_reflections"] == 1
    assert stats["projects_tracked"] == 2
    assert stats["oldest_conversation"] == f"{DAWN:%Y-%m-%dT%H:%M:%S}.000Z"
    assert stats["most_recent"] >= stats["oldest_conversation"]
    assert stats["storage_size_mb"] > 0
    assert core.engine.backlog is not None
    core.engine.backlog.drain()
    assert call("reflection_stats")["embedding_coverage"] == 100.0


@requirement("session-mgmt-search.stats")
def test_without_embeddings_nothing_is_covered(open_core: OpenCore, store: Store) -> None:
    call = caller_of(open_core(store, None))
    stored_at = call("store_reflection", content="An insight.")["stored_at"]
    stats = call("reflection_stats")
    assert stats["embedding_coverage"] == 0.0
    assert (stats["oldest_conversation"], stats["most_recent"]) == ("", stored_at)


def joined(chunks: list[Json]) -> Json:
    """As a client does it: lists of results one after the other, and what was cut put together again."""
    whole = {**chunks[0], "results": [result for chunk in chunks for result in chunk["results"]]}
    for rest in (rest for chunk in chunks for rest in chunk.get("rest", [])):
        *path, last = rest["at"].split("/")[1:]
        holder: Any = whole
        for name in path:
            holder = holder[int(name)] if name.isdigit() else holder[name]
        holder[last] = holder[last][: rest["begin"]] + rest["value"]
    return whole


def all_chunks(call: Call, first: Json) -> list[Json]:
    chunks = [
        call("get_cached_chunk", cache_key=first["cache_key"], chunk_index=index)
        for index in range(1, first["total_chunks"] + 1)
    ]
    assert chunks[0] == first
    assert all(len(json.dumps(chunk, ensure_ascii=False).encode()) <= 16_000 for chunk in chunks)
    return chunks


@requirement("session-mgmt-search.chunks")
@pytest.mark.parametrize("filling", ["x", "ü", "\U0001f989", '"\\', "日本"])
def test_a_result_larger_than_a_message_is_cut_and_goes_on_in_the_next_chunks(
    open_core: OpenCore, open_store: OpenStore, filling: str
) -> None:
    first = caller_of(open_core(open_store(), None))
    text = f"zebra {filling * (30_000 // len(filling))}"
    first("save_context", context_text=text)
    answer = first("reflect_on_past", query="zebra", min_score=0.1)
    assert answer["success"] is answer["chunked"] is True
    assert (answer["current_chunk"], answer["total_found"]) == (1, 1)
    assert f"{len(text):,} characters in all" in answer["results"][0]["content"]
    restarted = caller_of(open_core(open_store(), None))
    chunks = all_chunks(restarted, answer)
    assert [len(chunk["results"]) for chunk in chunks] == [1] + [0] * (len(chunks) - 1)
    assert contents(joined(chunks)) == [text]
    beyond = restarted(
        "get_cached_chunk", cache_key=answer["cache_key"], chunk_index=answer["total_chunks"] + 1
    )
    assert "chunk_index" in beyond["error"]


@requirement("session-mgmt-search.chunks")
def test_every_chunk_is_a_whole_answer_with_its_part_of_the_results(call: Call) -> None:
    texts = {f"zebra number {n} {'stripes ' * 300}" for n in range(20)}
    for text in texts:
        call("store_reflection", content=text)
    answer = call("reflect_on_past", query="zebra", min_score=0.1, limit=20)
    chunks = all_chunks(call, answer)
    for chunk in chunks:
        assert chunk["results"]
        assert (chunk["success"], chunk["total_found"], chunk["search_strategy"]) == (True, 20, "semantic")
    whole = joined(chunks)["results"]
    assert {result["content"] for result in whole} == texts
    scores = [result["similarity_score"] for result in whole]
    assert scores == sorted(scores, reverse=True)


@requirement("session-mgmt-search.chunks")
def test_a_top_result_larger_than_a_message_says_how_to_get_it_whole(call: Call) -> None:
    call("store_reflection", content=LARGE)
    answer = call("quick_search", query="zebra", min_score=0.1)
    assert "chunked" not in answer
    assert "30,006 characters in all; get_more_results" in answer["top_result"]["content"]
    first = call("get_more_results", query="zebra", cache_key=answer["cache_key"], offset=0, limit=1)
    assert contents(joined(all_chunks(call, first))) == [LARGE]


@requirement("session-mgmt-search.chunks")
def test_kept_answers_expire(call: Call, clock: SteppedClock) -> None:
    call("save_context", context_text="zebra " + "x" * 30_000)
    key = call("reflect_on_past", query="zebra", min_score=0.1)["cache_key"]
    clock.step(8 * 24 * 3600)
    assert call("get_cached_chunk", cache_key=key, chunk_index=1)["error_code"] == "NOT_FOUND"


LARGE = "zebra " + "x" * 30_000


@requirement("session-mgmt-search.chunks")
def test_chunks_that_tell_of_private_items_open_in_their_own_session_alone(
    call: Call, core: Core, open_core: OpenCore, open_store: OpenStore
) -> None:
    call("context_session_start", name="one")
    call("save_context", context_text=LARGE)
    call("context_save", key="mine", value="zebra", private=True)
    session = core.caller.session
    answer = call("reflect_on_past", query="zebra", min_score=0.1)
    fetch = {"cache_key": answer["cache_key"], "chunk_index": 1}
    assert call("get_cached_chunk", **fetch) == answer
    restarted = open_core(open_store(), None)
    assert caller_of(restarted)("get_cached_chunk", **fetch)["error_code"] == "NOT_FOUND"
    restarted.caller.session = session
    assert caller_of(restarted)("get_cached_chunk", **fetch) == answer
    call("context_session_start", name="two")
    assert call("get_cached_chunk", **fetch)["error_code"] == "NOT_FOUND"


@requirement("session-mgmt-search.chunks")
def test_a_private_item_that_is_only_counted_makes_the_chunks_private_too(
    call: Call, open_core: OpenCore, open_store: OpenStore
) -> None:
    call("context_session_start", name="one")
    call("save_context", context_text=f"zebra wildlife {'x' * 30_000}")
    call("context_save", key="mine", value="zebra and horse", private=True)
    answer = call("reflect_on_past", query="zebra wildlife", min_score=0.1, limit=1)
    fetch = {"cache_key": answer["cache_key"], "chunk_index": 1}
    assert answer["total_found"] == 2
    assert caller_of(open_core(open_store(), None))("get_cached_chunk", **fetch)["error_code"] == "NOT_FOUND"


@requirement("session-mgmt-search.chunks")
def test_chunks_without_private_items_open_after_a_restart_whatever_else_the_session_keeps(
    call: Call, open_core: OpenCore, open_store: OpenStore
) -> None:
    call("context_session_start", name="one")
    call("save_context", context_text=LARGE)
    call("context_save", key="mine", value="quiet horse", private=True)
    answer = call("reflect_on_past", query="zebra", min_score=0.1, limit=1)
    fetch = {"cache_key": answer["cache_key"], "chunk_index": 1}
    assert caller_of(open_core(open_store(), None))("get_cached_chunk", **fetch) == answer


@requirement("session-mgmt-search.chunks")
def test_clearing_and_deleting_remove_what_was_kept_of_answers(call: Call) -> None:
    for tool, arguments in (
        ("clear_all_context", {"confirmation": "confirm"}),
        ("context_delete", {"key": "another"}),
    ):
        call("context_save", key="another", value="zebra")
        call("save_context", context_text=LARGE)
        chunked = call("reflect_on_past", query="zebra", min_score=0.1)["cache_key"]
        paged = call("quick_search", query="zebra", min_score=0.1)["cache_key"]
        call(tool, **arguments)
        assert call("get_cached_chunk", cache_key=chunked, chunk_index=1)["error_code"] == "NOT_FOUND"
        assert call("get_more_results", query="zebra", cache_key=paged)["error_code"] == "NOT_FOUND"
