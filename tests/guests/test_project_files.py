"""Which files a project has, and which matter: with git, without it, and whatever their names are."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backstory.core.projects.effort import Effort
from backstory.core.projects.ignoring import walk
from backstory.domain.errors import NotFound
from backstory.guests.gandalf.description import describe
from backstory.guests.gandalf.files import FileList, ProjectFile, list_files, list_paths

from ..doubles import DAWN

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="such names and links need POSIX")


def git(directory: Path, *words: str, at: datetime = DAWN) -> None:
    who = {f"GIT_{role}_{what}": "x" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    dates = {"GIT_AUTHOR_DATE": at.isoformat(), "GIT_COMMITTER_DATE": at.isoformat()}
    alone = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    subprocess.run(["git", *words], cwd=directory, env=os.environ | who | dates | alone, check=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "repository"
    root.mkdir()
    git(root, "init", "--quiet", "--initial-branch=main")
    return root


@pytest.fixture
def no_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    empty = tmp_path / "no-programs"
    empty.mkdir()
    monkeypatch.setenv("PATH", str(empty))


def write(root: Path, *paths: str, text: str = "x\n", age_days: float = 0) -> None:
    at = (DAWN - timedelta(days=age_days)).timestamp()
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
        os.utime(root / path, (at, at))


def commit(root: Path, *paths: str, at: datetime = DAWN) -> None:
    git(root, "add", "--force", *paths)
    git(root, "commit", "--quiet", "--allow-empty", "-m", "x", at=at)


def listed(root: Path, **options: bool | list[str]) -> FileList:
    return list_files(root, DAWN, Effort(), **options)  # type: ignore[arg-type]


def by_path(listing: FileList) -> dict[str, ProjectFile]:
    return {file.path: file for file in listing.files}


@pytest.mark.parametrize("has_git", [True, False])
def test_nested_ignore_files_and_negations_and_excludes_are_honoured(
    repository: Path, has_git: bool, request: pytest.FixtureRequest
) -> None:
    write(
        repository, "kept.py", "a.log", "keep.log", "build/x.o", "sub/a.tmp", "sub/deep/b.tmp", "secret.txt"
    )
    (repository / ".gitignore").write_text("*.log\n!keep.log\n/build/\n")
    (repository / "sub" / ".gitignore").write_text("*.tmp\n!deep/b.tmp\n")
    (repository / ".git" / "info" / "exclude").write_text("secret.txt\n")
    if not has_git:
        request.getfixturevalue("no_git")
    paths = list_paths(repository, Effort())
    assert paths.by_git == has_git
    assert paths.paths == [".gitignore", "keep.log", "kept.py", "sub/.gitignore", "sub/deep/b.tmp"]


def test_what_is_tracked_is_listed_though_it_is_ignored_and_what_is_deleted_is_not(repository: Path) -> None:
    write(repository, "forced.log", "gone.py")
    (repository / ".gitignore").write_text("*.log\n")
    commit(repository, "forced.log", "gone.py")
    (repository / "gone.py").unlink()
    assert set(by_path(listed(repository))) == {"forced.log", ".gitignore"}


NAMES = ("a", "b.py", "dir", "sub", "ab", "[x]", "a b", "#c", "!d")
TREE = [
    f"{first}-/{second}-/{third}"
    for first in NAMES[:4]
    for second in NAMES
    for third in ("a", "b.py", "ab", "#c")
]
PIECES = ("a", "b", "*", "**", "?", "/", "-", ".", "py", "dir", "sub", "[ab]", "[!a]", "[a-c]", "[", "]", "\\", "#", " ", "[[:alpha:]]")  # fmt: skip
LINES = st.lists(st.sampled_from(PIECES), min_size=1, max_size=6).map("".join)
IGNORED = st.lists(st.tuples(st.sampled_from(("", "", "!")), LINES).map("".join), min_size=1, max_size=4)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("tree")
    git(root, "init", "--quiet")
    write(root, *TREE, *NAMES)
    return root


@given(top=IGNORED, nested=IGNORED)
def test_without_git_the_same_is_ignored_as_with_it(tree: Path, top: list[str], nested: list[str]) -> None:
    (tree / ".gitignore").write_text("\n".join(top))
    (tree / "dir-" / ".gitignore").write_text("\n".join(nested))
    command = ["git", "-c", "core.excludesFile=", "ls-files", "-z", "--others", "--exclude-standard"]
    told = subprocess.run(command, cwd=tree, capture_output=True, check=True).stdout
    assert sorted(walk(tree, Effort())) == sorted(os.fsdecode(told).split("\0")[:-1])


def test_a_directory_without_a_repository_is_walked(tmp_path: Path) -> None:
    write(tmp_path, "a.py", "b.pyc", "deep/c.py")
    (tmp_path / ".gitignore").write_text("*.pyc\n")
    assert list_paths(tmp_path, Effort()).paths == [".gitignore", "a.py", "deep/c.py"]


@posix_only
def test_links_are_not_followed(repository: Path, tmp_path: Path) -> None:
    write(tmp_path, "outside/secret.py")
    write(repository, "real.py")
    (repository / "out").symlink_to(tmp_path / "outside")
    (repository / "file.py").symlink_to(tmp_path / "outside" / "secret.py")
    (repository / "ring").symlink_to(repository)
    assert list(by_path(listed(repository))) == ["real.py"]
    assert list(walk(repository, Effort())) == ["real.py"]


@posix_only
@pytest.mark.parametrize("has_git", [True, False])
def test_names_that_are_no_text_or_have_newlines_do_no_harm(
    repository: Path, has_git: bool, request: pytest.FixtureRequest
) -> None:
    (repository / "two\nlines.py").write_text("x")
    (repository / os.fsdecode(b"caf\xe9.py")).write_text("x")
    (repository / 'quo"te.py').write_text("x")
    if not has_git:
        request.getfixturevalue("no_git")
    assert set(by_path(listed(repository))) == {"two\nlines.py", "caf\ufffd.py", 'quo"te.py'}


def test_binary_and_huge_files_are_only_measured(repository: Path) -> None:
    (repository / "blob.bin").write_bytes(bytes(range(256)))
    with (repository / "huge.py").open("wb") as file:
        file.truncate(50_000_000_000)
    files = by_path(listed(repository))
    assert files["huge.py"].size == 50_000_000_000
    assert files["blob.bin"].size == 256


def test_scores_lie_between_0_and_1_and_the_best_comes_first(repository: Path) -> None:
    write(
        repository,
        "src/hot.py",
        "README.md",
        "src/cold.py",
        "node_modules/x.min.js",
        "data.bin",
        ".github/ci.yml",
    )
    for _ in range(3):
        write(repository, "src/hot.py", text=f"{_}")
        commit(repository, "src/hot.py")
    files = listed(repository).files
    scores = [file.score or 0 for file in files]
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score <= 1 for score in scores)
    assert files[0].path == "src/hot.py"
    assert files[0].priority == "high"
    assert files[-1].path == "node_modules/x.min.js"


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ({"path": "src/new.py"}, {"path": "src/old.py", "age_days": 200}),
        ({"path": "src/code.py"}, {"path": "src/picture.png"}),
        ({"path": "src/own.py"}, {"path": "vendor/theirs.py"}),
        ({"path": "src/some.py"}, {"path": "src/none.py", "text": ""}),
    ],
    ids=["recency", "type", "location", "size"],
)
def test_each_part_of_a_score_counts(repository: Path, better: dict[str, str], worse: dict[str, str]) -> None:
    for each in (better, worse):
        path = each["path"]
        write(repository, path, **{name: value for name, value in each.items() if name != "path"})  # type: ignore[arg-type]
    assert [file.path for file in listed(repository).files] == [better["path"], worse["path"]]


def test_commits_are_really_counted_and_old_ones_are_not(repository: Path) -> None:
    write(repository, "a.py", "b.py", "c.py")
    commit(repository, "c.py", at=DAWN - timedelta(days=100))
    commit(repository, "a.py", "b.py", at=DAWN - timedelta(days=10))
    write(repository, "a.py", text="again")
    commit(repository, "a.py")
    files = by_path(listed(repository))
    assert {path: file.commits for path, file in files.items()} == {"a.py": 2, "b.py": 1, "c.py": 0}
    assert (files["a.py"].score or 0) > (files["b.py"].score or 0) > (files["c.py"].score or 0)


def test_a_repository_without_commits_is_no_problem(repository: Path) -> None:
    write(repository, "a.py")
    assert listed(repository).notices == ()


def test_a_repository_cannot_make_git_start_a_program(repository: Path, tmp_path: Path) -> None:
    trap = tmp_path / "sprung"
    program = tmp_path / "trap.sh"
    program.write_text(f"#!/bin/sh\ntouch {trap}\n")
    program.chmod(0o700)
    write(repository, "a.py")
    commit(repository, "a.py")
    for key in ("core.fsmonitor", "gpg.program", "diff.external", "core.pager"):
        git(repository, "config", key, str(program))
    git(repository, "config", "log.showSignature", "true")
    listed(repository)
    describe(repository, Effort(), with_size=True)
    assert not trap.exists()


def test_a_missing_directory_is_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="There is no project directory"):
        list_files(tmp_path / "nowhere", DAWN, Effort())
    assert not describe(tmp_path / "nowhere", Effort(), with_size=True).is_valid


def test_a_repository_is_described(repository: Path) -> None:
    write(repository, "a/b/c.py", "a/d.py", "e.py")
    before = describe(repository, Effort(), with_size=True)
    assert before.repository is not None
    assert (before.repository.branch, before.repository.commit) == ("main", None)
    assert before.size == (3, 2)
    commit(repository, "e.py")
    git(repository, "checkout", "--quiet", "--detach")
    after = describe(repository, Effort(), with_size=False).repository
    assert after is not None
    assert after.branch is None
    assert len(after.commit or "") == 40
    assert after.root == str(repository.resolve())
    assert (after.is_bare, after.is_worktree) == (False, False)


def test_worktrees_and_bare_repositories_are_told_apart(repository: Path, tmp_path: Path) -> None:
    write(repository, "a.py")
    commit(repository, "a.py")
    git(repository, "worktree", "add", "--quiet", "-b", "side", str(tmp_path / "side"))
    side = describe(tmp_path / "side", Effort(), with_size=False).repository
    assert side is not None
    assert (side.branch, side.is_worktree, side.root) == ("side", True, str((tmp_path / "side").resolve()))
    git(tmp_path, "clone", "--quiet", "--bare", str(repository), "bare")
    bare = describe(tmp_path / "bare", Effort(), with_size=False).repository
    assert bare is not None
    assert (bare.is_bare, bare.is_worktree, bare.branch) == (True, False, "main")


@pytest.mark.usefixtures("no_git")
def test_without_git_the_files_of_a_repository_tell_its_branch(tmp_path: Path) -> None:
    (tmp_path / "p" / ".git").mkdir(parents=True)
    (tmp_path / "p" / ".git" / "HEAD").write_text("ref: refs/heads/trunk\n")
    told = describe(tmp_path / "p", Effort(), with_size=True).repository
    assert told is not None
    assert (told.branch, told.is_known_to_git) == ("trunk", False)
