"""Which project a directory belongs to."""

from __future__ import annotations

from pathlib import Path

import pytest

from backstory.core.projects import project_root, work_tree
from backstory.core.projects.related import projects_named, related_projects


@pytest.mark.requirement("server.store.project")
@pytest.mark.parametrize("mark", ["directory", "file of a worktree"])
def test_a_directory_belongs_to_the_repository_that_holds_it(tmp_path: Path, mark: str) -> None:
    inner = tmp_path / "repo" / "src" / "deep"
    inner.mkdir(parents=True)
    git = tmp_path / "repo" / ".git"
    git.mkdir() if mark == "directory" else git.write_text("gitdir: elsewhere")
    assert project_root(inner) == project_root(tmp_path / "repo") == (tmp_path / "repo").resolve()


def test_worktrees_of_one_repository_are_one_project(tmp_path: Path) -> None:
    main, linked = tmp_path / "main", tmp_path / "linked"
    own = main / ".git" / "worktrees" / "linked"
    own.mkdir(parents=True)
    linked.mkdir()
    (own / "commondir").write_text("../..\n")
    (linked / ".git").write_text(f"gitdir: {own}\n")
    assert project_root(linked) == project_root(main) == main.resolve()
    assert work_tree(linked) == linked.resolve()


def test_the_innermost_repository_counts(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "vendored" / ".git").mkdir(parents=True)
    assert project_root(tmp_path / "vendored") == (tmp_path / "vendored").resolve()


def test_the_home_of_a_user_that_there_is_not_names_no_project() -> None:
    assert projects_named("~nobody-here/app", ["/elsewhere/app"]) == []
    assert related_projects(["/p"], ["~nobody-here/app"], ["/p", "/elsewhere/app"]) == []
