"""Memory Keeper's watchers: what is told, to whom, and for how long."""

from __future__ import annotations

from threading import Thread
from typing import Any

import pytest

from backstory.core import Caller, Core
from backstory.store import Store

from ..conftest import Call, OpenCore, OpenStore, caller_of
from ..doubles import HashedWords, SteppedClock
from ..patience import PATIENCE_S

requirement = pytest.mark.requirement


@pytest.fixture
def other(core: Core) -> Call:
    """Another connection to the same store."""
    return caller_of(core._replace(caller=Caller(project="/p")))


def create(call: Call, **arguments: Any) -> str:
    return str(call("context_watch", action="create", **arguments)["watcherId"])


def poll(call: Call, watcher: str, **arguments: Any) -> list[tuple[str, str]]:
    changes = call("context_watch", action="poll", watcherId=watcher, **arguments)["changes"]
    return [(change["type"], change["key"]) for change in changes]


def failure(answer: dict[str, Any]) -> tuple[str, str]:
    return answer["error"]["code"], answer["error"]["message"]


@requirement("keeper-more.watch")
def test_a_watcher_is_made_polled_listed_and_stopped(call: Call) -> None:
    made = call("context_watch", action="create", filters={"keys": ["a*"]})
    watcher = made["watcherId"]
    assert (watcher[:6], len(watcher)) == ("watch_", 14)
    assert (made["created"], made["filters"], made["expiresIn"]) == (True, {"keys": ["a*"]}, "30 minutes")
    call("context_save", key="a1", value="one", category="task", channel="x")
    answer = call("context_watch", action="poll", watcherId=watcher)
    assert answer["hasMore"] is False
    assert answer["lastSequence"] == answer["changes"][0]["sequence"] > made["currentSequence"]
    (change,) = answer["changes"]
    assert {name: change[name] for name in ("type", "key", "value", "category", "channel")} == {
        "type": "CREATE",
        "key": "a1",
        "value": "one",
        "category": "task",
        "channel": "x",
    }
    assert change["timestamp"].endswith("Z")
    listed = call("context_watch", action="list")
    assert (listed["total"], listed["watchers"][0]["watcherId"]) == (1, watcher)
    assert listed["watchers"][0]["active"] is True
    assert call("context_watch", action="stop", watcherId=watcher) == {"watcherId": watcher, "stopped": True}
    assert call("context_watch", action="list")["total"] == 0


@requirement("keeper-more.watch")
def test_saving_changing_and_deleting_are_told_as_what_they_are(call: Call) -> None:
    for key in ("kept", "gone", "erased"):
        call("context_save", key=key, value="before")
    watcher = create(call)
    call("context_save", key="kept", value="after")
    call("context_batch_save", items=[{"key": "new", "value": "x"}])
    call("context_batch_update", updates=[{"key": "new", "priority": "high"}])
    call("context_batch_delete", keys=["gone"])
    call("context_delete", key="erased")
    call("context_reassign_channel", keys=["kept"], toChannel="elsewhere")
    call("context_link", sourceKey="kept", targetKey="new", relationship="blocks")
    assert poll(call, watcher) == [
        ("UPDATE", "kept"),
        ("CREATE", "new"),
        ("UPDATE", "new"),
        ("DELETE", "gone"),
        ("DELETE", "erased"),
        ("UPDATE", "kept"),
        ("UPDATE", "kept"),
        ("UPDATE", "new"),
    ]
    assert poll(call, watcher) == []


@requirement("keeper-more.watch")
def test_every_filter_of_a_watcher_narrows(call: Call) -> None:
    watchers = {
        "keys": create(call, filters={"keys": ["auth_*", "[^a]x"]}),
        "categories": create(call, filters={"categories": ["decision"]}),
        "channels": create(call, filters={"channels": ["Feature/Login"]}),
        "priorities": create(call, filters={"priorities": ["critical"]}),
    }
    call("context_save", key="auth_one", value="x")
    call("context_save", key="two", value="x", category="decision")
    call("context_save", key="three", value="x", channel="feature-login")
    call("context_save", key="bx", value="x", priority="critical")
    call("context_batch_delete", keys=["two", "three"])
    told = {name: [key for _, key in poll(call, watcher)] for name, watcher in watchers.items()}
    assert told == {
        "keys": ["auth_one", "bx"],
        "categories": ["two"],
        "channels": ["three"],
        "priorities": ["bx"],
    }
    answer = call("context_watch", action="create", filters={"colours": ["red"]})
    assert failure(answer)[0] == "INVALID_PARAMS"


@requirement("keeper-more.watch")
def test_a_poll_tells_a_hundred_changes_and_the_next_the_rest(call: Call) -> None:
    watcher = create(call)
    call("context_batch_save", items=[{"key": f"k{n:03}", "value": "x"} for n in range(130)])
    first = call("context_watch", action="poll", watcherId=watcher)
    assert (len(first["changes"]), first["hasMore"]) == (100, True)
    rest = call("context_watch", action="poll", watcherId=watcher)
    assert [change["key"] for change in rest["changes"]] == [f"k{n:03}" for n in range(100, 130)]
    assert rest["hasMore"] is False


@requirement("keeper-more.watch.sessions")
@requirement("keeper-more.privacy")
def test_a_watcher_sees_public_changes_of_all_sessions_and_own_private_ones(call: Call, other: Call) -> None:
    watcher = create(call)
    other("context_save", key="theirs", value="x")
    other("context_save", key="hidden", value="x", private=True)
    call("context_save", key="own", value="x", private=True)
    other("context_batch_delete", keys=["hidden"])
    call("context_batch_delete", keys=["own"])
    assert poll(call, watcher) == [("CREATE", "theirs"), ("DELETE", "own")]


@requirement("keeper-more.watch.sessions")
@requirement("keeper-more.watch.ended")
def test_a_watcher_belongs_to_its_session(call: Call, other: Call) -> None:
    watcher = create(call)
    call("context_save", key="a", value="x")
    other("context_save", key="b", value="x")
    for action in ("poll", "stop"):
        answer = other("context_watch", action=action, watcherId=watcher)
        assert failure(answer)[0] == "WATCHER_NOT_FOUND"
    assert len(poll(call, watcher)) == 2


@requirement("keeper-more.watch.sessions")
def test_a_watcher_survives_a_restart_of_the_server(
    core: Core, call: Call, open_core: OpenCore, open_store: OpenStore, embedder: HashedWords
) -> None:
    watcher = create(call)
    call("context_save", key="a", value="x")
    again = open_core(open_store(), embedder)
    again.caller.session = core.caller.session
    assert poll(caller_of(again), watcher) == [("CREATE", "a")]


@requirement("keeper-more.watch.options")
def test_items_that_are_there_already_are_told_when_asked(call: Call) -> None:
    call("context_batch_save", items=[{"key": f"k{n:03}", "value": "x"} for n in range(120)])
    watcher = create(call, includeExisting=True, filters={"keys": ["k*"]})
    call("context_save", key="k_new", value="x")
    first = call("context_watch", action="poll", watcherId=watcher)
    assert (len(first["changes"]), first["hasMore"]) == (100, True)
    rest = poll(call, watcher)
    assert rest == [*(("CREATE", f"k{n:03}") for n in range(100, 120)), ("CREATE", "k_new")]
    assert poll(call, watcher) == []


@requirement("keeper-more.watch.options")
def test_a_watcher_can_be_narrowed_to_sessions(call: Call, other: Call) -> None:
    session = other("context_save", key="before", value="x")["sessionId"]
    watcher = create(call, sessionIds=[session])
    call("context_save", key="mine", value="x")
    other("context_save", key="theirs", value="x")
    assert poll(call, watcher) == [("CREATE", "theirs")]
    assert failure(call("context_watch", action="create", sessionIds=["nobody"]))[0] == "SESSION_NOT_FOUND"


@requirement("keeper-more.watch.options")
@requirement("keeper-more.watch.ended")
def test_a_watcher_expires_and_each_poll_renews_it(call: Call, clock: SteppedClock) -> None:
    watcher = create(call, expiresIn=60)
    for _ in range(3):
        clock.step(50)
        assert poll(call, watcher) == []
    clock.step(61)
    code, message = failure(call("context_watch", action="poll", watcherId=watcher))
    assert (code, "expired" in message) == ("WATCHER_NOT_FOUND", True)
    assert call("context_watch", action="list")["total"] == 0
    for seconds in (59, 86_401):
        answer = call("context_watch", action="create", expiresIn=seconds)
        assert failure(answer)[0] == "INVALID_PARAMS"


@requirement("keeper-more.watch.ended")
def test_a_watcher_that_is_not_there_says_why(call: Call) -> None:
    watcher = create(call)
    call("context_watch", action="stop", watcherId=watcher)
    code, message = failure(call("context_watch", action="poll", watcherId=watcher))
    assert (code, "stopped" in message) == ("WATCHER_NOT_FOUND", True)
    code, message = failure(call("context_watch", action="poll", watcherId="watch_00000000"))
    assert (code, message) == ("WATCHER_NOT_FOUND", "There is no watcher 'watch_00000000'.")
    assert failure(call("context_watch", action="poll"))[0] == "INVALID_PARAMS"


@requirement("keeper-more.watch.options")
@pytest.mark.parametrize("name", ["pollTimeout", "timeout"])
def test_a_poll_waits_for_a_first_change_when_asked(core: Core, call: Call, other: Call, name: str) -> None:
    watcher = create(call)
    saving = Thread(target=lambda: other("context_save", key="late", value="x"))
    saving.start()
    waited: dict[str, Any] = {name: min(30, PATIENCE_S)}
    assert poll(call, watcher, **waited) == [("CREATE", "late")]
    saving.join()
    assert failure(call("context_watch", action="poll", watcherId=watcher, pollTimeout=31))[0] == (
        "INVALID_PARAMS"
    )


@requirement("keeper-more.watch")
def test_nothing_is_noted_when_nobody_watches_and_notes_go_when_everybody_was_told(
    call: Call, store: Store
) -> None:
    call("context_save", key="a", value="x")
    call("context_delete", key="a")
    assert store.changes.after(0, 10) == []
    watcher = create(call)
    call("context_save", key="b", value="x")
    call("context_delete", key="b")
    assert poll(call, watcher) == [("DELETE", "b")]
    assert store.changes.after(0, 10) == []


@requirement("keeper-more.watch")
def test_what_is_forgotten_elsewhere_is_not_told(core: Core, call: Call) -> None:
    watcher = create(call)
    id = call("context_save", key="secret", value="x")["id"]
    core.through("backstory").forgetting.forget(id, for_good=True)
    assert poll(call, watcher) == []
