"""Memory Keeper's journal and tool events, through their tools."""

from __future__ import annotations

from typing import Any

import pytest

from backstory.core import Caller, Core
from backstory.domain.filters import Filter, Page
from backstory.domain.records import Memory
from backstory.store import Store

from ..conftest import Call, caller_of

requirement = pytest.mark.requirement


def kept(store: Store) -> list[Memory]:
    return store.memories.find(Filter(), Page())


@requirement("keeper-insight.journal.reply")
def test_a_journal_entry_answers_its_id_time_and_words(call: Call) -> None:
    reply = call("context_journal_entry", entry="Two  words,\nthen three more")
    assert reply == {"id": reply["id"], "createdAt": "2026-03-01T09:30:00.000Z", "wordCount": 5}


@requirement("keeper-insight.journal.parameters")
def test_a_journal_entry_keeps_its_text_tags_and_mood(call: Call, store: Store) -> None:
    id = call("context_journal_entry", entry="It works", tags=["auth", "win"], mood="excited")["id"]
    (memory,) = kept(store)
    assert (memory.id, memory.text, memory.tags) == (id, "It works", ("auth", "win"))
    assert (memory.category, memory.key, dict(memory.metadata)) == ("journal", None, {"mood": "excited"})


@requirement("keeper-insight.journal.parameters")
def test_two_journal_entries_are_two(call: Call, store: Store) -> None:
    call("context_journal_entry", entry="same")
    call("context_journal_entry", entry="same")
    assert len(kept(store)) == 2


@requirement("keeper-insight.journal.parameters")
def test_an_unknown_mood_is_refused_by_name(call: Call) -> None:
    error = call("context_journal_entry", entry="hm", mood="bored")["error"]
    assert error["code"] == "INVALID_PARAMS"
    assert error["details"]["field"] == "mood"
    assert "frustrated" in error["message"]


@requirement("keeper-insight.journal.empty")
@pytest.mark.parametrize("entry", ["", " \n "])
def test_an_empty_entry_is_refused_and_nothing_saved(call: Call, store: Store, entry: str) -> None:
    error = call("context_journal_entry", entry=entry)["error"]
    assert (error["code"], error["details"]["field"]) == ("INVALID_PARAMS", "entry")
    assert kept(store) == []


@requirement("keeper-insight.journal.found")
def test_a_journal_entry_is_found_by_search(call: Call) -> None:
    id = call("context_journal_entry", entry="The heron flew over the reactor")["id"]
    found = call("context_search", query="heron")["results"]
    assert [(each["key"], each["value"]) for each in found] == [(id, "The heron flew over the reactor")]


@requirement("keeper-items.delete")
def test_a_journal_entry_is_deleted_by_its_id_which_is_shown_as_its_key(call: Call) -> None:
    entry = call("context_journal_entry", entry="Regretted at once")["id"]
    item = call("context_save", key="k", value="kept")["id"]
    assert {shown["key"] for shown in call("context_get")["items"]} == {entry, "k"}
    assert call("context_delete", key=item)["error"]["code"] == "ITEM_NOT_FOUND"
    assert call("context_delete", key=entry) == {"success": True, "deletedCount": 1}
    assert [shown["key"] for shown in call("context_get")["items"]] == ["k"]


@requirement("keeper-insight.events.reply")
def test_an_event_answers_its_id_and_time(call: Call, store: Store) -> None:
    reply = call("context_integrate_tool", toolName="git", eventType="commit", data={"sha": "abc"})
    assert reply == {"eventId": reply["eventId"], "createdAt": "2026-03-01T09:30:00.000Z"}
    assert kept(store) == []


@requirement("keeper-insight.events.data")
@pytest.mark.parametrize("data", [{"a": [1, None]}, ["x", 2], "text", "null", 7, 1.5, False, {}, "ü"])
def test_data_is_any_json_and_kept_as_it_is(call: Call, store: Store, data: Any) -> None:
    id = call("context_integrate_tool", toolName="t", eventType="e", data=data)["eventId"]
    assert [(event.id, event.data) for event in store.sessions.events(Filter())] == [(id, data)]


@requirement("keeper-insight.events.important")
def test_an_important_event_is_an_item_too(call: Call) -> None:
    arguments = {"toolName": "ci", "eventType": "build_failed", "data": {"job": "linux", "tests": [1, 2]}}
    reply = call("context_integrate_tool", **arguments, important=True)
    (item,) = call("context_search", query="linux", includeMetadata=True)["items"]
    assert item["id"] == reply["contextItemId"]
    assert item["key"].startswith("event_ci_build_failed_")
    assert item["value"] == "ci reported build_failed.\njob: linux\ntests: [1, 2]"
    assert (item["category"], item["priority"]) == ("note", "high")
    assert [each["id"] for each in call("context_get", key=item["key"])["items"]] == [item["id"]]


@requirement("keeper-insight.events.important")
def test_two_important_events_do_not_replace_each_other(call: Call) -> None:
    for sha in ("a", "b"):
        call("context_integrate_tool", toolName="git", eventType="commit", data=sha, important=True)
    assert call("context_summarize")["stats"]["totalItems"] == 2


@requirement("keeper-insight.events.timeline")
def test_events_are_counted_and_described(call: Call) -> None:
    call("context_integrate_tool", toolName="git", eventType="commit", data={"sha": "abc", "files": 3})
    (period,) = call("context_timeline")["periods"]
    assert (period["items"]["total"], period["events"], period["activity"]) == (0, 1, 1)
    (drawn,) = call("context_visualize", type="timeline")["periods"]
    assert drawn["events"] == [
        {"time": "2026-03-01T09:30:00.000Z", "type": "commit", "description": "git: sha: abc files: 3"}
    ]
    assert (drawn["count"], drawn["categories"]) == (1, {"event": 1})


@requirement("keeper-insight.events.timeline")
def test_events_belong_to_their_session(call: Call, core: Core) -> None:
    call("context_integrate_tool", toolName="git", eventType="commit", data=1)
    other = caller_of(Core(core.engine, Caller(project="/p")))
    session = other("context_session_start", name="other")["sessionId"]
    assert len(other("context_timeline")["periods"]) == 1
    assert other("context_timeline", sessionId=session)["periods"] == []


@requirement("keeper-insight.events.errors")
@pytest.mark.parametrize("field", ["toolName", "eventType"])
def test_an_empty_name_is_refused(call: Call, store: Store, field: str) -> None:
    arguments = {"toolName": "git", "eventType": "commit", "data": 1} | {field: " "}
    error = call("context_integrate_tool", **arguments)["error"]
    assert (error["code"], error["details"]["field"]) == ("INVALID_PARAMS", field)
    assert store.sessions.events(Filter()) == []


@requirement("keeper-insight.events.errors")
def test_data_is_required(call: Call) -> None:
    error = call("context_integrate_tool", toolName="git", eventType="commit")["error"]
    assert (error["code"], error["details"]["field"]) == ("INVALID_PARAMS", "data")
