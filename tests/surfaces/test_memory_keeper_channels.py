"""Memory Keeper's channels: listed, counted, and left."""

from __future__ import annotations

from typing import Any

import pytest

from backstory.core import Caller, Core

from ..conftest import Call, caller_of
from ..doubles import SteppedClock

requirement = pytest.mark.requirement
DAY = 24 * 3600


@pytest.fixture
def other(core: Core) -> Call:
    """Another connection to the same store."""
    return caller_of(core._replace(caller=Caller(project="/p")))


def names(answer: dict[str, Any]) -> list[str]:
    return [channel["channel"] for channel in answer["channels"]]


def code(answer: dict[str, Any]) -> str:
    return str(answer["error"]["code"])


@requirement("keeper-more.channels")
@requirement("keeper-more.privacy")
def test_channels_are_counted_over_what_the_caller_may_see(
    call: Call, other: Call, clock: SteppedClock
) -> None:
    call("context_save", key="a", value="x", channel="api", category="task", priority="high")
    clock.step()
    call("context_save", key="b", value="x", channel="api", private=True)
    other("context_save", key="c", value="x", channel="api", private=True)
    other("context_save", key="d", value="x", channel="web")
    answer = call("context_list_channels")
    assert answer["totalChannels"] == 2
    assert answer["channels"][0] == {
        "channel": "api",
        "itemCount": 2,
        "publicCount": 1,
        "privateCount": 1,
        "sessions": 1,
        "lastActivity": "2026-03-01T09:30:01.000Z",
        "categories": {"task": 1, "uncategorized": 1},
        "priorities": {"high": 1, "normal": 1},
    }
    assert answer["text"].splitlines()[0] == "• api: 2 items (1 public, 1 private)"
    assert other("context_list_channels")["channels"][0]["privateCount"] == 1


@requirement("keeper-more.channels")
def test_channels_are_sorted_narrowed_and_paged(call: Call, other: Call, clock: SteppedClock) -> None:
    call("context_batch_save", items=[{"key": key, "value": "x", "channel": "b"} for key in "123"])
    clock.step()
    call("context_save", key="4", value="x", channel="a")
    clock.step()
    session = other("context_save", key="5", value="x", channel="c")["sessionId"]
    assert names(call("context_list_channels")) == ["a", "b", "c"]
    for sort in ("count", "item_count"):
        assert names(call("context_list_channels", sort=sort)) == ["b", "a", "c"]
    for sort in ("activity", "last_activity"):
        assert names(call("context_list_channels", sort=sort)) == ["c", "a", "b"]
    assert names(call("context_list_channels", sessionId="current")) == ["a", "b"]
    assert names(call("context_list_channels", sessionId=session)) == ["c"]
    assert names(call("context_list_channels", sessionIds=[session, "current"])) == ["a", "b", "c"]
    page = call("context_list_channels", limit=2)
    assert (names(page), page["hasMore"], page["nextOffset"]) == (["a", "b"], True, 2)
    assert names(call("context_list_channels", limit=2, offset=2)) == ["c"]
    assert code(call("context_list_channels", sort="colour")) == "INVALID_PARAMS"
    assert code(call("context_list_channels", sessionIds=["nobody"])) == "SESSION_NOT_FOUND"


@requirement("keeper-more.channels.empty")
def test_empty_channels_are_listed_when_asked(call: Call) -> None:
    call("context_session_start", name="Work", defaultChannel="planned")
    call("context_save", key="a", value="x", channel="left")
    call("context_save", key="b", value="x", channel="cleared")
    call("context_reassign_channel", fromChannel="left", toChannel="now")
    call("context_batch_delete", keys=["b"])
    assert names(call("context_list_channels")) == ["now"]
    empty = call("context_list_channels", includeEmpty=True)
    assert names(empty) == ["cleared", "left", "now", "planned"]
    assert empty["channels"][0]["lastActivity"] is None


@requirement("keeper-more.channel-stats")
@requirement("keeper-more.privacy")
def test_one_channel_is_counted_in_detail(call: Call, other: Call, clock: SteppedClock) -> None:
    call("context_save", key="old", value="Größe", channel="api", category="note")
    clock.step(10 * DAY)
    session = call("context_save", key="new", value="xx", channel="API", category="task")["sessionId"]
    call("context_save", key="new", value="yyy", channel="api", category="task")
    other("context_save", key="hidden", value="x" * 100, channel="api", private=True)
    answer = call("context_channel_stats", channel="API", includeTimeSeries=True)
    assert answer["channel"] == "api"
    assert answer["stats"] == {
        "channel": "api",
        "total_items": 2,
        "unique_sessions": 1,
        "last_activity": "2026-03-11T09:30:00.000Z",
        "first_activity": "2026-03-01T09:30:00.000Z",
        "total_size": 10,
        "avg_size": 5.0,
        "public_items": 2,
        "private_items": 0,
    }
    assert answer["categoryDistribution"] == [
        {"category": "note", "count": 1, "percentage": 50.0},
        {"category": "task", "count": 1, "percentage": 50.0},
    ]
    assert answer["priorityDistribution"] == [{"priority": "normal", "count": 2, "percentage": 100.0}]
    assert answer["topContributors"] == [
        {"session_id": session, "item_count": 2, "last_contribution": "2026-03-11T09:30:00.000Z"}
    ]
    assert answer["activityStats"] == {
        "items_last_24h": 1,
        "updates_last_24h": 1,
        "items_last_week": 1,
        "updates_last_week": 1,
    }
    assert answer["hourlyActivity"] == [{"hour": "09", "count": 2}]
    assert answer["dailyActivity"] == [
        {"date": "2026-03-01", "count": 1},
        {"date": "2026-03-11", "count": 1},
    ]
    recent = call("context_channel_stats", channel="api", timeRange={"start": "2 days ago"})
    assert recent["stats"]["total_items"] == 1
    early = call("context_channel_stats", channel="api", timeRange={"end": "2026-03-02"})
    assert early["stats"]["total_items"] == 1


@requirement("keeper-more.channel-stats")
def test_all_channels_are_compared(call: Call, other: Call) -> None:
    for caller in (call, other):
        caller("context_save", key="a", value="xx", channel="api")
        caller("context_save", key="b", value="xx", channel="web")
    call("context_save", key="c", value="xx", channel="api")
    answer = call("context_channel_stats")
    assert answer["overallStats"] == {
        "total_channels": 2,
        "total_items": 5,
        "total_sessions": 2,
        "total_size": 10,
        "avg_size_per_item": 2.0,
    }
    assert answer["channelRankings"][0] == {
        "channel": "api",
        "item_count": 3,
        "total_size": 6,
        "last_activity": "2026-03-01T09:30:00.000Z",
        "session_count": 2,
        "percentage_of_total": 60.0,
    }
    assert answer["healthMetrics"][0] == {
        "channel": "api",
        "health_score": 100,
        "days_since_activity": 0,
        "avg_items_per_session": 1.5,
    }
    assert answer["channelRelationships"] == [{"channel1": "api", "channel2": "web", "shared_sessions": 2}]
    own = call("context_channel_stats", sessionId="current")
    assert own["overallStats"]["total_items"] == 3


@requirement("keeper-more.channel-stats")
def test_a_store_without_items_has_no_nulls_and_an_unknown_channel_is_an_error(call: Call) -> None:
    for arguments in ({}, {"sessionId": "current"}):
        answer = call("context_channel_stats", **arguments)
        assert answer["overallStats"]["avg_size_per_item"] == 0
        assert answer["channelRankings"] == []
    assert code(call("context_channel_stats", channel="nobody")) == "CHANNEL_NOT_FOUND"
    assert code(call("context_channel_stats", sessionId="nobody")) == "SESSION_NOT_FOUND"
    assert code(call("context_channel_stats", timeRange={"start": "soon"})) == "INVALID_PARAMS"
    assert code(call("context_channel_stats", timeRange={"begin": "now"})) == "INVALID_PARAMS"


@requirement("keeper-more.channel-stats.insights")
def test_insights_are_told_only_where_they_hold(call: Call, clock: SteppedClock) -> None:
    call("context_save", key="one", value="x", channel="quiet")
    assert call("context_channel_stats", includeInsights=True)["insights"] == []
    call("context_save", key="urgent", value="x", channel="busy", priority="critical")
    call(
        "context_save",
        key="urgent_done",
        value="Done: x",
        channel="busy",
        priority="critical",
        category="task",
    )
    items = [{"key": f"auth_{n}", "value": "x", "channel": "auth"} for n in range(5)]
    call("context_batch_save", items=items)
    assert call("context_channel_stats", channel="auth", includeInsights=True)["insights"] == [
        "5 of 5 keys begin with auth_"
    ]
    assert call("context_channel_stats", channel="busy", includeInsights=True)["insights"] == [
        "1 critical item open."
    ]
    clock.step(8 * DAY)
    call("context_save", key="two", value="x", channel="busy")
    insights = call("context_channel_stats", includeInsights=True)["insights"]
    assert "quiet: no change for 8 days." in insights
    assert not any(sentence.startswith("busy") for sentence in insights)


@requirement("keeper-more.reassign")
def test_items_move_to_a_channel_whose_name_is_as_everywhere(call: Call, clock: SteppedClock) -> None:
    for key in ("a", "b"):
        call("context_save", key=key, value="x", channel="old")
    shown = call("context_reassign_channel", toChannel="Sprint 16!!", fromChannel="Old", dryRun=True)
    assert (shown["dryRun"], shown["itemsAffected"]) == (True, 2)
    assert names(call("context_list_channels")) == ["old"]
    answer = call("context_reassign_channel", toChannel="Sprint 16!!", keys=["a", "nobody"])
    assert answer == {
        "success": True,
        "dryRun": False,
        "itemsAffected": 1,
        "movedCount": 1,
        "itemsMoved": [{"key": "a", "oldChannel": "old", "newChannel": "sprint-16"}],
        "items": [{"key": "a", "oldChannel": "old", "newChannel": "sprint-16"}],
        "notFound": ["nobody"],
    }
    (item,) = call("context_get", channel="Sprint 16!!", includeMetadata=True)["items"]
    (item,) = call("context_get", key="a", includeMetadata=True)["items"]
    assert [former["channel"] for former in item["history"]] == ["old"]


@requirement("keeper-more.reassign")
def test_selectors_of_a_move_narrow_together(call: Call) -> None:
    call("context_save", key="auth_a", value="x", channel="one", category="task", priority="high")
    call("context_save", key="auth_b", value="x", channel="two", category="task", priority="critical")
    call("context_save", key="auth_c", value="x", channel="one", category="note", priority="low")

    def moved(**selectors: Any) -> list[str]:
        answer = call("context_reassign_channel", toChannel="to", dryRun=True, **selectors)
        return [item["key"] for item in answer["itemsMoved"]]

    assert moved(keyPattern="auth_*") == ["auth_a", "auth_b", "auth_c"]
    assert moved(keyPattern="auth_*", fromChannel="one") == ["auth_a", "auth_c"]
    assert moved(keyPattern="auth_*", category="task") == ["auth_a", "auth_b"]
    assert moved(keyPattern="auth_*", priorities=["critical", "low"]) == ["auth_b", "auth_c"]
    assert moved(keys=["auth_a", "auth_b"], fromChannel="two") == ["auth_b"]
    assert moved(fromChannel="nobody") == []


@requirement("keeper-more.reassign")
@requirement("keeper-more.privacy")
def test_a_move_touches_only_what_the_session_has_and_the_caller_may_see(call: Call, other: Call) -> None:
    session = call("context_save", key="a", value="x", channel="one")["sessionId"]
    call("context_save", key="hidden", value="x", channel="one", private=True)
    other("context_save", key="b", value="x", channel="one")
    assert other("context_reassign_channel", toChannel="to", fromChannel="one")["movedCount"] == 1
    answer = other("context_reassign_channel", toChannel="to", fromChannel="one", sessionId=session)
    assert [item["key"] for item in answer["items"]] == ["a"]
    assert call("context_get", key="hidden", includeMetadata=True)["items"][0]["channel"] == "one"


@requirement("keeper-more.reassign")
@pytest.mark.parametrize(
    "arguments",
    [
        {"toChannel": "to"},
        {"toChannel": "to", "fromChannel": "To!"},
        {"toChannel": "", "keys": ["a"]},
        {"toChannel": "!!", "keys": ["a"]},
        {"toChannel": "to", "keys": []},
    ],
)
def test_a_move_without_items_or_target_is_refused(call: Call, arguments: dict[str, Any]) -> None:
    assert code(call("context_reassign_channel", **arguments)) == "INVALID_PARAMS"
    missing = {"toChannel": "to", "keys": ["a"], "sessionId": "nobody"}
    assert code(call("context_reassign_channel", **missing)) == "SESSION_NOT_FOUND"
