"""Sessions as one connection sees them, and the channel each gives its memories."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from backstory.core import Caller, Core
from backstory.core.projects import git_branch
from backstory.core.sessions import channel_name
from backstory.domain.errors import InvalidInput, NotFound


def begin(core: Core, name: str = "", **changes: str | None) -> str:
    wish: dict[str, str | None] = {"description": "", "channel": "", "continued": None, "directory": None}
    wish |= changes
    return core.sessions.begin(name, **wish).channel  # type: ignore[arg-type]


def repository(path: Path, head: str) -> str:
    (path / ".git").mkdir(parents=True)
    (path / ".git" / "HEAD").write_text(head)
    return str(path)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Feature/Login page", "feature-login-page"),
        ("a_b-c", "a_b-c"),
        ("feature/a-very-long-branch-name", "feature-a-very-long"),
        ("日本", ""),
        ("--x--", "x"),
    ],
)
def test_a_channel_is_lower_case_and_short(text: str, name: str) -> None:
    assert channel_name(text) == name


def test_the_channel_is_the_given_one_else_the_branch_else_the_name_else_general(
    core: Core, tmp_path: Path
) -> None:
    branch = repository(tmp_path / "work", "ref: refs/heads/feature/auth\n")
    trunk = repository(tmp_path / "trunk", "ref: refs/heads/main\n")
    assert begin(core, "My Name", channel="Given", directory=branch) == "given"
    assert begin(core, "My Name", directory=branch) == "feature-auth"
    assert begin(core, "My Name", directory=trunk) == "my-name"
    assert begin(core, "My Name") == "my-name"
    assert begin(core, "名前", directory=trunk) == "general"
    assert begin(core) == "general"


def test_the_branch_of_a_worktree_and_of_a_detached_head(tmp_path: Path) -> None:
    own = tmp_path / "main" / ".git" / "worktrees" / "side"
    own.mkdir(parents=True)
    (own / "HEAD").write_text("ref: refs/heads/side\n")
    side = tmp_path / "side"
    side.mkdir()
    (side / ".git").write_text("gitdir: ../main/.git/worktrees/side\n")
    assert git_branch(side) == "side"
    (own / "HEAD").write_text("ref: refs/heads/fix/acme-token-" + "kQ7wZp3XbN9dRt5LmV2c\n")
    assert git_branch(side) == "fix/acme-token-[redacted: secret]"
    (own / "HEAD").write_text("0123456789abcdef0123456789abcdef01234567\n")
    assert git_branch(side) is None
    (side / ".git").write_text("gitdir: nowhere\n")
    assert git_branch(side) is None
    (side / ".git").write_bytes(b"\xff\xfe")
    assert git_branch(side) is None
    assert git_branch(tmp_path / "gone") is None


def test_the_directory_becomes_the_connections_project(core: Core, tmp_path: Path) -> None:
    root = repository(tmp_path / "repo", "ref: refs/heads/x\n")
    (tmp_path / "repo" / "src").mkdir()
    begin(core, directory=f"{root}/src")
    assert core.caller.project == str(Path(root).resolve())
    assert core.sessions.current().project == core.caller.project
    with pytest.raises(InvalidInput, match="not a directory"):
        begin(core, directory="a\0b")


def test_an_unknown_session_cannot_be_continued_and_none_is_started(core: Core) -> None:
    with pytest.raises(NotFound):
        begin(core, continued="nobody")
    assert core.caller.session is None


def test_two_first_calls_at_once_share_one_session(core: Core) -> None:
    started: list[str] = []
    both = threading.Barrier(2)

    def first() -> None:
        both.wait()
        started.append(core.sessions.current().id)

    threads = [threading.Thread(target=first) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(started)) == 1


def test_two_connections_never_share_a_session(core: Core) -> None:
    other = core._replace(caller=Caller(project="/p"))
    assert core.sessions.current().id != other.sessions.current().id
