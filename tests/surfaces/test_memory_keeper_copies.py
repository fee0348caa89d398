"""Memory Keeper's copies: checkpoints, branches, merges and the archive."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from backstory.core import Caller, Core, Engine
from backstory.domain.filters import Filter, Page
from backstory.domain.records import Memory
from backstory.store import Store
from backstory.surfaces import load_surfaces

from ..conftest import Call, OpenCore, caller_of
from ..doubles import HashedWords, SteppedClock, make_settings

requirement = pytest.mark.requirement
Reply = dict[str, Any]


@pytest.fixture
def stranger(open_core: OpenCore, store: Store) -> Call:
    """Another connection to the same store."""
    return caller_of(open_core(store, HashedWords()))


def items(store: Store, session: str) -> dict[str | None, Memory]:
    """Return the items of a session, private or not."""
    return {memory.key: memory for memory in store.memories.find(Filter(threads=(session,)), Page())}


def values(store: Store, session: str) -> dict[str | None, str]:
    return {key: memory.text for key, memory in items(store, session).items()}


def history(store: Store, memory: Memory) -> list[str]:
    return [former.text for former in store.memories.former(memory.id)]


def code(reply: Reply) -> str:
    found: str = reply["error"]["code"]
    return found


def save_three(call: Call) -> str:
    """Three items in the current session, one of them private; the session's id."""
    call(
        "context_save", key="a", value="one", category="task", priority="high", metadata={"n": 1}, channel="x"
    )
    call("context_save", key="b", value="two", private=True, category="note")
    session: str = call("context_save", key="c", value="three")["sessionId"]
    return session


@requirement("keeper-copies.parameters")
@pytest.mark.parametrize(
    ("tool", "types", "required"),
    [
        (
            "context_checkpoint",
            {
                "name": "string",
                "description": "string",
                "includeFiles": "boolean",
                "includeGitStatus": "boolean",
            },
            ["name"],
        ),
        (
            "context_restore_checkpoint",
            {"name": "string", "checkpointId": "string", "restoreFiles": "boolean", "merge": "boolean"},
            [],
        ),
        (
            "context_branch_session",
            {"branchName": "string", "copyDepth": "string", "description": "string"},
            ["branchName"],
        ),
        (
            "context_merge_sessions",
            {"sourceSessionId": "string", "conflictResolution": "string", "categories": "array"},
            ["sourceSessionId", "conflictResolution"],
        ),
        (
            "context_compress",
            {
                "olderThan": "string",
                "preserveCategories": "array",
                "targetSize": "number",
                "sessionId": "string",
            },
            ["olderThan"],
        ),
    ],
)
def test_parameters_are_the_documented_ones(tool: str, types: dict[str, str], required: list[str]) -> None:
    schema = load_surfaces(["memory-keeper"])["memory-keeper"].tools[tool].describe()["inputSchema"]
    assert {name: each["type"] for name, each in schema["properties"].items()} == types
    assert schema.get("required", []) == required


@requirement("keeper-copies.parameters")
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("context_checkpoint", {}),
        ("context_checkpoint", {"name": " "}),
        ("context_branch_session", {}),
        ("context_branch_session", {"branchName": ""}),
        ("context_branch_session", {"branchName": "b", "copyDepth": "deeper"}),
        ("context_merge_sessions", {"conflictResolution": "keep_newest"}),
        ("context_merge_sessions", {"sourceSessionId": "s"}),
        ("context_merge_sessions", {"sourceSessionId": "s", "conflictResolution": "keep_all"}),
        ("context_compress", {}),
        ("context_compress", {"olderThan": "once upon a time"}),
        ("context_compress", {"olderThan": "now", "targetSize": -1}),
    ],
)
def test_wrong_arguments_are_invalid_params(call: Call, tool: str, arguments: Reply) -> None:
    assert code(call(tool, **arguments)) == "INVALID_PARAMS"


@requirement("keeper-copies.checkpoint.reply")
def test_a_checkpoint_answers_with_what_it_holds(call: Call) -> None:
    save_three(call)
    reply = call("context_checkpoint", name="before", description="all well")
    assert isinstance(reply.pop("checkpointId"), str)
    assert reply == {
        "name": "before",
        "itemCount": 3,
        "fileCount": 0,
        "createdAt": "2026-03-01T09:30:00.000Z",
    }


@requirement("keeper-copies.checkpoint.session")
def test_a_checkpoint_is_of_the_current_session_only(call: Call, stranger: Call) -> None:
    save_three(call)
    assert stranger("context_checkpoint", name="empty")["itemCount"] == 0


@requirement("keeper-copies.checkpoint.files")
def test_files_are_included_on_demand(call: Call, store: Store) -> None:
    call("context_cache_file", filePath="a", content="one", metadata={"m": 1})
    assert call("context_checkpoint", name="without")["fileCount"] == 0
    assert call("context_checkpoint", name="with", includeFiles=True)["fileCount"] == 1
    call("context_cache_file", filePath="a", content="two")
    call("context_compress", olderThan="now")

    plain = call("context_restore_checkpoint", name="with")
    assert (plain["restoredFiles"], store.files.find(plain["sessionId"])) == (0, [])
    none = call("context_restore_checkpoint", name="without", restoreFiles=True)
    assert none["restoredFiles"] == 0
    restored = call("context_restore_checkpoint", name="with", restoreFiles=True)
    assert restored["restoredFiles"] == 1
    (file,) = store.files.find(restored["sessionId"])
    assert (file.path, file.metadata) == ("/p/a", {"m": 1})
    assert store.files.read_blobs([file.hash]) == {file.hash: b"one"}
    assert call("context_file_changed", filePath="a", currentContent="one")["changed"] is False


@requirement("keeper-copies.checkpoint.files")
def test_restored_files_replace_those_of_the_session_they_are_merged_into(call: Call) -> None:
    call("context_cache_file", filePath="a", content="one")
    call("context_checkpoint", name="with", includeFiles=True)
    call("context_cache_file", filePath="a", content="two")
    assert call("context_restore_checkpoint", restoreFiles=True, merge=True)["restoredFiles"] == 1
    assert call("context_file_changed", filePath="a", currentContent="one")["changed"] is False


@requirement("keeper-copies.checkpoint.git")
@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_git_branch_and_status_are_included_on_demand(call: Call, core: Core, tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", "-b", "feature/login", str(tmp_path / "repo")], check=True)
    (tmp_path / "repo" / "new.py").write_text("")
    core.caller.directory = str(tmp_path / "repo")
    assert "gitStatus" not in call("context_checkpoint", name="plain")
    reply = call("context_checkpoint", name="git", includeGitStatus=True)
    assert (reply["gitBranch"], reply["gitStatus"]) == ("feature/login", "?? new.py")


@requirement("keeper-copies.checkpoint.git")
@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_a_long_git_status_is_cut_and_says_so(call: Call, core: Core, store: Store, tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    for number in range(300):
        (tmp_path / f"{number:03}.py").write_text("")
    core.caller.directory = str(tmp_path)
    lines = call("context_checkpoint", name="git", includeGitStatus=True)["gitStatus"].split("\n")
    (checkpoint,) = store.checkpoints.find("memory-keeper")
    whole = (checkpoint.git_status or "").split("\n")
    assert len(whole) >= 300
    assert lines[:-1] == whole[:200]
    assert f"{len(whole) - 200} of {len(whole)} lines more" in lines[-1]


@requirement("keeper-copies.checkpoint.git")
def test_without_a_repository_there_is_no_git_status(call: Call, core: Core, tmp_path: Path) -> None:
    core.caller.directory = str(tmp_path / "nowhere")
    reply = call("context_checkpoint", name="plain", includeGitStatus=True)
    assert "gitStatus" not in reply
    assert "gitBranch" not in reply


@requirement("keeper-copies.checkpoint.true-copy")
def test_edits_deletions_and_compressions_do_not_touch_a_checkpoint(
    call: Call, store: Store, clock: SteppedClock
) -> None:
    session = save_three(call)
    before = items(store, session)
    call("context_checkpoint", name="before")
    clock.step()
    call("context_save", key="a", value="changed", category="error")
    store.memories.delete(Filter(keys=("b",)))
    clock.step()
    call("context_compress", olderThan="now")
    assert items(store, session) == {}

    reply = call("context_restore_checkpoint", name="before")
    assert reply["restoredItems"] == 3
    restored = items(store, reply["sessionId"])
    for key, memory in before.items():
        same = restored[key]._replace(id=memory.id, session=memory.session)
        assert same == memory


@requirement("keeper-copies.checkpoint.cheap")
def test_a_second_checkpoint_of_an_unchanged_session_copies_nothing(call: Call, store: Store) -> None:
    save_three(call)
    call("context_checkpoint", name="one")
    call("context_checkpoint", name="two")
    first, second = store.checkpoints.find("memory-keeper")
    assert first.root == second.root


@requirement("keeper-copies.restore.new-session")
def test_restoring_makes_a_new_session_the_current_one(call: Call, store: Store) -> None:
    origin = save_three(call)
    id = call("context_checkpoint", name="before", description="all well")["checkpointId"]
    reply = call("context_restore_checkpoint", name="before")
    assert reply == {
        "restoredItems": 3,
        "restoredFiles": 0,
        "sessionId": reply["sessionId"],
        "checkpoint": {
            "id": id,
            "name": "before",
            "createdAt": "2026-03-01T09:30:00.000Z",
            "description": "all well",
        },
    }
    session = store.sessions.get(reply["sessionId"])
    assert session is not None
    assert (session.name, session.parent) == ("Restored: before", origin)
    assert reply["sessionId"] != origin
    assert call("context_save", key="d", value="four")["sessionId"] == reply["sessionId"]
    assert values(store, origin) == {"a": "one", "b": "two", "c": "three"}


@requirement("keeper-copies.restore.which")
def test_the_latest_is_restored_unless_a_name_or_id_says_which(call: Call) -> None:
    ids = [call("context_checkpoint", name=name)["checkpointId"] for name in ("one", "two", "one", "three")]

    def restored(**which: str) -> str:
        id: str = call("context_restore_checkpoint", **which)["checkpoint"]["id"]
        return id

    assert restored() == ids[3]
    assert restored(name="one") == ids[2]
    assert restored(name="two") == ids[1]
    assert restored(checkpointId=ids[0]) == ids[0]
    assert restored(checkpointId=ids[0], name="one") == ids[0]


@requirement("keeper-copies.restore.which")
def test_the_callers_own_project_goes_before_others(call: Call, open_core: OpenCore, store: Store) -> None:
    mine = call("context_checkpoint", name="same")["checkpointId"]
    elsewhere = open_core(store, HashedWords())
    elsewhere.caller.project = "/elsewhere"
    theirs = caller_of(elsewhere)("context_checkpoint", name="same")["checkpointId"]
    assert call("context_restore_checkpoint", name="same")["checkpoint"]["id"] == mine
    assert caller_of(elsewhere)("context_restore_checkpoint")["checkpoint"]["id"] == theirs


@requirement("keeper-copies.restore.unknown")
@pytest.mark.parametrize(
    "which", [{}, {"name": "no"}, {"checkpointId": "no"}, {"name": "no", "checkpointId": "x"}]
)
def test_an_unknown_checkpoint_is_item_not_found(call: Call, which: dict[str, str]) -> None:
    assert code(call("context_restore_checkpoint", **which)) == "ITEM_NOT_FOUND"


@requirement("keeper-copies.restore.unknown")
@pytest.mark.parametrize("which", ["name", "checkpointId"])
def test_an_empty_name_is_not_the_latest_checkpoint(call: Call, which: str) -> None:
    call("context_checkpoint", name="there")
    assert (
        call("context_restore_checkpoint", **{which: ""})["error"]["message"] == "There is no checkpoint ''."
    )


@requirement("keeper-copies.restore.merge")
def test_a_merged_checkpoint_wins_and_the_present_values_become_history(
    call: Call, store: Store, clock: SteppedClock
) -> None:
    session = save_three(call)
    before = items(store, session)["a"]
    call("context_checkpoint", name="before")
    clock.step()
    call("context_save", key="a", value="later", category="error")
    call("context_save", key="d", value="stays")
    reply = call("context_restore_checkpoint", name="before", merge=True)
    assert (reply["sessionId"], reply["restoredItems"]) == (session, 3)
    assert values(store, session) == {"a": "one", "b": "two", "c": "three", "d": "stays"}
    restored = items(store, session)["a"]
    assert (restored.id, restored.created_at, restored.category) == (before.id, before.created_at, "task")
    assert history(store, restored) == ["one", "later"]
    assert items(store, session)["b"].private
    assert history(store, items(store, session)["c"]) == []


@requirement("keeper-copies.restore.private")
@pytest.mark.parametrize("merge", [False, True])
def test_a_stranger_gets_the_public_items_and_a_count_of_the_rest(
    call: Call, stranger: Call, store: Store, merge: bool
) -> None:
    save_three(call)
    call("context_checkpoint", name="before")
    for _ in range(2):  # restoring does not make a stranger a relative
        reply = stranger("context_restore_checkpoint", name="before", merge=merge)
        assert (reply["restoredItems"], reply["withheldPrivateItems"]) == (2, 1)
        assert values(store, reply["sessionId"]) == {"a": "one", "c": "three"}


@requirement("keeper-copies.restore.private")
def test_private_items_come_back_as_private_to_descendants(call: Call, stranger: Call, store: Store) -> None:
    origin = save_three(call)
    call("context_checkpoint", name="before")
    call("context_branch_session", branchName="branch")
    stranger("context_session_start", name="continued", continueFrom=origin)
    for relative in (call, stranger):
        reply = relative("context_restore_checkpoint", name="before")
        assert "withheldPrivateItems" not in reply
        assert items(store, reply["sessionId"])["b"].private
        assert not items(store, reply["sessionId"])["a"].private


@requirement("keeper-copies.branch.shallow")
def test_a_shallow_branch_takes_critical_and_high_items(call: Call, store: Store) -> None:
    for priority in ("critical", "high", "normal", "low"):
        origin = call("context_save", key=priority, value=priority, priority=priority)["sessionId"]
    call("context_cache_file", filePath="a", content="one")
    reply = call("context_branch_session", branchName="try", description="an idea")
    assert reply == {
        "branchId": reply["branchId"],
        "parentId": origin,
        "copiedItems": 2,
        "copiedFiles": 0,
    }
    assert sorted(values(store, reply["branchId"]).values()) == ["critical", "high"]
    assert len(items(store, origin)) == 4
    branch = store.sessions.get(reply["branchId"])
    assert branch is not None
    assert (branch.name, branch.description, branch.parent) == ("try", "an idea", origin)
    assert call("context_branch_session", branchName="same", copyDepth="shallow")["copiedItems"] == 2


@requirement("keeper-copies.branch.deep")
def test_a_deep_branch_takes_everything_with_the_files(call: Call, store: Store) -> None:
    origin = save_three(call)
    call("context_cache_file", filePath="a", content="one")
    reply = call("context_branch_session", branchName="try", copyDepth="deep")
    assert (reply["copiedItems"], reply["copiedFiles"]) == (3, 1)
    for key, memory in items(store, origin).items():
        copy = items(store, reply["branchId"])[key]
        assert copy.id != memory.id
        assert copy._replace(id=memory.id, session=origin) == memory
    assert [file.path for file in store.files.find(reply["branchId"])] == ["/p/a"]


@requirement("keeper-copies.branch.current")
def test_the_branch_becomes_current_and_its_parent_stays_as_it_is(call: Call, store: Store) -> None:
    origin = save_three(call)
    branch = call("context_branch_session", branchName="try", copyDepth="deep")["branchId"]
    assert call("context_save", key="a", value="other")["sessionId"] == branch
    assert values(store, origin)["a"] == "one"
    assert values(store, branch)["a"] == "other"


@requirement("keeper-copies.branch.private")
def test_private_items_stay_private_in_a_branch(call: Call, stranger: Call, store: Store) -> None:
    save_three(call)
    branch = call("context_branch_session", branchName="try", copyDepth="deep")["branchId"]
    assert items(store, branch)["b"].private
    stranger("context_session_start", name="elsewhere")
    reply = stranger("context_merge_sessions", sourceSessionId=branch, conflictResolution="keep_source")
    assert reply["merged"] == 2


@requirement("keeper-copies.merge.resolution")
@pytest.mark.parametrize(
    ("resolution", "newer", "older", "won"),
    [
        ("keep_current", "current", "current", {"keep_current": 2, "keep_source": 0}),
        ("keep_source", "source", "source", {"keep_current": 0, "keep_source": 2}),
        ("keep_newest", "current", "source", {"keep_current": 1, "keep_source": 1}),
    ],
)
def test_conflicts_are_resolved_as_asked(
    call: Call,
    stranger: Call,
    store: Store,
    clock: SteppedClock,
    resolution: str,
    newer: str,
    older: str,
    won: dict[str, int],
) -> None:
    source = stranger("context_session_start", name="source")["sessionId"]
    stranger("context_save", key="newer", value="source", category="note")
    stranger("context_save", key="only", value="source", category="task")
    stranger("context_save", key="same", value="both")  # in the channel of its session
    stranger("context_save", key="hidden", value="private", private=True)
    clock.step()
    target = call("context_session_start", name="target")["sessionId"]
    for key in ("older", "newer"):
        call("context_save", key=key, value="current", category="note")
    call("context_save", key="same", value="both")
    clock.step()
    stranger("context_save", key="older", value="source", category="note")
    before = items(store, source)

    reply = call("context_merge_sessions", sourceSessionId=source, conflictResolution=resolution)
    replaced = won["keep_source"]
    assert reply == {
        "merged": 1 + replaced,
        "conflicts": 2,
        "skipped": 1 + won["keep_current"],
        "stats": {
            "byCategory": {"task": 1} | ({"note": replaced} if replaced else {}),
            "byResolution": won,
        },
    }
    assert values(store, target) == {"newer": newer, "older": older, "only": "source", "same": "both"}
    assert items(store, source) == before


@requirement("keeper-copies.merge.resolution", "keeper-copies.restore.merge")
def test_a_session_that_another_surface_began_keeps_one_item_for_each_key(
    call: Call, core: Core, stranger: Call, store: Store
) -> None:
    source = stranger("context_save", key="k", value="theirs")["sessionId"]
    stranger("context_checkpoint", name="theirs")
    path = stranger("context_export")["filePath"]
    session = core.through("session-mgmt").sessions.start("begun elsewhere").id
    assert call("context_save", key="k", value="mine")["sessionId"] == session
    merged = call("context_merge_sessions", sourceSessionId=source, conflictResolution="keep_current")
    assert (merged["merged"], merged["conflicts"]) == (0, 1)
    call("context_restore_checkpoint", name="theirs", merge=True)
    assert call("context_import", filePath=path, merge=True)["skipped"] == 1
    [memory] = store.memories.find(Filter(threads=(session,)), Page())
    assert (memory.text, history(store, memory)) == ("theirs", ["mine"])


@requirement("keeper-copies.merge.history")
def test_a_replaced_value_stays_in_the_history(call: Call, stranger: Call, store: Store) -> None:
    source = stranger("context_save", key="k", value="theirs")["sessionId"]
    saved = call("context_save", key="k", value="mine")
    call("context_merge_sessions", sourceSessionId=source, conflictResolution="keep_source")
    merged = items(store, saved["sessionId"])["k"]
    assert (merged.id, merged.text) == (saved["id"], "theirs")
    assert history(store, merged) == ["mine"]


@requirement("keeper-copies.merge.categories")
def test_only_the_named_categories_are_merged(call: Call, stranger: Call, store: Store) -> None:
    source = save_three(stranger)
    target = call("context_session_start", name="target")["sessionId"]
    reply = call(
        "context_merge_sessions",
        sourceSessionId=source,
        conflictResolution="keep_current",
        categories=["task", "note"],
    )
    assert reply["stats"]["byCategory"] == {"task": 1}
    assert values(store, target) == {"a": "one"}


@requirement("keeper-copies.merge.private")
def test_private_items_never_come_over_not_even_to_a_descendant(call: Call, store: Store) -> None:
    source = save_three(call)
    target = call("context_session_start", name="next", continueFrom=source)["sessionId"]
    reply = call("context_merge_sessions", sourceSessionId=source, conflictResolution="keep_source")
    assert reply["merged"] == 2
    assert "uncategorized" in reply["stats"]["byCategory"]
    assert "b" not in values(store, target)


@requirement("keeper-copies.merge.errors")
def test_merging_the_unknown_or_oneself_is_refused(call: Call) -> None:
    own = save_three(call)
    merge = {"conflictResolution": "keep_newest"}
    assert code(call("context_merge_sessions", sourceSessionId="no", **merge)) == "SESSION_NOT_FOUND"
    assert code(call("context_merge_sessions", sourceSessionId=own, **merge)) == "INVALID_PARAMS"


DAY = 24 * 3600


@requirement("keeper-copies.compress.older-than")
def test_the_documents_own_example_compresses_what_is_older_and_nothing_else(
    call: Call, store: Store, clock: SteppedClock
) -> None:
    session = call("context_save", key="old", value="old")["sessionId"]
    call("context_save", key="touched", value="first")
    clock.step(20 * DAY)
    call("context_save", key="touched", value="again")
    clock.step(15 * DAY)
    call("context_save", key="new", value="new")
    reply = call("context_compress", olderThan="30 days ago")
    assert (reply["compressed"]["items"], reply["preserved"], reply["deleted"]) == (1, 2, 0)
    assert sorted(values(store, session).values()) == ["again", "new"]
    assert call("context_compress", olderThan="2026-04-06")["compressed"]["items"] == 2


@requirement("keeper-copies.compress.reply")
def test_the_answer_says_what_went_where(call: Call, clock: SteppedClock) -> None:
    session = save_three(call)
    clock.step()
    call("context_save", key="d", value="four " * 200, category="task")
    clock.step()
    reply = call("context_compress", olderThan="now")
    sizes = reply["compressed"]
    assert sizes["items"] == 4
    assert 0 < sizes["compressedSize"] < sizes["originalSize"]
    assert sizes["ratio"] == pytest.approx(sizes["originalSize"] / sizes["compressedSize"], abs=0.02)
    assert reply["summary"] == {
        "byCategory": {"task": 2, "note": 1, "uncategorized": 1},
        "dateRange": {"start": "2026-03-01T09:30:00.000Z", "end": "2026-03-01T09:30:01.000Z"},
        "archived": [{"sessionId": session, "items": 4, "keys": ["a", "b", "c", "d"]}],
        "keysNotShown": 0,
        "sessionsNotShown": 0,
    }


@requirement("keeper-copies.compress.reply")
def test_with_nothing_to_compress_the_answer_is_empty(call: Call) -> None:
    assert call("context_compress", olderThan="now") == {
        "compressed": {"items": 0, "originalSize": 0, "compressedSize": 0, "ratio": 1.0},
        "preserved": 0,
        "deleted": 0,
        "summary": {
            "byCategory": {},
            "dateRange": {"start": "", "end": ""},
            "archived": [],
            "keysNotShown": 0,
            "sessionsNotShown": 0,
        },
    }


@requirement("keeper-copies.compress.archive")
def test_compressed_items_can_be_read_and_restored(
    call: Call, core: Core, store: Store, clock: SteppedClock
) -> None:
    session = save_three(call)
    before = items(store, session)
    clock.step()
    call("context_compress", olderThan="now")
    assert items(store, session) == {}
    archive = core.through("memory-keeper").archive
    for key, memory in before.items():
        assert archive.find(key or "", None) == [memory]
    archive.restore(tuple(memory.id for memory in before.values()))
    assert items(store, session) == before


@requirement("keeper-copies.compress.archive")
def test_compressed_items_are_read_by_key_and_marked(call: Call, stranger: Call, clock: SteppedClock) -> None:
    save_three(call)
    clock.step()
    call("context_compress", olderThan="now")
    (item,) = call("context_get", key="a", includeMetadata=True)["items"]
    assert (item["value"], item["archived"], item["metadata"]) == ("one", True, {"n": 1})
    assert len(call("context_get", key="b", includeMetadata=True)["items"]) == 1
    assert stranger("context_get", key="b", includeMetadata=True)["items"] == []
    assert call("context_search", query="one")["results"] == []


@requirement("keeper-copies.compress.archive")
def test_a_key_that_was_compressed_can_be_saved_again(call: Call, store: Store, clock: SteppedClock) -> None:
    session = save_three(call)
    clock.step()
    before = items(store, session)["a"]
    call("context_compress", olderThan="now")
    call("context_save", key="a", value="anew")
    assert values(store, session) == {"a": "anew"}
    after = items(store, session)["a"]
    assert (after.id, after.created_at) == (before.id, before.created_at)
    assert [former.text for former in store.memories.former(after.id)] == ["one"]
    assert {each.memory.key for each in store.archive.find_memories(Filter())} == {"b", "c"}


@requirement("keeper-copies.compress.archive")
def test_a_merged_checkpoint_makes_what_was_compressed_live_again(
    call: Call, store: Store, clock: SteppedClock
) -> None:
    session = save_three(call)
    before = items(store, session)
    call("context_checkpoint", name="before")
    clock.step()
    call("context_save", key="a", value="changed")
    clock.step()
    call("context_compress", olderThan="now")
    assert call("context_restore_checkpoint", name="before", merge=True)["restoredItems"] == 3
    after = items(store, session)
    assert {key: memory.id for key, memory in after.items()} == {key: m.id for key, m in before.items()}
    assert values(store, session) == {key: memory.text for key, memory in before.items()}
    assert [former.text for former in store.memories.former(after["a"].id)] == ["one", "changed"]
    assert store.archive.find_memories(Filter()) == []
    assert call("context_get", key="a", includeMetadata=True)["count"] == 1


@requirement("keeper-copies.compress.delete")
def test_an_explicit_deletion_reaches_the_archive(call: Call, core: Core, clock: SteppedClock) -> None:
    save_three(call)
    clock.step()
    call("context_compress", olderThan="now")
    call("context_delete", key="a")
    assert core.through("memory-keeper").archive.find("a", None) == []


@requirement("keeper-copies.compress.preserve")
def test_preserved_categories_stay(call: Call, store: Store, clock: SteppedClock) -> None:
    session = save_three(call)
    clock.step()
    reply = call("context_compress", olderThan="now", preserveCategories=["task", "note"])
    assert (reply["compressed"]["items"], reply["preserved"]) == (1, 2)
    assert set(values(store, session)) == {"a", "b"}


@requirement("keeper-copies.compress.target")
def test_the_oldest_go_until_the_rest_fits_the_target(call: Call, store: Store, clock: SteppedClock) -> None:
    for number in range(10):
        session = call("context_save", key=f"k{number}", value="x" * 1022 + "ü")["sessionId"]
        clock.step()
    assert call("context_compress", olderThan="now", targetSize=20)["compressed"]["items"] == 0
    reply = call("context_compress", olderThan="now", targetSize=4.5)
    assert reply["compressed"]["items"] == 6
    assert set(values(store, session)) == {"k6", "k7", "k8", "k9"}
    assert call("context_compress", olderThan="now", targetSize=4.5)["compressed"]["items"] == 0
    assert call("context_compress", olderThan="now", targetSize=0)["preserved"] == 0


@requirement("keeper-copies.compress.session")
def test_one_session_is_compressed_alone(
    call: Call, stranger: Call, store: Store, clock: SteppedClock
) -> None:
    mine, theirs = save_three(call), save_three(stranger)
    clock.step()
    reply = call("context_compress", olderThan="now", sessionId=mine)
    assert (reply["compressed"]["items"], reply["preserved"]) == (3, 0)
    assert len(items(store, theirs)) == 3
    assert code(call("context_compress", olderThan="now", sessionId="no")) == "SESSION_NOT_FOUND"


@requirement("keeper-copies.compress.private")
def test_private_items_of_others_are_neither_compressed_nor_counted(
    call: Call, stranger: Call, store: Store, clock: SteppedClock
) -> None:
    theirs = save_three(stranger)
    clock.step()
    narrow = call("context_compress", olderThan="2020-01-01", sessionId=theirs)
    assert (narrow["compressed"]["items"], narrow["preserved"]) == (0, 2)
    reply = call("context_compress", olderThan="now")
    assert (reply["compressed"]["items"], reply["preserved"]) == (2, 0)
    assert set(values(store, theirs)) == {"b"}
    assert reply["summary"]["archived"][0]["keys"] == ["a", "c"]


@requirement("keeper-copies.storage-full")
def test_a_full_store_takes_no_copies_and_compressing_makes_room(
    call: Call, store: Store, clock: SteppedClock
) -> None:
    session = save_three(call)
    call("context_checkpoint", name="before")
    other = call("context_session_start", name="other")["sessionId"]
    full = caller_of(
        Core(
            Engine(make_settings(max_store_mb=0), store, None, now=clock),
            Caller(project="/p", session=other),
        )
    )
    for tool, arguments in (
        ("context_checkpoint", {"name": "full"}),
        ("context_restore_checkpoint", {"name": "before"}),
        ("context_branch_session", {"branchName": "full"}),
        ("context_merge_sessions", {"sourceSessionId": session, "conflictResolution": "keep_source"}),
        ("context_cache_file", {"filePath": "a", "content": "one"}),
    ):
        assert code(full(tool, **arguments)) == "STORAGE_FULL"
    assert len(store.sessions.find("memory-keeper", after=None, before=None)) == 2
    clock.step()
    assert full("context_compress", olderThan="now")["compressed"]["items"] == 2
