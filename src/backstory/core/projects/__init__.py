"""The project of a directory, its short name, its branch and its git status."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from ...domain.lazy import lazy_name

if TYPE_CHECKING:
    from ..secrets import redactor
    from .git import git as run_git
    from .git import printable
else:  # 15 ms together, and most branches need no rules
    redactor = lazy_name("backstory.core.secrets", "redactor")
    run_git = lazy_name("backstory.core.projects.git", "git")
    printable = lazy_name("backstory.core.projects.git", "printable")

_HEAD = "ref: refs/heads/"
_SECRET_CHARS = 20  # a shorter name of a branch cannot contain a secret
_LONGEST_HEAD = 4_096


def work_tree(directory: Path) -> Path:
    """The checkout that contains the directory, or the directory itself."""
    directory = directory.resolve()
    for candidate in (directory, *directory.parents):
        if os.path.exists(candidate / ".git"):  # unlike Path.exists, no error for a name that cannot be
            return candidate
    return directory


def is_repository(tree: Path) -> bool:
    """True if the tree is a checkout; a `.git` without HEAD is not."""
    try:
        return (_git_directory(tree) / "HEAD").exists()
    except (OSError, ValueError):
        return False


def project_root(directory: Path) -> Path:
    """The project a directory belongs to: all worktrees of one repository are the project of its first checkout."""
    tree = work_tree(directory)
    try:
        own = _git_directory(tree)
        shared = (own / _first_line(own / "commondir")).resolve()
    except (OSError, ValueError):
        return tree
    return shared.parent if shared.name == ".git" else tree


def git_branch(directory: Path) -> str | None:
    """The branch that is checked out, with secrets redacted: it is saved and shown, and no command gets it.

    None outside a repository and where HEAD is no branch."""
    try:
        head = _first_line(_git_directory(work_tree(directory)) / "HEAD")
    except (OSError, ValueError):
        return None
    if not head.startswith(_HEAD):
        return None
    branch = head.removeprefix(_HEAD)
    if len(branch) < _SECRET_CHARS:
        return branch
    return redactor("standard").redact(branch).text


def _git_directory(tree: Path) -> Path:
    """The directory with a checkout's HEAD: a worktree or submodule names it in a file."""
    git = tree / ".git"
    return git if git.is_dir() else tree / _first_line(git).removeprefix("gitdir:").strip()


def _first_line(path: Path) -> str:
    with path.open(encoding="utf-8") as file:
        return file.readline(_LONGEST_HEAD).strip()


def git_status(directory: Path) -> str | None:
    """The output of `git status --short`; None without a repository, without git, or on a timeout."""
    status = run_git(directory, "status", "--short")
    return None if status is None else printable(status).rstrip("\n")


def workspace_hash(project: str) -> str:
    return hashlib.sha256(project.encode(errors="surrogatepass")).hexdigest()[:16]


def is_workspace(text: str, project: str) -> bool:
    """True if the text denotes the project: its hash, its path, or the last part of its path."""
    name = PurePath(project.replace("\\", "/")).name
    return text in (workspace_hash(project), project, project.rstrip("/\\")) or text.lower() == name.lower()
