"""Whose words a file holds: git knows who committed it, and what it does not know is not this user's."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from backstory.core.projects.origin import trust_of
from backstory.domain.records import Trust

from ..repositories import commit, commit_as_stranger, git, write

HISTORY = ".aider.chat.history.md"


pytestmark = pytest.mark.usefixtures("ann")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    return commit(tmp_path / "repository", {"README.md": "x"})


def test_a_file_outside_every_repository_may_be_of_an_unpacked_archive(tmp_path: Path) -> None:
    assert trust_of(write(tmp_path, {HISTORY: "x"}) / HISTORY) is Trust.PROJECT


def test_a_file_that_git_does_not_track_is_own(repository: Path) -> None:
    assert trust_of(write(repository, {HISTORY: "x"}) / HISTORY) is Trust.OWN


def test_an_ignored_file_is_own(repository: Path) -> None:
    commit(repository, {".gitignore": ".aider*\n"})
    assert trust_of(write(repository, {HISTORY: "x"}) / HISTORY) is Trust.OWN


def test_what_this_user_committed_is_own_however_the_address_is_spelled(repository: Path) -> None:
    assert trust_of(commit(repository, {HISTORY: "x"}) / HISTORY) is Trust.OWN


def test_what_somebody_else_committed_is_the_projects(repository: Path) -> None:
    assert trust_of(commit_as_stranger(repository, HISTORY)) is Trust.PROJECT


def test_one_commit_of_somebody_else_is_enough(repository: Path) -> None:
    commit(repository, {HISTORY: "x"})
    commit_as_stranger(repository, HISTORY, "y")
    assert trust_of(commit(repository, {HISTORY: "z"}) / HISTORY) is Trust.PROJECT


def test_going_on_in_a_file_of_somebody_else_does_not_make_it_own(repository: Path) -> None:
    file = commit_as_stranger(repository, HISTORY)
    file.write_text("x and more")
    assert trust_of(file) is Trust.PROJECT


def test_a_clone_is_the_projects(repository: Path, tmp_path: Path) -> None:
    commit_as_stranger(repository, HISTORY)
    git(tmp_path, "clone", "-q", str(repository), "clone")
    assert trust_of(tmp_path / "clone" / HISTORY) is Trust.PROJECT


def test_a_shallow_clone_cannot_say_who_wrote_a_file(repository: Path, tmp_path: Path) -> None:
    commit_as_stranger(repository, HISTORY)
    commit(repository, {"README.md": "by Ann"})
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{repository}", "clone")
    assert git(tmp_path / "clone", "log", "--format=%ae", "--", HISTORY) == "ann@example.org\n"
    assert trust_of(tmp_path / "clone" / HISTORY) is Trust.PROJECT


def test_without_an_address_of_ones_own_nothing_that_is_tracked_is_own(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(repository, {HISTORY: "x"})
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "none"))
    assert trust_of(repository / HISTORY) is Trust.PROJECT


def test_several_addresses_can_be_ones_own(repository: Path) -> None:
    file = commit_as_stranger(repository, HISTORY)
    git(repository, "config", "--add", "user.email", "mallory@example.org")
    assert trust_of(file) is Trust.OWN


def test_a_mailmap_of_the_repository_makes_nobody_this_user(repository: Path) -> None:
    file = commit_as_stranger(repository, HISTORY)
    commit(repository, {".mailmap": "Ann <ann@example.org> <mallory@example.org>\n"})
    assert trust_of(file) is Trust.PROJECT


@pytest.mark.parametrize("name", ["a*.md", "[x].md", "ümlaut.md", ":(top)x.md", "a\nb.md"])
def test_names_are_names_and_no_patterns(repository: Path, name: str) -> None:
    commit_as_stranger(repository, "abc.md")
    assert trust_of(write(repository, {name: "x"}) / name) is Trust.OWN
    assert trust_of(commit_as_stranger(repository, f"sub/{name}")) is Trust.PROJECT


def test_without_git_what_lies_in_a_repository_is_the_projects(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write(repository, {HISTORY: "x"}) / HISTORY
    monkeypatch.setenv("PATH", str(tmp_path))
    assert trust_of(file) is Trust.PROJECT


def test_a_link_to_a_tracked_directory_does_not_hide_who_wrote_it(repository: Path) -> None:
    commit_as_stranger(repository, "docs/full.md")
    os.symlink("docs", repository / "sessions")
    assert trust_of(repository / "sessions" / "full.md") is Trust.PROJECT
