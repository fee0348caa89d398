"""context_git_commit: what it commits, and all that it refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from backstory.core import Caller, Core

from ..conftest import Call, caller_of
from ..doubles import make_settings
from ..repositories import commit, git, write

requirement = pytest.mark.requirement


@pytest.fixture
def shop(tmp_path: Path, ann: None) -> Path:
    return commit(tmp_path / "shop", {"a.py": "1\n", "b.py": "1\n"})


@pytest.fixture
def committing(core: Core, shop: Path, tmp_path: Path) -> Call:
    """A connection that works in the shop, with commits switched on."""
    core.engine.settings = make_settings(tmp_path, git_commit="on")
    return caller_of(core._replace(caller=Caller(project=str(shop))))


def code(answer: dict[str, Any]) -> str:
    return str(answer["error"]["code"])


@requirement("keeper-more.commit")
def test_only_what_is_staged_is_committed(committing: Call, core: Core, shop: Path) -> None:
    write(shop, {"a.py": "2\n", "b.py": "2\n", ".env": "SECRET=1\n"})
    git(shop, "add", "a.py")
    message = "-a is part of the message\n\n# and so is this"
    answer = committing("context_git_commit", message=message)
    head = git(shop, "rev-parse", "HEAD").strip()
    assert (answer["committed"], answer["commit"], answer["branch"]) == (True, head, "main")
    assert (answer["files"], answer["fileCount"]) == (["a.py"], 1)
    assert git(shop, "show", "--name-only", "--format=", "HEAD").split() == ["a.py"]
    assert git(shop, "log", "-1", "--format=%B").strip() == message
    assert git(shop, "status", "--porcelain").splitlines() == [" M b.py", "?? .env"]
    (checkpoint,) = core.engine.store.checkpoints.find("memory-keeper", id=answer["checkpointId"])
    assert (checkpoint.name, head in checkpoint.description) == (answer["checkpoint"], True)


@requirement("keeper-more.commit")
def test_tracked_changes_are_committed_when_all_are_wanted(committing: Call, shop: Path) -> None:
    write(shop, {"a.py": "2\n", ".env": "SECRET=1\n"})
    refused = committing("context_git_commit", message="x")
    assert (code(refused), "all: true" in refused["error"]["details"]["hint"]) == ("NOTHING_TO_COMMIT", True)
    answer = committing("context_git_commit", message="x", all=True, autoSave=False)
    assert (answer["files"], answer["checkpoint"], answer["checkpointId"]) == (["a.py"], None, None)
    assert git(shop, "status", "--porcelain").splitlines() == ["?? .env"]


@requirement("keeper-more.commit.off")
def test_commits_are_off_unless_the_user_switches_them_on(core: Core, shop: Path) -> None:
    call = caller_of(core._replace(caller=Caller(project=str(shop))))
    write(shop, {"a.py": "2\n"})
    git(shop, "add", "a.py")
    head = git(shop, "rev-parse", "HEAD")
    answer = call("context_git_commit", message="x")
    assert code(answer) == "PERMISSION_ERROR"
    details = answer["error"]["details"]
    assert "BACKSTORY_GIT_COMMIT=on" in details["hint"]
    assert core.engine.store.checkpoints.find("memory-keeper", id=details["checkpointId"])
    assert git(shop, "rev-parse", "HEAD") == head
    assert "checkpoint" not in call("context_git_commit", message="x", autoSave=False)["error"]["details"]


@requirement("keeper-more.commit.errors")
def test_what_cannot_be_committed_is_refused_without_a_checkpoint(
    committing: Call, core: Core, shop: Path, tmp_path: Path
) -> None:
    write(shop, {"untracked.py": "x\n"})
    assert code(committing("context_git_commit", message="x", all=True)) == "NOTHING_TO_COMMIT"
    assert code(committing("context_git_commit", message=" ")) == "INVALID_PARAMS"
    nowhere = caller_of(core._replace(caller=Caller(project=str(tmp_path))))
    answer = nowhere("context_git_commit", message="x")
    assert code(answer) == "FILE_NOT_FOUND"
    assert "context_set_project_dir" in answer["error"]["details"]["hint"]
    assert core.engine.store.checkpoints.find("memory-keeper") == []


@requirement("keeper-more.commit.errors")
def test_the_users_hooks_run_and_their_failure_is_told(committing: Call, core: Core, shop: Path) -> None:
    hook = shop / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho checking >&2\necho 'style is wrong' >&2\nexit 1\n")
    hook.chmod(0o755)
    write(shop, {"a.py": "2\n"})
    git(shop, "add", "a.py")
    answer = committing("context_git_commit", message="x")
    assert (code(answer), "style is wrong" in answer["error"]["message"]) == ("GIT_ERROR", True)
    assert core.engine.store.checkpoints.find("memory-keeper") == []


@requirement("keeper-more.commit.off")
def test_a_caller_on_another_machine_cannot_commit(core: Core, shop: Path, tmp_path: Path) -> None:
    core.engine.settings = make_settings(tmp_path, git_commit="on")
    far = caller_of(core._replace(caller=Caller(project=str(shop), is_local=False)))
    assert code(far("context_git_commit", message="x")) == "PERMISSION_ERROR"
