"""No tool of any surface shows a stranger what another session keeps private, nor changes it."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest

from backstory.core import Core
from backstory.core.answers import Answers
from backstory.domain.records import Entry
from backstory.surfaces import all_tools, load_surfaces

from ..conftest import OpenCore, OpenStore, caller_of
from ..doubles import HashedWords
from ..example_calls import DOOMED, Known, chunked_answer, example_calls

TOOLS = all_tools(load_surfaces())
SECRET = "The zebra password is hunter2, see ZebraService in src/zebra.ts, fixes ZEBRA-99."
SIGNS = ("hunter2", "zebraservice", "zebra.ts", "zebra-99", "zebra_key")

PRYING: list[tuple[str, dict[str, Any]]] = [
    ("retrieve_context", {"query": "password"}),
    ("context_get", {"includeMetadata": True}),
    ("context_get", {"sessionId": "OWNER"}),
    ("context_get", {"keyPattern": ".*z.*"}),
    ("context_search", {"query": "password"}),
    ("context_search", {"query": "password", "sessionId": "OWNER", "includeMetadata": True}),
    ("context_semantic_search", {"query": "password", "sessionId": "OWNER"}),
    ("context_summarize", {"sessionId": "OWNER"}),
    ("context_timeline", {"sessionId": "OWNER", "includeItems": True}),
    ("context_analyze", {"sessionId": "OWNER"}),
    ("context_find_related", {"key": "shared"}),
    ("context_visualize", {"type": "graph", "sessionId": "OWNER"}),
    ("context_visualize", {"type": "timeline", "sessionId": "OWNER"}),
    ("context_delegate", {"taskType": "analyze", "input": {"analysisType": "comprehensive"}}),
    ("context_delegate", {"taskType": "synthesize", "input": {"synthesisType": "narrative"}}),
    ("context_merge_sessions", {"sourceSessionId": "OWNER", "conflictResolution": "keep_source"}),
    ("context_restore_checkpoint", {"name": "owned", "merge": True}),
    ("context_restore_checkpoint", {"name": "owned"}),
    ("context_branch_session", {"branchName": "copy", "copyDepth": "deep"}),
    ("context_compress", {"olderThan": "2999-01-01", "sessionId": "OWNER"}),
    ("context_session_list", {}),
    ("context_get", {}),
]


@pytest.fixture
def owner(open_core: OpenCore, open_store: OpenStore, embedder: HashedWords) -> Core:
    core = open_core(open_store(), embedder)
    call = caller_of(core)
    call("context_session_start", name="Owner")
    call("context_save", key="zebra_key", value=SECRET, private=True, category="task", priority="critical")
    call("context_save", key="shared", value="Apples are shared by AppleService.", priority="high")
    call("context_save", key=DOOMED, value="Not for long.")
    call("context_checkpoint", name="owned")
    call("context_analyze")
    return core


@pytest.fixture
def stranger(owner: Core, open_core: OpenCore, open_store: OpenStore, embedder: HashedWords) -> Core:
    core = open_core(open_store(), embedder)
    caller_of(core)("context_session_start", name="Stranger")
    return core


def test_a_stranger_sees_nothing_of_a_private_item(owner: Core, stranger: Core) -> None:
    assert owner.caller.session is not None
    for tool, arguments in PRYING:
        filled = {
            name: owner.caller.session if value == "OWNER" else value for name, value in arguments.items()
        }
        answer = TOOLS[tool].call(stranger, filled).text.lower()
        assert [sign for sign in SIGNS if sign in answer] == [], tool
    (item,) = caller_of(owner)("context_get", key="zebra_key")["items"]
    assert item["value"] == SECRET


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("context_search", {"query": "apples"}),
        ("context_get", {"keyPattern": "shared"}),
        ("context_semantic_search", {"query": "apples"}),
        ("retrieve_context", {"query": "apples"}),
        ("reflect_on_past", {"query": "apples"}),
        ("quick_search", {"query": "apples"}),
        ("recall", {"query": "apples"}),
    ],
)
def test_what_becomes_private_while_it_is_searched_for_is_not_shown(
    tool: str, arguments: Any, owner: Core, stranger: Core, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries = stranger.engine.store.entries
    load = entries.load

    def load_late(*which: Any) -> dict[int, Entry]:
        caller_of(owner)("context_save", key="shared", value=SECRET, private=True)
        return load(*which)

    assert "AppleService" in TOOLS[tool].call(stranger, arguments).text
    monkeypatch.setattr(entries, "load", load_late)
    answer = TOOLS[tool].call(stranger, arguments).text.lower()
    assert [sign for sign in SIGNS if sign in answer] == []
    (item,) = caller_of(owner)("context_get", key="shared")["items"]
    assert item["value"] == SECRET


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("context_save", {"key": "long", "value": "Not for you.", "private": True}),
        ("context_restore_checkpoint", {"name": "hidden", "merge": True}),
    ],
)
def test_an_answer_in_chunks_is_gone_when_what_it_quotes_becomes_private(
    tool: str, arguments: Any, owner: Core, stranger: Core
) -> None:
    mine, theirs = caller_of(owner), caller_of(stranger)
    mine("context_save", key="long", value="Hidden at first.", private=True)
    mine("context_checkpoint", name="hidden")
    mine("context_save", key="long", value="albatross " * 3_000)
    key = theirs("reflect_on_past", query="albatross", min_score=0.1)["cache_key"]
    assert "albatross" in str(theirs("get_cached_chunk", cache_key=key, chunk_index=2))
    assert "error" not in mine(tool, **arguments)
    assert "albatross" not in str(theirs("get_cached_chunk", cache_key=key, chunk_index=2))


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("context_delete", {"key": "long"}),
        ("context_save", {"key": "long", "value": "Not for you.", "private": True}),
    ],
)
def test_no_answer_is_kept_in_chunks_that_quotes_what_went_meanwhile(
    tool: str, arguments: Any, owner: Core, stranger: Core, monkeypatch: pytest.MonkeyPatch
) -> None:
    caller_of(owner)("context_save", key="long", value="albatross " * 3_000)
    answers = stranger.engine.store.answers
    kept: list[Any] = []
    keep_of = Answers.keep_of

    def keep_late(self: Answers, kind: str, body: Any, entries: Collection[int]) -> str:
        caller_of(owner)(tool, **arguments)
        return keep_of(self, kind, body, entries)

    monkeypatch.setattr(Answers, "keep_of", keep_late)
    monkeypatch.setattr(answers, "put", lambda *answer: kept.append(answer))
    reply = TOOLS["reflect_on_past"].call(stranger, {"query": "albatross", "min_score": 0.1})
    assert (reply.is_error, kept) == (True, [])
    assert "Ask again." in reply.text
    assert "albatross" not in reply.text


def test_an_export_of_anothers_session_leaves_its_private_items_out(owner: Core, stranger: Core) -> None:
    exported = caller_of(stranger)("context_export", sessionId=owner.caller.session)
    text = Path(exported["filePath"]).read_text("utf-8").lower()
    assert "appleservice" in text
    assert [sign for sign in SIGNS if sign in text] == []


def test_no_example_call_of_any_tool_shows_a_private_item(
    owner: Core, stranger: Core, tmp_path: Path
) -> None:
    stranger.caller.directory = str(tmp_path)
    one, two = (stranger.through("projectmemory").memories.save(text).id for text in ("One.", "Two."))
    known = Known(one, two, owner.caller.session or "", str(tmp_path), chunked_answer(caller_of(stranger)))
    for tool, arguments in example_calls(known):
        reply = TOOLS[tool].call(stranger, arguments)
        assert not reply.is_error, (tool, reply.text)
        answer = json.dumps(reply.structured).lower()
        assert [sign for sign in SIGNS if sign in answer] == [], tool
