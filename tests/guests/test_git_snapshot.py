"""A git checkpoint keeps tracked changes and leaves a repository as it was, in whatever state that is."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from backstory.guests.session_mgmt.work.git_snapshot import GitSnapshot, take_git_snapshot

from ..doubles import DAWN
from ..repositories import EMPTY, git


@pytest.fixture(autouse=True)
def nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """No configuration of the user, so no name either."""
    for name in os.environ:
        if name.startswith("GIT_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(EMPTY))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """One file changed, one staged, one deleted, one unknown, one ignored."""
    repo = tmp_path / "repo"
    repo.mkdir()
    git(repo, "init", "-q", "-b", "main")
    for name in ("changed", "staged", "deleted", "same"):
        (repo / f"{name}.txt").write_text(f"{name}, at first\n")
    (repo / ".gitignore").write_text("ignored.txt\n")
    git(repo, "add", ".")
    git(repo, "commit", "-qm", "first")
    return change(repo)


def change(repo: Path) -> Path:
    (repo / "changed.txt").write_text("changed, by hand\n")
    (repo / "staged.txt").write_text("staged, by hand\n")
    git(repo, "add", "staged.txt")
    (repo / "deleted.txt").unlink()
    (repo / ".env").write_text("SECRET=1\n")
    (repo / "ignored.txt").write_text("ignored\n")
    return repo


def state(repo: Path) -> dict[str, object]:
    """All that must stay, from files alone: looking at it with git could change it."""
    folder = Path(git(repo, "rev-parse", "--absolute-git-dir").strip())
    shared = (folder / git(repo, "rev-parse", "--git-common-dir").strip()).resolve()
    files = {
        str(path): path.read_bytes() if path.is_file() else os.readlink(path) if path.is_symlink() else None
        for root in {repo, folder, shared}
        for path in sorted(root.rglob("*"))
        if "objects" not in path.parts and "backstory" not in path.parts
    }
    # whoever reads a shared index touches it, so that it is not swept away
    touched = [name for name in files if Path(name).is_file() and "sharedindex" not in name]
    return files | {"times": {name: os.lstat(name).st_mtime_ns for name in touched}}


def checked(repo: Path, session: str = "s1") -> GitSnapshot:
    """A checkpoint, after which the repository is as it was."""
    before, said = state(repo), git(repo, "--no-optional-locks", "status", "--porcelain=v2", "--branch")
    made = take_git_snapshot(repo, session, DAWN)
    assert state(repo) == before
    assert git(repo, "--no-optional-locks", "status", "--porcelain=v2", "--branch") == said
    return made


def kept(repo: Path, made: GitSnapshot) -> dict[str, str]:
    """The files of a checkpoint."""
    assert made.ref is not None, made.why
    names = git(repo, "ls-tree", "-r", "-z", "--name-only", made.ref).split("\0")
    return {name: git(repo, "cat-file", "-p", f"{made.ref}:{name}") for name in names if name}


def test_tracked_changes_are_kept_and_nothing_else_is_touched(repo: Path) -> None:
    made = checked(repo)
    assert made.ref == "refs/backstory/checkpoints/s1/1"
    assert kept(repo, made) == {
        ".gitignore": "ignored.txt\n",
        "changed.txt": "changed, by hand\n",
        "staged.txt": "staged, by hand\n",
        "same.txt": "same, at first\n",
    }
    assert git(repo, "rev-parse", f"{made.ref}^") == git(repo, "rev-parse", "main")
    assert (
        git(repo, "log", "-1", "--format=%an %cn %ct", made.ref)
        == f"Backstory Backstory {int(DAWN.timestamp())}\n"
    )


def test_each_checkpoint_has_its_number_and_none_is_made_of_nothing_new(repo: Path) -> None:
    first, again = checked(repo), checked(repo)
    assert (first.ref, again.ref) == ("refs/backstory/checkpoints/s1/1", None)
    assert again.why == "No tracked file was changed since the last checkpoint."
    (repo / "changed.txt").write_text("changed, once more\n")
    assert checked(repo).ref == "refs/backstory/checkpoints/s1/2"
    assert checked(repo, "s2").ref == "refs/backstory/checkpoints/s2/1"


def test_no_checkpoint_is_made_of_untracked_files_alone(repo: Path) -> None:
    git(repo, "reset", "-q", "--hard")
    made = checked(repo)
    assert (made.ref, made.why) == (None, "No tracked file was changed since the last commit.")


def test_hooks_do_not_run(repo: Path, tmp_path: Path) -> None:
    for name in ("pre-commit", "post-commit", "reference-transaction", "post-index-change", "post-checkout"):
        hook = repo / ".git" / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/{name}-ran\n")
        hook.chmod(0o755)
    assert checked(repo).ref is not None
    assert list(tmp_path.glob("*-ran")) == []


def test_filters_do_not_run_and_their_files_are_left_out(repo: Path, tmp_path: Path) -> None:
    (repo / ".gitattributes").write_text("*.secret filter=crypt\n")
    (repo / "key.secret").write_text("hidden\n")
    git(repo, "add", ".gitattributes", "key.secret")
    git(repo, "commit", "-qm", "secrets", "--", ".gitattributes", "key.secret")
    git(repo, "config", "filter.crypt.clean", f"touch {tmp_path}/filter-ran; cat")
    git(repo, "config", "filter.crypt.required", "true")
    (repo / "key.secret").write_text("plain and secret\n")
    before = state(repo)
    made = take_git_snapshot(repo, "s1", DAWN)
    assert state(repo) == before
    assert not (tmp_path / "filter-ran").exists()
    assert made.left_out == ("key.secret",)
    assert kept(repo, made)["key.secret"] == "hidden\n"
    assert kept(repo, made)["changed.txt"] == "changed, by hand\n"


def test_in_a_linked_worktree(repo: Path, tmp_path: Path) -> None:
    linked = tmp_path / "linked"
    git(repo, "worktree", "add", "-q", "-b", "side", str(linked))
    change(linked)
    made = checked(linked)
    assert kept(linked, made)["changed.txt"] == "changed, by hand\n"
    assert ".env" not in kept(linked, made)


def test_a_bare_repository_has_no_changes_to_keep(repo: Path, tmp_path: Path) -> None:
    bare = tmp_path / "bare.git"
    git(repo, "clone", "-q", "--bare", str(repo), str(bare))
    made = take_git_snapshot(bare, "s1", DAWN)
    assert made.ref is None
    assert git(bare, "for-each-ref", "refs/backstory") == ""


def test_a_directory_outside_a_repository_has_no_checkpoint(tmp_path: Path) -> None:
    assert take_git_snapshot(tmp_path, "s1", DAWN).ref is None
    assert list(tmp_path.iterdir()) == []


def test_in_a_repository_without_commits(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "new.txt").write_text("staged\n")
    (tmp_path / ".env").write_text("SECRET=1\n")
    assert checked(tmp_path).ref is None
    git(tmp_path, "add", "new.txt")
    (tmp_path / "new.txt").write_text("changed since\n")
    made = checked(tmp_path)
    assert kept(tmp_path, made) == {"new.txt": "changed since\n"}
    assert git(tmp_path, "rev-list", "--count", str(made.ref)).strip() == "1"


def diverge(repo: Path) -> None:
    """A branch `side` that conflicts with `main`."""
    git(repo, "stash", "-q")
    for branch, text in (("side", "theirs\n"), ("main", "ours\n")):
        git(repo, "checkout", "-q", *(("-b",) if branch == "side" else ()), branch)
        (repo / "same.txt").write_text(text)
        git(repo, "commit", "-qam", branch)


@pytest.mark.parametrize("command", ["merge", "rebase", "cherry-pick"])
def test_in_the_middle_of_a_conflict(repo: Path, command: str) -> None:
    diverge(repo)
    git(repo, command, "side", fails=True)
    made = checked(repo)
    assert "<<<<<<<" in kept(repo, made)["same.txt"]
    assert git(repo, "diff", "--name-only", "--diff-filter=U") == "same.txt\n"


def test_with_submodules(repo: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    git(repo, "clone", "-q", str(repo), str(other))
    git(repo, "submodule", "--quiet", "add", str(other), "inner")
    git(repo, "commit", "-qm", "submodule", "--", "inner", ".gitmodules")
    inner = repo / "inner"
    (inner / "same.txt").write_text("changed inside\n")
    git(inner, "commit", "-qam", "inside")
    (inner / "changed.txt").write_text("not committed inside\n")
    made = checked(repo)
    assert git(repo, "rev-parse", f"{made.ref}:inner") == git(inner, "rev-parse", "HEAD")
    assert git(inner, "for-each-ref", "refs/backstory") == ""


def test_line_ends_are_kept_as_git_would(repo: Path) -> None:
    git(repo, "config", "core.autocrlf", "true")
    git(repo, "config", "core.safecrlf", "true")
    (repo / "changed.txt").write_bytes(b"one\r\ntwo\nthree\r\n")
    assert kept(repo, checked(repo))["changed.txt"] == "one\ntwo\nthree\n"


@pytest.mark.parametrize("cone", ["--cone", "--no-cone"])
@pytest.mark.parametrize("form", ["--sparse-index", "--no-sparse-index"])
def test_in_a_sparse_checkout(repo: Path, cone: str, form: str) -> None:
    for folder in ("here", "there"):
        (repo / folder).mkdir()
        (repo / folder / "file.txt").write_text(f"{folder}\n")
        git(repo, "add", folder)
    git(repo, "commit", "-qm", "folders", "--", "here", "there")
    git(repo, "sparse-checkout", "set", cone, *((form,) if cone == "--cone" else ()), "here")
    assert not (repo / "there").exists()
    (repo / "here" / "file.txt").write_text("changed here\n")
    files = kept(repo, checked(repo))
    assert (files["here/file.txt"], files["there/file.txt"]) == ("changed here\n", "there\n")


def test_with_a_split_index(repo: Path) -> None:
    git(repo, "update-index", "--split-index")
    assert kept(repo, checked(repo))["changed.txt"] == "changed, by hand\n"


@pytest.mark.parametrize("variable", ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"])
def test_variables_that_point_elsewhere_do_not_count(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    git(elsewhere, "init", "-q")
    monkeypatch.setenv(variable, str(elsewhere / ".git"))
    made = checked(repo)
    assert kept(repo, made)["changed.txt"] == "changed, by hand\n"
    assert git(elsewhere, "for-each-ref") == ""


def test_a_change_that_size_and_time_do_not_show_is_kept(repo: Path) -> None:
    """The file was written again in the moment in which the index was."""
    git(repo, "config", "core.trustctime", "false")
    moment = (int(DAWN.timestamp()),) * 2
    os.utime(repo / "changed.txt", moment)
    git(repo, "add", "changed.txt")
    (repo / "changed.txt").write_text("changed, by foot\n")
    for path in (repo / "changed.txt", repo / ".git" / "index"):
        os.utime(path, moment)
    assert kept(repo, checked(repo))["changed.txt"] == "changed, by foot\n"


def test_names_of_any_bytes(repo: Path) -> None:
    name = os.fsdecode(b"caf\xe9 *?[a]\n.txt")
    (repo / name).write_text("one\n")
    git(repo, "add", "-A", "--", ":(literal)" + name)
    git(repo, "commit", "-qm", "name", "--", ":(literal)" + name)
    (repo / name).write_text("two\n")
    assert kept(repo, checked(repo))[name] == "two\n"


def test_links_and_modes_are_kept_as_they_are(repo: Path) -> None:
    (repo / "same.txt").unlink()
    (repo / "same.txt").symlink_to("/etc/hostname")
    (repo / "changed.txt").chmod(0o755)
    made = checked(repo)
    assert kept(repo, made)["same.txt"] == "/etc/hostname"
    assert git(repo, "ls-tree", str(made.ref), "changed.txt").startswith("100755")


def test_an_update_in_progress_is_not_disturbed(repo: Path) -> None:
    """Another git holds the index's lock: a checkpoint neither waits for it nor breaks it."""
    (repo / ".git" / "index.lock").write_text("")
    assert checked(repo).ref is not None


def _unreadable(repo: Path) -> None:
    (repo / ".git" / "index").write_bytes(b"DIRC broken")


def _no_repository(repo: Path) -> None:
    (repo / ".git" / "HEAD").write_text("nonsense\n")


@pytest.mark.parametrize("spoil", [_unreadable, _no_repository])
def test_where_git_fails_there_is_no_checkpoint_and_a_reason(
    repo: Path, spoil: Callable[[Path], None]
) -> None:
    spoil(repo)
    made = take_git_snapshot(repo, "s1", DAWN)
    assert made.ref is None
    assert made.why
