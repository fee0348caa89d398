"""Memory Keeper's sessions and items: every promise of those chapters, through the tools."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from backstory.core import Caller, Core, Engine
from backstory.domain.filters import Filter, Page
from backstory.guests.memory_keeper.tools import surface
from backstory.store import Store
from backstory.tools.budget import ANSWER_BYTES

from ..conftest import Call, OpenCore, OpenStore, caller_of
from ..doubles import DAWN, HashedWords, SteppedClock, make_settings

requirement = pytest.mark.requirement


@pytest.fixture
def other(core: Core) -> Call:
    """Another connection to the same store."""
    return caller_of(core._replace(caller=Caller(project="/p")))


def keys(answer: dict[str, Any]) -> list[str]:
    return [item["key"] for item in answer["items"]]


def failure(answer: dict[str, Any]) -> tuple[str, str | None]:
    """The code, and the argument it names."""
    return answer["error"]["code"], answer["error"].get("details", {}).get("field")


def save_all(call: Call, **values: str) -> None:
    for key, value in values.items():
        call("context_save", key=key, value=value)


@requirement("keeper-items.parameters")
@pytest.mark.parametrize(
    ("tool", "documented", "required"),
    [
        ("context_session_start", "name description continueFrom projectDir defaultChannel", []),
        ("context_session_list", "limit beforeDate afterDate", []),
        ("context_save", "key value category priority metadata private channel", ["key", "value"]),
        (
            "context_get",
            "key category priority priorities sessionId limit offset channel includeMetadata sort createdAfter "
            "createdBefore keyPattern categories afterDate beforeDate timeRange sortBy order groupBy",
            [],
        ),
        ("context_delete", "key sessionId", ["key"]),
        (
            "context_search",
            "query searchIn sessionId category channel channels priorities keyPattern createdAfter createdBefore "
            "relativeTime sort limit offset includeMetadata categories priority afterDate beforeDate timeRange "
            "sortBy order groupBy",
            ["query"],
        ),
        ("context_semantic_search", "query topK minSimilarity sessionId categories", ["query"]),
    ],
)
def test_parameters_are_the_documented_ones(tool: str, documented: str, required: list[str]) -> None:
    schema = surface.tools[tool].describe()["inputSchema"]
    extra = {"valueOffset"} if tool == "context_get" else set()
    assert set(schema["properties"]) == {*documented.split(), *extra}
    assert schema.get("required", []) == required


@requirement("keeper-items.start.reply")
def test_a_started_session_is_described(call: Call) -> None:
    reply = call(
        "context_session_start", name="Feature Development", description="Implementing user authentication"
    )
    assert reply == {
        "sessionId": reply["sessionId"],
        "name": "Feature Development",
        "description": "Implementing user authentication",
        "createdAt": "2026-03-01T09:30:00.000Z",
        "channel": "feature-development",
    }
    assert "description" not in call("context_session_start")


@requirement("keeper-items.start.continue")
def test_a_continued_session_has_a_parent_and_sees_no_private_items_of_it(call: Call) -> None:
    first = call("context_session_start", name="Day 1")["sessionId"]
    call("context_save", key="shown", value="public")
    call("context_save", key="hidden", value="private", private=True)
    second = call("context_session_start", name="Feature Dev Day 2", continueFrom=first)
    assert second["parentId"] == first
    assert keys(call("context_get")) == ["shown"]
    unknown = call("context_session_start", continueFrom="previous-session-id")
    assert failure(unknown)[0] == "SESSION_NOT_FOUND"


@requirement("keeper-items.start.channel", "keeper-items.start.project")
def test_the_session_gives_its_items_a_channel_and_a_project(call: Call, core: Core, tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/feature/auth\n")

    def channel(**arguments: Any) -> str:
        call("context_session_start", **arguments)
        call("context_save", key="k", value="v")
        shown: str = call("context_get", key="k", includeMetadata=True)["items"][0]["channel"]
        return shown

    assert channel(name="Named") == "named"
    assert channel(name="Named", projectDir=str(tmp_path)) == "feature-auth"
    assert core.caller.project == str(tmp_path.resolve())
    assert channel(name="Named", projectDir=str(tmp_path), defaultChannel="My Channel") == "my-channel"
    assert channel() == "general"
    call("context_session_start", projectDir=str(tmp_path / "gone"))
    assert core.caller.project == str(tmp_path.resolve())
    call("context_session_start", projectDir=str(tmp_path.parent / "gone"))
    assert core.caller.project == str((tmp_path.parent / "gone").resolve())
    assert core.caller.checkout() == str(tmp_path.resolve())


@requirement("keeper-items.list")
def test_a_session_that_another_surface_began_is_listed_and_exported_once_something_is_saved_in_it(
    call: Call, core: Core, tmp_path: Path
) -> None:
    begun = call("init", working_directory=str(tmp_path))["session_id"]
    assert call("context_session_list")["total"] == 0
    assert call("context_save", key="k", value="v", priority="high")["sessionId"] == begun
    assert [each["id"] for each in call("context_session_list")["sessions"]] == [begun]
    branch = call("context_branch_session", branchName="b")["branchId"]
    assert [each["id"] for each in call("context_session_list")["sessions"]] == [branch, begun]
    assert call("context_export", sessionIds=[begun, branch])["stats"]["items"] == 2
    core.caller.session = None
    alien = call("init", working_directory=str(tmp_path))["session_id"]
    core.caller.session = begun
    assert call("context_export", sessionId=alien)["error"]["code"] == "SESSION_NOT_FOUND"


@requirement("keeper-items.list")
def test_sessions_are_listed_newest_first_with_what_the_caller_may_see(
    call: Call, other: Call, clock: SteppedClock
) -> None:
    for day in range(12):
        first = call("context_session_start", name=f"s{day}", description="d" * day)
        clock.step(86_400)
    call("context_save", key="a", value="public")
    call("context_save", key="b", value="private", private=True)
    listed = call("context_session_list")
    assert [session["name"] for session in listed["sessions"]] == [f"s{day}" for day in range(11, 1, -1)]
    assert listed["total"] == 12
    assert listed["sessions"][0]["itemCount"] == 2
    assert other("context_session_list")["sessions"][0]["itemCount"] == 1
    newest = listed["sessions"][0]
    assert (newest["id"], newest["description"]) == (first["sessionId"], "d" * 11)
    assert (newest["createdAt"], newest["updatedAt"]) == (
        "2026-03-12T09:30:00.000Z",
        "2026-03-13T09:30:00.000Z",
    )
    assert "parentId" not in newest


@requirement("keeper-items.list.filters")
def test_sessions_are_narrowed_by_limit_and_date(call: Call, clock: SteppedClock) -> None:
    for day in range(4):
        call("context_session_start", name=f"s{day}")
        clock.step(86_400)

    def names(**arguments: Any) -> list[str]:
        return [session["name"] for session in call("context_session_list", **arguments)["sessions"]]

    assert names(limit=1) == ["s3"]
    assert names(afterDate="2026-03-03") == ["s3", "s2"]
    assert names(afterDate="2 days ago") == ["s3", "s2"]
    assert names(beforeDate="2026-03-02T09:30:00.001Z") == ["s1", "s0"]
    assert call("context_session_list", limit=1, beforeDate="2026-03-03")["total"] == 2
    assert failure(call("context_session_list", beforeDate="whenever")) == ("INVALID_PARAMS", "beforeDate")
    assert failure(call("context_session_list", limit=0)) == ("INVALID_PARAMS", "limit")


@requirement("keeper-items.list.parent")
def test_a_listed_session_names_its_parent(call: Call) -> None:
    first = call("context_session_start", name="a")["sessionId"]
    call("context_session_start", name="b", continueFrom=first)
    parents = {
        session["name"]: session.get("parentId") for session in call("context_session_list")["sessions"]
    }
    assert parents == {"a": None, "b": first}


@requirement("keeper-items.save.reply", "keeper-items.save.stores")
def test_the_documented_item_is_saved_whole(call: Call) -> None:
    session = call("context_session_start", name="s")["sessionId"]
    metadata = {"reviewedBy": "team", "approvedDate": "2024-01-15"}
    value = "Using JWT with 24h expiry and refresh tokens"
    saved = call(
        "context_save",
        key="auth_decision",
        value=value,
        category="decision",
        priority="high",
        metadata=metadata,
    )
    assert saved == {
        "id": saved["id"],
        "key": "auth_decision",
        "sessionId": session,
        "createdAt": "2026-03-01T09:30:00.000Z",
    }
    assert call("context_get", key="auth_decision")["items"] == [
        {
            "id": saved["id"],
            "key": "auth_decision",
            "value": value,
            "category": "decision",
            "priority": "high",
            "metadata": metadata,
            "source": "memory-keeper",
            "trust": "own",
            "createdAt": saved["createdAt"],
        }
    ]


@requirement("keeper-items.save.durable")
def test_a_saved_item_is_there_for_the_next_process(
    call: Call, open_store: OpenStore, open_core: OpenCore
) -> None:
    call("context_save", key="k", value="kept")
    again = caller_of(open_core(open_store(), None))
    assert [item["value"] for item in again("context_get", key="k")["items"]] == ["kept"]


@requirement("keeper-items.save.defaults")
def test_priority_is_normal_and_the_item_public_unless_said_otherwise(call: Call, other: Call) -> None:
    call("context_save", key="k", value="v")
    [item] = other("context_get", includeMetadata=True)["items"]
    assert (item["priority"], item["private"]) == ("normal", False)
    assert "category" not in item
    assert "metadata" not in item


@requirement("keeper-items.save.metadata")
@pytest.mark.parametrize(
    "metadata",
    [
        {"a": {"b": [1, None]}},
        [1, "two"],
        "text",
        '{"json": "text"}',
        "null",
        5,
        1.5,
        False,
        0,
        "",
        [],
        {},
        {"": 1},
        {"": {}},
        {"": {"": 2}},
    ],
)
def test_metadata_is_any_json_and_comes_back_as_it_was(call: Call, metadata: Any) -> None:
    call("context_save", key="k", value="v", metadata=metadata)
    assert call("context_get", key="k")["items"][0]["metadata"] == metadata
    assert call("context_search", query="v", includeMetadata=True)["items"][0]["metadata"] == metadata


@requirement("keeper-items.save.private")
def test_private_items_show_only_to_their_session_through_every_tool(call: Call, other: Call) -> None:
    session = call("context_session_start", name="mine")["sessionId"]
    call(
        "context_save",
        key="debug_notes",
        value="Local testing with mock API keys",
        category="note",
        private=True,
    )
    assert keys(call("context_get")) == ["debug_notes"]
    id = call("context_get")["items"][0]["id"]
    for arguments in (
        {},
        {"sessionId": session},
        {"key": "debug_notes"},
        {"key": id},
        {"keyPattern": "debug"},
    ):
        answer = other("context_get", **arguments)
        assert (answer["items"], answer["totalCount"]) == ([], 0)
    for arguments in ({}, {"sessionId": session}, {"sort": "key_asc"}, {"groupBy": "category"}):
        found = other("context_search", query="mock", includeMetadata=True, **arguments)
        assert (found["items"], found["totalCount"]) == ([], 0)
    assert other("context_search", query="-unrelated")["results"] == []
    assert other("context_semantic_search", query="mock API keys", sessionId="all")["results"] == []
    assert failure(other("context_delete", key="debug_notes", sessionId=session))[0] == "ITEM_NOT_FOUND"
    assert keys(call("context_get")) == ["debug_notes"]


@requirement("keeper-items.save.channel")
def test_a_given_channel_is_used_and_normalised(call: Call) -> None:
    call("context_save", key="k", value="v", channel="Feature/Auth")
    assert call("context_get", includeMetadata=True)["items"][0]["channel"] == "feature-auth"
    assert keys(call("context_get", channel="feature-auth")) == ["k"]
    assert keys(call("context_get", channel="Feature/Auth")) == ["k"]
    assert failure(call("context_save", key="k", value="v", channel="++")) == ("INVALID_PARAMS", "channel")


@requirement("keeper-items.save.again", "keeper-items.get.history")
def test_the_same_key_again_keeps_id_and_birth_and_the_former_value(call: Call, clock: SteppedClock) -> None:
    first = call("context_save", key="k", value="old", category="task", metadata={"n": 1})
    clock.step(60)
    second = call("context_save", key="k", value="new", priority="high")
    assert (second["id"], second["createdAt"]) == (first["id"], first["createdAt"])
    [item] = call("context_get", key="k", includeMetadata=True)["items"]
    assert (item["value"], item["updatedAt"]) == ("new", "2026-03-01T09:31:00.000Z")
    assert item["history"] == [
        {
            "value": "old",
            "category": "task",
            "priority": "normal",
            "channel": "general",
            "metadata": {"n": 1},
            "savedAt": first["createdAt"],
        }
    ]
    assert "history" not in call("context_get", key="k")["items"][0]


@requirement("keeper-items.save.again")
def test_another_session_has_an_item_of_its_own_under_the_same_key(call: Call, other: Call) -> None:
    assert (
        call("context_save", key="k", value="mine")["id"]
        != other("context_save", key="k", value="theirs")["id"]
    )


@requirement("keeper-items.get.history")
def test_a_value_that_was_private_stays_private_in_the_history(call: Call, other: Call) -> None:
    call("context_save", key="k", value="secret", private=True)
    call("context_save", key="k", value="public")
    assert "secret" in str(call("context_get", key="k", includeMetadata=True))
    [item] = other("context_get", key="k", includeMetadata=True)["items"]
    assert (item["value"], "history" in item) == ("public", False)


@requirement("keeper-items.save.invalid")
@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"key": "", "value": "v"}, "key"),
        ({"key": " ", "value": "v"}, "key"),
        ({"key": "k", "value": ""}, "value"),
        ({"key": "k", "value": "\n"}, "value"),
        ({"value": "v"}, "key"),
        ({"key": "k"}, "value"),
        ({"key": "k", "value": 5}, "value"),
        ({"key": "k", "value": "v", "category": "other"}, "category"),
        ({"key": "k", "value": "v", "priority": "urgent"}, "priority"),
        ({"key": "k", "value": "v", "private": "yes"}, "private"),
        ({"key": "k", "value": "v", "colour": "red"}, "colour"),
        ({"key": "k", "value": "v", "metadata": {"x": "\ud800"}}, "metadata"),
    ],
)
def test_wrong_arguments_are_named_and_nothing_is_saved(
    call: Call, store: Store, arguments: dict[str, Any], field: str
) -> None:
    assert failure(call("context_save", **arguments)) == ("INVALID_PARAMS", field)
    assert store.memories.find(Filter(), Page()) == []


@requirement("keeper-items.save.full")
def test_a_store_at_its_limit_takes_no_more(store: Store, clock: SteppedClock) -> None:
    engine = Engine(make_settings(max_store_mb=1), store, None, now=clock)
    call = caller_of(Core(engine, Caller(project="/p")))
    call("context_save", key="k", value="fits")
    call("context_save", key="large", value="words " * 200_000)
    refused = call("context_save", key="k", value="too much")
    assert refused["error"]["code"] == "STORAGE_FULL"
    assert "ompress" in str(refused)
    assert "BACKSTORY_MAX_STORE_MB" in str(refused)
    assert call("context_get", key="k")["items"][0]["value"] == "fits"
    call("context_delete", key="large")
    assert "id" in call("context_save", key="k", value="fits again")


def repeated_words(number: int) -> str:
    return f"{number} of the words " * 1_000


def words_of_its_own(number: int) -> str:
    """Return distinct words, whose index entries are larger than the text."""
    return " ".join(hashlib.sha256(f"{number}.{place}".encode()).hexdigest()[:9] for place in range(4_000))


@requirement("keeper-items.save.full")
@pytest.mark.parametrize("text", [repeated_words, words_of_its_own])
def test_a_full_store_has_room_again_after_a_compression(
    store: Store, clock: SteppedClock, text: Callable[[int], str]
) -> None:
    engine = Engine(make_settings(max_store_mb=3), store, None, now=clock)
    call = caller_of(Core(engine, Caller(project="/p")))
    number = 0
    while "error" not in call("context_save", key=f"k{number}", value=text(number)):
        number += 1
    clock.step()
    assert call("context_compress", olderThan="now")["compressed"]["items"] == number
    assert "id" in call("context_save", key="more", value="fits again")


@requirement("keeper-items.get.default")
def test_all_accessible_items_come_newest_first(call: Call, other: Call, clock: SteppedClock) -> None:
    save_all(call, a="1")
    clock.step()
    save_all(other, b="2")
    clock.step()
    save_all(call, c="3")
    answer = call("context_get")
    assert keys(answer) == ["c", "b", "a"]
    assert (answer["count"], answer["totalCount"], answer["hasMore"]) == (3, 3, False)
    assert set(answer["items"][0]) == {"id", "key", "value", "priority", "source", "trust", "createdAt"}


@requirement("keeper-items.get.own-first")
@pytest.mark.parametrize("sort", [None, "created_desc", "created_asc"])
def test_under_one_key_the_own_sessions_item_comes_first(
    call: Call, other: Call, clock: SteppedClock, sort: str | None
) -> None:
    for each, value in ((call, "mine"), (other, "theirs")):
        each("context_save", key="k", value=value)
        clock.step()
    assert [item["value"] for item in call("context_get", key="k", sort=sort)["items"]] == ["mine", "theirs"]
    assert [item["value"] for item in other("context_get", key="k", sort=sort)["items"]] == ["theirs", "mine"]


@requirement("keeper-items.get.session")
def test_a_session_id_narrows_to_that_session(call: Call, other: Call) -> None:
    save_all(call, mine="1")
    save_all(other, theirs="2")
    session = other("context_get", key="theirs", includeMetadata=True)["items"][0]["sessionId"]
    assert keys(call("context_get", sessionId=session)) == ["theirs"]
    assert failure(call("context_get", sessionId="nobody"))[0] == "SESSION_NOT_FOUND"


@pytest.fixture
def varied(call: Call, clock: SteppedClock) -> Call:
    """Five items, a day apart from each other."""
    for key, category, priority, channel, metadata in (
        ("auth_login", "task", "low", "auth", {"area": "backend", "cost": 30}),
        ("auth_token", "decision", "critical", "auth", {"area": "frontend", "cost": 200}),
        ("db_index", "task", "high", "db", {"area": "backend", "cost": "4"}),
        ("db_schema", "note", "normal", "db", {}),
        ("ui_colour", "task", "high", "ui", {"area": "frontend"}),
    ):
        call(
            "context_save",
            key=key,
            value=f"about {key}",
            category=category,
            priority=priority,
            channel=channel,
            metadata=metadata,
        )
        clock.step(86_400)
    return call


@requirement("keeper-items.get.filters", "keeper-items.get.library")
@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ({"key": "db_index"}, ["db_index"]),
        ({"key": "db_"}, []),
        ({"category": "task"}, ["ui_colour", "db_index", "auth_login"]),
        ({"categories": ["note", "decision"]}, ["db_schema", "auth_token"]),
        ({"priority": "high"}, ["ui_colour", "db_index"]),
        ({"priorities": ["high", "critical"]}, ["ui_colour", "db_index", "auth_token"]),
        ({"channel": "db"}, ["db_schema", "db_index"]),
        ({"category": "task", "priority": "high", "limit": 1}, ["ui_colour"]),
        ({"createdAfter": "2026-03-03T09:30:00Z"}, ["ui_colour", "db_schema", "db_index"]),
        ({"createdAfter": "2026-03-03T10:30:00+01:00"}, ["ui_colour", "db_schema", "db_index"]),
        ({"createdBefore": "2026-03-02"}, ["auth_login"]),
        ({"afterDate": "2026-03-04"}, ["ui_colour", "db_schema"]),
        ({"beforeDate": "yesterday"}, ["db_schema", "db_index", "auth_token", "auth_login"]),
        ({"timeRange": "-2d"}, ["ui_colour", "db_schema"]),
        ({"createdAfter": "2026-03-02", "afterDate": "2026-03-04"}, ["ui_colour", "db_schema"]),
        ({"keyPattern": "auth_.*|login_.*", "channel": "auth"}, ["auth_token", "auth_login"]),
        ({"keyPattern": "^db_(index|x)$"}, ["db_index"]),
        ({"keyPattern": "a(?i:UTH)_l"}, ["auth_login"]),
        ({"limit": 2, "offset": 1}, ["db_schema", "db_index"]),
        ({"keyPattern": "_", "limit": 2, "offset": 1}, ["db_schema", "db_index"]),
        ({"offset": 9}, []),
    ],
)
def test_every_filter_narrows(varied: Call, arguments: dict[str, Any], found: list[str]) -> None:
    assert keys(varied("context_get", **arguments)) == found


@requirement("keeper-items.get.sort", "keeper-items.get.library")
@pytest.mark.parametrize(
    ("arguments", "first"),
    [
        ({"sort": "created_asc"}, ["auth_login", "auth_token"]),
        ({"sort": "created_desc"}, ["ui_colour", "db_schema"]),
        ({"sort": "updated_asc"}, ["auth_token", "db_index"]),
        ({"sort": "updated_desc"}, ["auth_login", "ui_colour"]),
        ({"sort": "priority"}, ["auth_token", "ui_colour", "db_index", "db_schema", "auth_login"]),
        ({"sortBy": "priority", "order": "asc"}, ["auth_login", "db_schema"]),
        ({"sortBy": "key"}, ["auth_login", "auth_token"]),
        ({"sortBy": "key", "order": "desc"}, ["ui_colour", "db_schema"]),
        ({"sortBy": "created_at", "order": "asc"}, ["auth_login", "auth_token"]),
        ({"order": "asc"}, ["auth_login", "auth_token"]),
        ({"sortBy": "updated_at"}, ["auth_login", "ui_colour"]),
        ({"sortBy": "metadata.cost"}, ["db_index", "auth_login", "auth_token", "ui_colour", "db_schema"]),
        ({"sortBy": "metadata.cost", "order": "desc"}, ["auth_token", "auth_login", "db_index", "ui_colour"]),
    ],
)
def test_every_order_is_kept(varied: Call, arguments: dict[str, Any], first: list[str]) -> None:
    varied(
        "context_save",
        key="auth_login",
        value="changed",
        category="task",
        priority="low",
        channel="auth",
        metadata={"area": "backend", "cost": 30},
    )
    assert keys(varied("context_get", **arguments))[: len(first)] == first


@requirement("keeper-items.get.group")
def test_items_are_counted_in_groups(varied: Call) -> None:
    assert varied("context_get", groupBy="metadata.area", limit=1)["groups"] == [
        {"value": "backend", "count": 2, "keys": ["db_index", "auth_login"]},
        {"value": "frontend", "count": 2, "keys": ["ui_colour", "auth_token"]},
        {"value": None, "count": 1, "keys": ["db_schema"]},
    ]
    answer = varied("context_get", groupBy="category", limit=2, offset=1)
    assert [(group["value"], group["count"]) for group in answer["groups"]] == [
        ("task", 3),
        ("decision", 1),
        ("note", 1),
    ]
    assert keys(answer) == ["db_schema", "db_index"]


@requirement("keeper-items.get.metadata")
def test_metadata_adds_times_size_channel_and_session(call: Call) -> None:
    saved = call("context_save", key="k", value="größe")
    [item] = call("context_get", includeMetadata=True)["items"]
    assert item == {
        "id": saved["id"],
        "key": "k",
        "value": "größe",
        "priority": "normal",
        "createdAt": saved["createdAt"],
        "updatedAt": saved["createdAt"],
        "size": 7,
        "channel": "general",
        "sessionId": saved["sessionId"],
        "private": False,
        "source": "memory-keeper",
        "trust": "own",
    }


@requirement("keeper-items.get.invalid", "keeper-items.times")
@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"keyPattern": "auth_("}, "keyPattern"),
        ({"keyPattern": "(?=x)"}, "keyPattern"),
        ({"createdAfter": "soon"}, "createdAfter"),
        ({"createdBefore": ""}, "createdBefore"),
        ({"afterDate": "2024-99-99"}, "afterDate"),
        ({"beforeDate": "x"}, "beforeDate"),
        ({"timeRange": "7x"}, "timeRange"),
        ({"sort": "alphabetical"}, "sort"),
        ({"sortBy": "colour"}, "sortBy"),
        ({"sortBy": "key", "sort": "priority"}, "sortBy"),
        ({"order": "up"}, "order"),
        ({"groupBy": "colour"}, "groupBy"),
        ({"limit": 0}, "limit"),
        ({"offset": -1}, "offset"),
        ({"priorities": ["urgent"]}, "priorities"),
        ({"priority": "urgent"}, "priority"),
        ({"valueOffset": 3}, "valueOffset"),
    ],
)
def test_wrong_filters_are_errors_never_no_filter(call: Call, arguments: dict[str, Any], field: str) -> None:
    save_all(call, k="v")
    assert failure(call("context_get", **arguments)) == ("INVALID_PARAMS", field)


@requirement("keeper-items.get.pattern")
def test_a_pattern_that_would_backtrack_for_ever_answers_at_once(call: Call) -> None:
    call("context_save", key="a" * 5_000 + "!", value="v")
    assert call("context_get", keyPattern="^(a+)+$")["count"] == 0
    assert call("context_get", keyPattern="^(a|aa)+!$")["count"] == 1


@requirement("keeper-items.budget")
def test_a_listing_over_the_budget_pages_and_the_pages_are_the_whole(call: Call) -> None:
    for number in range(10):
        call("context_save", key=f"k{number}", value=f"{number}" * (ANSWER_BYTES // 4))
    seen: list[str] = []
    offset = 0
    while True:
        answer = call("context_get", offset=offset, sort="key_asc")
        seen += keys(answer)
        assert answer["totalCount"] == 10
        assert len(str(answer["items"]).encode()) <= ANSWER_BYTES * 1.1
        if not answer["hasMore"]:
            break
        offset = answer["nextOffset"]
    assert seen == [f"k{number}" for number in range(10)]


@requirement("keeper-items.budget")
def test_a_value_too_large_for_an_answer_is_cut_marked_and_can_be_read_whole(call: Call) -> None:
    whole = "".join(f'{number} "ü"\n' for number in range(40_000))
    saved = call("context_save", key="large", value=whole)
    [found] = call("context_search", query="39999")["results"]
    [item] = call("context_get")["items"]
    assert found["truncated"]["size"] == item["truncated"]["size"] == len(whole)
    assert saved["id"] in item["truncated"]["readOn"]
    read = item["value"]
    while (mark := item["truncated"])["end"] < mark["size"]:
        [item] = call("context_get", key=saved["id"], valueOffset=mark["end"])["items"]
        assert item["truncated"]["start"] == len(read)
        read += item["value"]
    assert read == whole


@requirement("keeper-items.archive")
def test_archived_values_are_found_by_key_marked_and_go_with_a_delete(
    call: Call, clock: SteppedClock
) -> None:
    call("context_save", key="old", value="first words", category="task")
    call("context_save", key="old", value="archived words", category="task")
    clock.step(86_400)
    call("context_compress", olderThan="1 hour ago")
    assert call("context_get")["items"] == []
    [item] = call("context_get", key="old", includeMetadata=True)["items"]
    assert (item["value"], item["archived"]) == ("archived words", True)
    assert [former["value"] for former in item["history"]] == ["first words"]
    assert call("context_get", key="old", category="note")["items"] == []
    call("context_save", key="old", value="anew")
    [item] = call("context_get", key="old", includeMetadata=True)["items"]
    assert (item["value"], "archived" in item) == ("anew", False)
    assert [former["value"] for former in item["history"]] == ["first words", "archived words"]
    clock.step(86_400)
    call("context_compress", olderThan="1 hour ago")
    assert call("context_delete", key="old") == {"success": True, "deletedCount": 1}
    assert call("context_get", key="old", includeMetadata=True)["items"] == []


@requirement("keeper-items.delete")
def test_deleting_removes_the_item_and_its_history(call: Call) -> None:
    save_all(call, k="old", kept="kept")
    save_all(call, k="new")
    assert call("context_delete", key="k") == {"success": True, "deletedCount": 1}
    assert keys(call("context_get")) == ["kept"]
    assert call("context_search", query="old OR new")["results"] == []
    save_all(call, k="again")
    assert "history" not in call("context_get", key="k", includeMetadata=True)["items"][0]


@requirement("keeper-items.delete.session")
def test_deleting_acts_on_one_session(call: Call, other: Call) -> None:
    save_all(call, k="mine")
    session = other("context_save", key="k", value="theirs")["sessionId"]
    assert call("context_delete", key="k")["deletedCount"] == 1
    assert [item["value"] for item in call("context_get", key="k")["items"]] == ["theirs"]
    assert call("context_delete", key="k", sessionId=session)["deletedCount"] == 1
    assert failure(call("context_delete", key="k", sessionId="nobody"))[0] == "SESSION_NOT_FOUND"


@requirement("keeper-items.delete.missing")
def test_deleting_what_is_not_there_is_an_error_and_starts_no_session(call: Call) -> None:
    assert failure(call("context_delete", key="k"))[0] == "ITEM_NOT_FOUND"
    assert call("context_session_list")["total"] == 0


@requirement("keeper-items.delete.missing")
@pytest.mark.parametrize("key", ["", "  "])
def test_a_deletion_names_its_key(call: Call, key: str) -> None:
    save_all(call, k="1")
    assert failure(call("context_delete", key=key)) == ("INVALID_PARAMS", "key")


@requirement("keeper-items.delete")
def test_other_surfaces_are_not_listed_nor_deleted(call: Call, core: Core) -> None:
    id = call("save_context", context_text="from elsewhere")["id"]
    assert call("context_get")["items"] == []
    assert failure(call("context_delete", key=id))[0] == "ITEM_NOT_FOUND"
    assert [item["value"] for item in call("context_get", key=id)["items"]] == ["from elsewhere"]


@requirement("keeper-items.strings-are-data")
@pytest.mark.parametrize(
    "text", ["null", "123", "[1]", '{"a": 1}', "true", " padded ", "'; DROP TABLE entry; --"]
)
def test_strings_stay_the_strings_they_are(call: Call, text: str) -> None:
    call("context_save", key=text, value=text, metadata=text)
    [item] = call("context_get", key=text)["items"]
    assert (item["key"], item["value"], item["metadata"]) == (text, text, text)


@requirement("keeper-items.times")
def test_times_on_the_wire_are_utc_with_milliseconds(call: Call) -> None:
    assert call("context_save", key="k", value="v")["createdAt"] == f"{DAWN:%Y-%m-%dT%H:%M:%S}.000Z"


@requirement("keeper-items.save.stores")
def test_without_embeddings_saving_and_getting_work_the_same(
    store: Store, open_core: OpenCore, embedder: HashedWords
) -> None:
    call = caller_of(open_core(store, None))
    save_all(call, k="v")
    assert keys(call("context_get")) == ["k"]
    assert embedder.embedded == []


@requirement("keeper-items.schemas")
def test_answers_are_what_the_output_schemas_say(core: Core) -> None:
    def check(tool: str, **arguments: Any) -> None:
        reply = surface.tools[tool].call(core, arguments)
        assert not reply.is_error, reply.text
        Draft202012Validator(surface.tools[tool].describe()["outputSchema"]).validate(reply.structured)

    check("context_session_start", name="s", description="d")
    check("context_session_start", continueFrom=core.caller.session)
    check("context_session_list")
    for metadata in ({"area": "x"}, [1], "text", 5, False):
        check("context_save", key="k", value="v", category="task", metadata=metadata)
    check("context_save", key="large", value="long words " * 20_000)
    check("context_get", key="k", includeMetadata=True)
    for arguments in ({"limit": 1}, {"includeMetadata": True}, {"groupBy": "metadata.area"}):
        check("context_get", **arguments)
        check("context_search", query="v OR words", **arguments)
    check("context_semantic_search", query="long words")
    check("context_delete", key="k")
