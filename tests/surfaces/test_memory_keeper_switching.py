"""Switching from MCP Memory Keeper 0.14.1: what its users do every day works here, and their store comes along."""

from __future__ import annotations

import shutil
from itertools import pairwise
from pathlib import Path

import pytest

from backstory.core import Caller, Core

from ..conftest import Call, caller_of
from ..doubles import make_settings
from ..importers.running import run
from ..importers.test_real_stores import ORIGINALS
from ..processes import serving
from ..repositories import commit, git, write

requirement = pytest.mark.requirement


@pytest.fixture
def other(core: Core) -> Call:
    """Another connection to the same store."""
    return caller_of(core._replace(caller=Caller(project="/p")))


@requirement("keeper-more.switching")
def test_a_day_of_work_with_checkpoint_compaction_and_the_next_session(call: Call, other: Call) -> None:
    session = call("context_session_start", name="Settings", description="Refactoring")["sessionId"]
    call("context_save", key="main_task", value="Split settings", category="task", priority="high")
    call("context_cache_file", filePath="lib/settings.ex", content="old")
    call("context_save", key="choice", value="Read and write apart", category="decision", priority="high")
    call("context_save", key="progress_1", value="5 modules remain", category="progress", priority="normal")
    assert call("context_status")["itemCount"] == 3
    prepared = call("context_prepare_compaction")
    assert [item["key"] for item in call("context_get", category="task", priority="high")["items"]] == [
        "main_task"
    ]
    assert call("context_file_changed", filePath="lib/settings.ex", currentContent="new")["changed"] is True
    started = other("context_session_start", name="Day 2", continueFrom=session)
    assert started["nextSteps"] == ["Continue: main_task: Split settings"]
    assert other("context_restore_checkpoint", name=prepared["checkpoint"])["restoredItems"] == 3


@requirement("keeper-more.switching")
def test_batches_channels_and_clean_up(call: Call) -> None:
    config = {"config_url": "https://api.example.com", "config_timeout": "30000", "config_retries": "3"}
    items = [{"key": key, "value": value, "category": "note"} for key, value in config.items()]
    assert call("context_batch_save", items=items)["succeeded"] == 3
    tasks = [
        {"key": f"task_{n}", "value": "x", "category": "task", "channel": "sprint-14"} for n in (1, 2, 3)
    ]
    call("context_batch_save", items=[*tasks, {"key": "temp_1", "value": "x"}])
    updates = [{"key": "task_1", "priority": "high"}, {"key": "task_3", "value": "Another description"}]
    assert call("context_batch_update", updates=updates)["succeeded"] == 2
    moved = call(
        "context_reassign_channel",
        fromChannel="sprint-14",
        toChannel="sprint-15",
        category="task",
        priorities=["high"],
    )
    assert [item["key"] for item in moved["itemsMoved"]] == ["task_1"]
    call("context_reassign_channel", keyPattern="config_*", toChannel="feature-settings")
    assert {each["channel"]: each["itemCount"] for each in call("context_list_channels")["channels"]} == {
        "feature-settings": 3,
        "general": 1,
        "sprint-14": 2,
        "sprint-15": 1,
    }
    assert call("context_batch_delete", keyPattern="temp_*", dryRun=True)["totalItems"] == 1
    assert call("context_batch_delete", keyPattern="temp_*")["totalDeleted"] == 1


@requirement("keeper-more.switching")
def test_what_depends_on_the_database_is_found_three_levels_deep(call: Call) -> None:
    chain = ("database", "repository", "service", "controller")
    call("context_batch_save", items=[{"key": key, "value": key} for key in chain])
    for target, source in pairwise(chain):
        call("context_link", sourceKey=source, targetKey=target, relationship="depends_on")
    related = call("context_get_related", key="database", relationship="depends_on", depth=3)
    assert [item["key"] for item in related["items"] if item["distance"] == 1] == ["repository"]
    assert {item["key"] for item in related["items"]} == {"repository", "service", "controller"}


@requirement("keeper-more.switching")
def test_two_agents_follow_each_other(call: Call, other: Call) -> None:
    filters = {"categories": ["task"], "priorities": ["high"]}
    watcher = call("context_watch", action="create", filters=filters)["watcherId"]
    other("context_save", key="handover", value="Deploy", category="task", priority="high")
    other("context_save", key="aside", value="Lunch", category="note")
    (change,) = call("context_watch", action="poll", watcherId=watcher)["changes"]
    assert (change["type"], change["key"], change["value"]) == ("CREATE", "handover", "Deploy")
    assert call("context_search_all", query="deploy")["results"][0]["key"] == "handover"
    call("context_checkpoint", name="before")
    call("context_save", key="mine", value="x")
    assert call("context_diff", since="before")["summary"] == "1 added, 0 modified, 0 deleted"


@requirement("keeper-more.switching")
def test_work_in_a_repository_is_committed_with_its_context(core: Core, tmp_path: Path, ann: None) -> None:
    shop = commit(tmp_path / "shop", {"a.py": "1\n"})
    core.engine.settings = make_settings(tmp_path, git_commit="on")
    call = caller_of(core)
    assert call("context_set_project_dir", projectDir=str(shop))["isGitRepository"] is True
    write(shop, {"a.py": "2\n"})
    git(shop, "add", "a.py")
    done = call("context_git_commit", message="feat: Add user authentication", autoSave=True)
    assert done["commit"] == git(shop, "rev-parse", "HEAD").strip()
    assert (
        call("context_restore_checkpoint", name=done["checkpoint"])["checkpoint"]["name"]
        == done["checkpoint"]
    )


@requirement("keeper-more.switching")
@pytest.mark.skipif(not ORIGINALS.exists(), reason="the stores of other programs are not here")
def test_a_store_of_the_original_goes_on_here(core: Core, call: Call, tmp_path: Path) -> None:
    store = shutil.copy(ORIGINALS / "memory-keeper" / "context.db", tmp_path)
    run(core, "memory-keeper", Path(store))
    related = call("context_get_related", key="task_login", relationship="depends_on")
    (decision,) = related["related"]["outgoing"]
    assert (decision["key"], decision["metadata"]) == ("auth_decision", {"why": "token type"})
    session = call("context_get", key="task_login", includeMetadata=True)["items"][0]["sessionId"]
    started = call("context_session_start", continueFrom=session)
    assert started["parentId"] == session
    assert call("context_search_all", query="login")["totalCount"] > 0
    assert call("context_channel_stats")["overallStats"]["total_items"] > 20
    assert call("context_diff", since="before-refactor", sessionId=session)["checkpoint"] == "before-refactor"


@requirement("keeper-more.switching")
def test_a_second_server_adopts_nobodys_session(tmp_path: Path) -> None:
    keeper = ("--surfaces", "memory-keeper", "--histories", "off", "--embeddings", "off")
    with serving(tmp_path, *keeper) as first:
        first.greet()
        session = first.call("context_save", key="a", value="x")["sessionId"]
    with serving(tmp_path, *keeper) as second:
        second.greet()
        assert second.call("context_status")["sessionId"] is None
        assert second.call("context_session_start", continueFrom=session)["parentId"] == session
        assert [item["key"] for item in second.call("context_get")["items"]] == ["a"]
