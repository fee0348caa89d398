"""Memory Keeper's batches: many items in one call, all or none."""

from __future__ import annotations

from typing import Any

import pytest

from backstory.core import Caller, Core
from backstory.guests.memory_keeper.tools import surface
from backstory.tools.budget import ANSWER_BYTES, size

from ..conftest import Call, caller_of
from ..doubles import SteppedClock

requirement = pytest.mark.requirement


@pytest.fixture
def other(core: Core) -> Call:
    """Another connection to the same store."""
    return caller_of(core._replace(caller=Caller(project="/p")))


def values(call: Call) -> dict[str, str]:
    return {item["key"]: item["value"] for item in call("context_get")["items"]}


def code(answer: dict[str, Any]) -> str:
    return str(answer["error"]["code"])


@requirement("keeper-more.parameters")
@pytest.mark.parametrize(
    ("tool", "documented", "added", "required"),
    [
        ("context_status", "", "", []),
        ("context_set_project_dir", "projectDir", "", ["projectDir"]),
        ("context_batch_save", "items updateExisting", "", ["items"]),
        ("context_batch_update", "updates sessionId", "", ["updates"]),
        ("context_batch_delete", "keys keyPattern sessionId dryRun", "confirm", []),
        ("context_list_channels", "sessionId sessionIds sort includeEmpty", "limit offset", []),
        ("context_channel_stats", "channel sessionId includeTimeSeries includeInsights", "timeRange", []),
        (
            "context_reassign_channel",
            "toChannel keys keyPattern fromChannel category priorities sessionId dryRun",
            "",
            ["toChannel"],
        ),
        (
            "context_link",
            "sourceKey targetKey relationship metadata",
            "",
            ["sourceKey", "targetKey", "relationship"],
        ),
        ("context_get_related", "key relationship depth direction", "", ["key"]),
        (
            "context_watch",
            "action watcherId filters pollTimeout",
            "timeout sessionIds includeExisting expiresIn",
            ["action"],
        ),
        (
            "context_diff",
            "since sessionId category channel channels includeValues limit offset",
            "",
            [],
        ),
        (
            "context_search_all",
            "query sessions includeShared limit offset sort category channel channels priorities createdAfter "
            "createdBefore keyPattern searchIn includeMetadata",
            "",
            ["query"],
        ),
        ("context_prepare_compaction", "", "", []),
        ("context_git_commit", "message autoSave", "all", ["message"]),
    ],
)
def test_parameters_are_the_originals_and_the_pages(
    tool: str, documented: str, added: str, required: list[str]
) -> None:
    schema = surface.tools[tool].describe()["inputSchema"]
    assert set(schema["properties"]) == {*documented.split(), *added.split()}
    assert schema.get("required", []) == required


@requirement("keeper-more.batch-save")
def test_a_batch_saves_each_item_and_says_what_it_did(call: Call) -> None:
    call("context_save", key="b", value="old")
    answer = call(
        "context_batch_save",
        items=[
            {"key": "a", "value": "Größe", "category": "task", "priority": "critical", "channel": "UI work"},
            {"key": "b", "value": "new", "metadata": {"by": "team"}, "private": True},
            {"key": "a", "value": "later"},
        ],
    )
    assert (answer["operation"], answer["totalItems"], answer["succeeded"]) == ("batch_save", 3, 3)
    assert (answer["failed"], answer["skipped"], answer["errors"]) == (0, 0, [])
    assert (answer["totalSize"], answer["averageSize"]) == (7 + 3 + 5, 5)
    assert [(each["index"], each["key"], each["action"]) for each in answer["results"]] == [
        (0, "a", "created"),
        (1, "b", "updated"),
        (2, "a", "updated"),
    ]
    assert answer["results"][0]["id"] == answer["results"][2]["id"]
    assert answer["timestamp"].endswith("Z")
    (item,) = call("context_get", key="a", includeMetadata=True)["items"]
    assert (item["value"], item["category"], item["priority"]) == ("later", "task", "critical")
    assert item["channel"] == "ui-work"
    (item,) = call("context_get", key="b", includeMetadata=True)["items"]
    assert (item["metadata"], item["private"]) == ({"by": "team"}, True)


@requirement("keeper-more.batch-save.atomic")
def test_a_batch_with_a_bad_item_saves_nothing_and_names_each(call: Call) -> None:
    answer = call(
        "context_batch_save",
        items=[
            {"key": "good", "value": "x"},
            {"key": "bad", "value": " "},
            {"value": "no key"},
            {"key": "worse", "value": "x", "category": "gossip"},
            {"key": "odd", "value": "x", "colour": "red"},
            {"key": "none", "value": "x", "channel": "!!"},
        ],
    )
    assert code(answer) == "INVALID_PARAMS"
    errors = answer["error"]["details"]["errors"]
    assert [(each["index"], each["key"]) for each in errors] == [
        (1, "bad"),
        (2, ""),
        (3, "worse"),
        (4, "odd"),
        (5, "none"),
    ]
    assert all(each["error"] for each in errors)
    assert call("context_session_list")["total"] == 0
    assert values(call) == {}


@requirement("keeper-more.batch-save.atomic")
def test_a_batch_that_cannot_be_finished_leaves_nothing(
    call: Call, core: Core, monkeypatch: pytest.MonkeyPatch
) -> None:
    put = core.engine.store.memories.put
    monkeypatch.setattr(
        core.engine.store.memories,
        "put",
        lambda memories: put(memories) if memories[0].key != "c" else 1 / 0,
    )
    call("context_save", key="a", value="before")
    with pytest.raises(ZeroDivisionError):
        call("context_batch_save", items=[{"key": key, "value": "after"} for key in "abc"])
    assert values(call) == {"a": "before"}


@requirement("keeper-more.batch-save.update")
def test_updating_in_a_batch_keeps_what_is_not_given(call: Call, clock: SteppedClock) -> None:
    call(
        "context_save",
        key="task_auth",
        value="one",
        category="task",
        priority="high",
        channel="login",
        metadata={"n": 1},
        private=True,
    )
    (before,) = call("context_get", key="task_auth", includeMetadata=True)["items"]
    clock.step()
    call("context_batch_save", items=[{"key": "task_auth", "value": "two"}])
    (after,) = call("context_get", key="task_auth", includeMetadata=True)["items"]
    assert after["value"] == "two"
    assert after["updatedAt"] > before["updatedAt"]
    same = ("id", "createdAt", "category", "priority", "channel", "metadata", "private")
    assert [after[name] for name in same] == [before[name] for name in same]
    assert [former["value"] for former in after["history"]] == ["one"]


@requirement("keeper-more.batch-save.update")
def test_a_batch_goes_on_with_an_item_that_was_compressed(call: Call) -> None:
    id = call("context_save", key="old", value="one", category="decision")["id"]
    call("context_compress", olderThan="2999-01-01")
    (result,) = call("context_batch_save", items=[{"key": "old", "value": "two"}])["results"]
    assert (result["id"], result["action"]) == (id, "updated")
    (item,) = call("context_get", key="old", includeMetadata=True)["items"]
    assert (item["value"], item["category"]) == ("two", "decision")


@requirement("keeper-more.batch-save.skip")
def test_existing_keys_are_left_alone_when_asked(call: Call) -> None:
    call("context_save", key="a", value="before")
    answer = call(
        "context_batch_save",
        items=[{"key": "a", "value": "after"}, {"key": "b", "value": "new"}],
        updateExisting=False,
    )
    assert (answer["succeeded"], answer["skipped"], answer["failed"]) == (1, 1, 0)
    assert [(each["success"], each["action"]) for each in answer["results"]] == [
        (False, "skipped"),
        (True, "created"),
    ]
    assert values(call) == {"a": "before", "b": "new"}


@requirement("keeper-more.batch-save.limits")
def test_a_batch_has_between_one_and_a_thousand_items(call: Call) -> None:
    assert code(call("context_batch_save", items=[])) == "INVALID_PARAMS"
    assert code(call("context_batch_save")) == "INVALID_PARAMS"
    many = [{"key": f"k{number}", "value": "x"} for number in range(1_001)]
    assert code(call("context_batch_save", items=many)) == "INVALID_PARAMS"
    answer = call("context_batch_save", items=[{**item, "key": item["key"] * 40} for item in many[:1_000]])
    assert answer["succeeded"] == 1_000
    assert size(answer) < ANSWER_BYTES
    assert "more results" in answer["notices"][0]


@requirement("keeper-more.batch-update")
def test_a_batch_update_changes_the_named_fields_only(call: Call) -> None:
    call("context_save", key="a", value="one", category="task", priority="low", channel="x")
    call("context_save", key="b", value="two")
    answer = call(
        "context_batch_update",
        updates=[
            {"key": "a", "priority": "critical", "metadata": {"n": 1}},
            {"key": "nobody", "value": "x"},
            {"key": "b", "value": "three", "category": "note", "channel": "y", "private": True},
        ],
    )
    assert (answer["operation"], answer["totalItems"]) == ("batch_update", 3)
    assert (answer["succeeded"], answer["failed"]) == (2, 1)
    assert answer["results"][0] == {
        "index": 0,
        "key": "a",
        "updated": True,
        "fields": ["priority", "metadata"],
    }
    assert answer["errors"] == [{"index": 1, "key": "nobody", "error": "Item not found"}]
    (a,) = call("context_get", key="a", includeMetadata=True)["items"]
    assert (a["value"], a["category"], a["priority"], a["channel"]) == ("one", "task", "critical", "x")
    assert [former["priority"] for former in a["history"]] == ["low"]
    (b,) = call("context_get", key="b", includeMetadata=True)["items"]
    assert (b["value"], b["category"], b["channel"], b["private"]) == ("three", "note", "y", True)


@requirement("keeper-more.batch-update.invalid")
@pytest.mark.parametrize(
    "bad",
    [
        {"key": "a"},
        {"key": "a", "value": ""},
        {"key": "a", "priority": "urgent"},
        {"key": "a", "category": "gossip"},
        {"value": "x"},
    ],
)
def test_an_invalid_update_refuses_the_whole_call(call: Call, bad: dict[str, str]) -> None:
    call("context_save", key="a", value="one")
    call("context_save", key="b", value="two")
    answer = call("context_batch_update", updates=[{"key": "b", "value": "changed"}, bad])
    assert code(answer) == "INVALID_PARAMS"
    assert [each["index"] for each in answer["error"]["details"]["errors"]] == [1]
    assert values(call) == {"a": "one", "b": "two"}


@requirement("keeper-more.batch-update.session")
@requirement("keeper-more.privacy")
def test_a_batch_update_stays_in_its_session(call: Call, other: Call) -> None:
    session = call("context_save", key="k", value="mine")["sessionId"]
    call("context_save", key="hidden", value="mine", private=True)
    other("context_save", key="k", value="theirs")
    answer = other("context_batch_update", updates=[{"key": "k", "value": "changed"}])
    assert answer["succeeded"] == 1
    assert call("context_get", key="k", sessionId=session)["items"][0]["value"] == "mine"
    answer = other(
        "context_batch_update",
        updates=[{"key": "k", "value": "from afar"}, {"key": "hidden", "value": "seen"}],
        sessionId=session,
    )
    assert (answer["succeeded"], answer["failed"]) == (1, 1)
    assert call("context_get", key="hidden")["items"][0]["value"] == "mine"
    assert code(other("context_batch_update", updates=[{"key": "k", "value": "x"}], sessionId="nobody")) == (
        "SESSION_NOT_FOUND"
    )


@requirement("keeper-more.batch-delete")
def test_a_batch_deletes_by_keys(call: Call) -> None:
    for key in "abc":
        call("context_save", key=key, value="first")
        call("context_save", key=key, value=key)
    answer = call("context_batch_delete", keys=["a", "nobody", "b"])
    assert (answer["operation"], answer["totalRequested"], answer["totalDeleted"]) == ("batch_delete", 3, 2)
    assert (answer["keys"], answer["notFound"]) == (["a", "nobody", "b"], ["nobody"])
    assert [(each["deleted"], each["count"]) for each in answer["results"]] == [
        (True, 1),
        (False, 0),
        (True, 1),
    ]
    assert values(call) == {"c": "c"}
    call("context_save", key="a", value="again")
    (item,) = call("context_get", key="a", includeMetadata=True)["items"]
    assert "history" not in item


@requirement("keeper-more.batch-delete")
def test_a_batch_deletes_by_pattern_and_a_dry_run_only_shows(call: Call) -> None:
    for key in ("temp_a", "temp_b", "kept"):
        call("context_save", key=key, value=key, category="note", channel="x")
    shown = call("context_batch_delete", keyPattern="temp_*", dryRun=True)
    assert (shown["dryRun"], shown["pattern"], shown["totalItems"]) == (True, "temp_*", 2)
    assert shown["itemsToDelete"][0] == {
        "key": "temp_a",
        "value": "temp_a",
        "category": "note",
        "priority": "normal",
        "channel": "x",
    }
    assert len(values(call)) == 3
    answer = call("context_batch_delete", keyPattern="temp_*")
    assert (answer["pattern"], answer["totalDeleted"]) == ("temp_*", 2)
    assert answer["keys"] == ["temp_a", "temp_b"]
    assert [each["key"] for each in answer["results"]] == ["temp_a", "temp_b"]
    assert values(call) == {"kept": "kept"}


@requirement("keeper-more.batch-delete.undo")
def test_what_a_batch_deleted_can_be_brought_back_for_a_month(
    call: Call, core: Core, clock: SteppedClock
) -> None:
    id = call("context_save", key="a", value="one")["id"]
    call("context_save", key="b", value="two")
    call("context_link", sourceKey="a", targetKey="b", relationship="blocks")
    answer = call("context_batch_delete", keys=["a"])
    assert answer["restorableUntil"].startswith("2026-03-31")
    assert answer["results"][0]["id"] == id
    assert call("context_search", query="one")["results"] == []
    assert call("context_get_related", key="b")["totalRelated"] == 0
    assert [memory.id for memory in core.forgetting.restore(id)] == [id]
    assert values(call) == {"a": "one", "b": "two"}
    assert call("context_get_related", key="b")["totalRelated"] == 1


@requirement("keeper-more.batch-delete.confirm")
@pytest.mark.parametrize("pattern", ["*", "**", "?*"])
def test_a_pattern_of_everything_needs_a_dry_run_or_a_confirmation(
    call: Call, other: Call, pattern: str
) -> None:
    session = call("context_save", key="a", value="one")["sessionId"]
    refused = call("context_batch_delete", keyPattern=pattern)
    assert code(refused) == "INVALID_PARAMS"
    assert "confirm" in refused["error"]["details"]["hint"]
    assert len(values(call)) == 1
    call("context_batch_delete", keyPattern=pattern, dryRun=True)
    assert code(other("context_batch_delete", keyPattern=pattern, sessionId=session)) == "INVALID_PARAMS"
    assert call("context_batch_delete", keyPattern=pattern)["totalDeleted"] == 1
    call("context_save", key="a", value="one")
    assert (
        other("context_batch_delete", keyPattern=pattern, sessionId=session, confirm=True)["totalDeleted"]
        == 1
    )


@requirement("keeper-more.batch-delete.confirm")
@pytest.mark.parametrize(
    "arguments", [{}, {"keys": ["a"], "keyPattern": "a*"}, {"keys": []}, {"keyPattern": ""}]
)
def test_a_deletion_names_its_items_in_one_way(call: Call, arguments: dict[str, Any]) -> None:
    call("context_save", key="a", value="one")
    assert code(call("context_batch_delete", **arguments)) == "INVALID_PARAMS"
    assert code(call("context_batch_delete", keys=["a"], sessionId="nobody")) == "SESSION_NOT_FOUND"
    assert len(values(call)) == 1


@requirement("keeper-more.privacy")
def test_a_batch_deletes_nothing_of_another_session_that_is_private(call: Call, other: Call) -> None:
    session = call("context_save", key="hidden", value="mine", private=True)["sessionId"]
    shown = other("context_batch_delete", keyPattern="h*", sessionId=session, dryRun=True)
    assert shown["itemsToDelete"] == []
    assert other("context_batch_delete", keyPattern="h*", sessionId=session)["totalDeleted"] == 0
    assert other("context_batch_delete", keys=["hidden"], sessionId=session)["totalDeleted"] == 0
    assert values(call) == {"hidden": "mine"}


@requirement("keeper-more.pagination")
def test_a_page_of_items_is_described_as_the_original_does(call: Call) -> None:
    call("context_batch_save", items=[{"key": key, "value": "x"} for key in "abc"])
    assert call("context_get", limit=2)["pagination"] == {
        "total": 3,
        "returned": 2,
        "offset": 0,
        "hasMore": True,
        "nextOffset": 2,
        "truncated": True,
        "truncatedCount": 1,
    }
    assert call("context_get", offset=2)["pagination"]["nextOffset"] is None
