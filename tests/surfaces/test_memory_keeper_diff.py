"""Changes that context_diff reports since checkpoints and times."""

from __future__ import annotations

from typing import Any

import pytest

from backstory.core import Caller, Core

from ..conftest import Call, caller_of
from ..doubles import SteppedClock

requirement = pytest.mark.requirement


@pytest.fixture
def other(core: Core) -> Call:
    """Another connection to the same store."""
    return caller_of(core._replace(caller=Caller(project="/p")))


def changes(answer: dict[str, Any]) -> dict[str, list[str]]:
    """Keys, by what became of them."""
    return {
        "added": sorted(item["key"] for item in answer["added"]),
        "modified": sorted(item["key"] for item in answer["modified"]),
        "deleted": sorted(answer["deleted"]),
    }


def code(answer: dict[str, Any]) -> str:
    return str(answer["error"]["code"])


@requirement("keeper-more.diff.checkpoint")
def test_a_checkpoint_is_compared_truly_also_within_a_moment(call: Call) -> None:
    for key in ("value", "category", "priority", "channel", "metadata", "same", "erased", "gone"):
        call("context_save", key=key, value="before")
    taken = call("context_checkpoint", name="here")
    call("context_save", key="value", value="after")
    call("context_save", key="category", value="before", category="task")
    call("context_batch_update", updates=[{"key": "priority", "priority": "high"}])
    call("context_reassign_channel", keys=["channel"], toChannel="elsewhere")
    call("context_batch_update", updates=[{"key": "metadata", "metadata": {"n": 1}}])
    call("context_save", key="same", value="before")
    call("context_delete", key="erased")
    call("context_batch_delete", keys=["gone"])
    call("context_save", key="new", value="x")
    answer = call("context_diff", since="here")
    assert changes(answer) == {
        "added": ["new"],
        "modified": ["category", "channel", "metadata", "priority", "value"],
        "deleted": ["erased", "gone"],
    }
    assert (answer["summary"], answer["checkpoint"]) == ("1 added, 5 modified, 2 deleted", "here")
    assert changes(call("context_diff", since=taken["checkpointId"])) == changes(answer)
    (row,) = answer["added"]
    assert (row["value"], row["createdAt"], row["created_at"]) == ("x", row["updatedAt"], row["updated_at"])


@requirement("keeper-more.diff.checkpoint")
def test_a_restored_session_equals_its_checkpoint(call: Call) -> None:
    call("context_save", key="a", value="x")
    call("context_journal_entry", entry="It works.")
    call("context_checkpoint", name="here")
    call("context_restore_checkpoint", name="here")
    assert call("context_diff", since="here")["summary"] == "0 added, 0 modified, 0 deleted"


@requirement("keeper-more.diff.time")
def test_a_time_is_compared_by_the_history(call: Call, clock: SteppedClock) -> None:
    for key in ("changed", "back", "same", "gone", "erased"):
        call("context_save", key=key, value="before")
    clock.step(600)
    since = "2026-03-01T09:35:00Z"
    call("context_save", key="changed", value="after")
    call("context_save", key="back", value="after")
    call("context_save", key="back", value="before")
    call("context_batch_delete", keys=["gone"])
    call("context_delete", key="erased")
    call("context_save", key="new", value="x")
    answer = call("context_diff", since=since)
    # what context_delete removed is forgotten: no key of it is left
    assert changes(answer) == {"added": ["new"], "modified": ["changed"], "deleted": ["gone"]}
    assert answer["period"] == {"from": "2026-03-01T09:35:00.000Z", "to": "2026-03-01T09:40:00.000Z"}
    assert changes(call("context_diff", since="2 minutes ago")) == changes(answer)


@requirement("keeper-more.diff.time")
def test_without_a_time_it_is_one_hour(call: Call, clock: SteppedClock) -> None:
    call("context_save", key="old", value="x")
    clock.step(3_601)
    call("context_save", key="new", value="x")
    answer = call("context_diff")
    assert changes(answer)["added"] == ["new"]
    assert answer["period"]["from"] == "2026-03-01T09:30:01.000Z"


@requirement("keeper-more.diff.time")
def test_a_deleted_item_that_is_forgotten_later_is_no_longer_named(
    call: Call, core: Core, clock: SteppedClock
) -> None:
    id = call("context_save", key="gone", value="x")["id"]
    call("context_batch_delete", keys=["gone"])
    assert call("context_diff", since="1 hour ago")["deleted"] == ["gone"]
    core.forgetting.restore(id)
    assert call("context_diff", since="1 hour ago")["deleted"] == []
    core.forgetting.forget(id, for_good=True)
    assert call("context_diff", since="1 hour ago")["deleted"] == []


@requirement("keeper-more.diff.paging")
def test_each_list_is_paged_and_the_summary_counts_all(call: Call) -> None:
    call("context_batch_save", items=[{"key": f"old{n}", "value": "x"} for n in range(3)])
    call("context_checkpoint", name="here")
    call("context_batch_delete", keyPattern="old*")
    call("context_batch_save", items=[{"key": f"k{n}", "value": "x"} for n in range(5)])
    first = call("context_diff", since="here", limit=2)
    assert first["summary"] == "5 added, 0 modified, 3 deleted"
    assert (len(first["added"]), len(first["deleted"])) == (2, 2)
    assert (first["hasMore"], first["nextOffset"]) == (True, 2)
    last = call("context_diff", since="here", limit=2, offset=4)
    assert (len(last["added"]), last["deleted"], last["hasMore"]) == (1, [], False)


@requirement("keeper-more.diff.paging")
def test_a_difference_that_is_too_large_pages_by_itself(call: Call) -> None:
    items = [{"key": f"k{n}", "value": "x" * 3_000} for n in range(60)]
    call("context_batch_save", items=items)
    seen: list[str] = []
    offset: int | None = 0
    while offset is not None:
        answer = call("context_diff", offset=offset)
        seen += [item["key"] for item in answer["added"]]
        offset = answer.get("nextOffset")
    assert sorted(seen) == sorted(item["key"] for item in items)


@requirement("keeper-more.diff.paging")
def test_filters_narrow_all_three_lists(call: Call) -> None:
    for channel in ("one", "two"):
        call("context_save", key=f"gone-{channel}", value="x", channel=channel, category="note")
        call("context_save", key=f"changed-{channel}", value="x", channel=channel, category="task")
    call("context_checkpoint", name="here")
    for channel in ("one", "two"):
        call("context_batch_delete", keys=[f"gone-{channel}"])
        call("context_save", key=f"changed-{channel}", value="y", channel=channel, category="task")
        call("context_save", key=f"new-{channel}", value="y", channel=channel)
    for since in ("here", "1 hour ago"):
        one = changes(call("context_diff", since=since, channel="One"))
        assert all(key.endswith("one") for keys in one.values() for key in keys)
        assert one["deleted"] == ["gone-one"]
        notes = changes(call("context_diff", since=since, category="note"))
        assert notes == {"added": [], "modified": [], "deleted": ["gone-one", "gone-two"]}
    both = call("context_diff", since="here", channels=["one", "two"], includeValues=False)
    assert both["summary"] == "2 added, 2 modified, 2 deleted"
    assert both["modified"][0].keys() == {"key", "category"}


@requirement("keeper-more.diff.errors")
def test_a_wrong_question_is_refused_and_current_is_the_own_session(call: Call, other: Call) -> None:
    assert call("context_diff", sessionId="current")["summary"] == "0 added, 0 modified, 0 deleted"
    session = call("context_save", key="a", value="x")["sessionId"]
    assert changes(call("context_diff", sessionId="current"))["added"] == ["a"]
    assert changes(other("context_diff", sessionId=session))["added"] == ["a"]
    assert code(call("context_diff", since="soon")) == "INVALID_PARAMS"
    assert code(call("context_diff", sessionId="nobody")) == "SESSION_NOT_FOUND"


@requirement("keeper-more.privacy")
def test_a_stranger_learns_nothing_private_from_a_difference(call: Call, other: Call) -> None:
    for key in ("zebra", "zebra2"):
        session = call("context_save", key=key, value="x", private=True)["sessionId"]
    call("context_checkpoint", name="here")
    call("context_batch_delete", keys=["zebra"])
    for arguments in ({"since": "here"}, {"since": "here", "sessionId": session}, {"sessionId": session}):
        assert "zebra" not in str(other("context_diff", **arguments))
    assert call("context_diff", since="here")["deleted"] == ["zebra"]
