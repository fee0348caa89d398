"""A description of a project: its name, location, repository state and number of files."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from ...core.projects import git_branch, work_tree
from ...core.projects.effort import Effort
from ...core.projects.git import git, printable
from .files import list_paths, regular_files


class Repository(NamedTuple):
    root: str
    """The checkout, or the repository's own directory if it is bare."""
    branch: str | None = None
    """None if HEAD is detached. A branch without commits has a name too."""
    commit: str | None = None
    is_worktree: bool = False
    """True for an additional worktree, not the main checkout."""
    is_bare: bool = False
    is_known_to_git: bool = True
    """False if git is missing or refuses. Then less is known, from the files of the repository."""


class Size(NamedTuple):
    files: int
    directories: int


class Description(NamedTuple):
    name: str
    root: str
    is_valid: bool
    """True if it is an existing directory."""
    is_altered: bool
    """True if the displayed path differs from the real one, which is not valid text."""
    repository: Repository | None
    size: Size | None
    left_out: tuple[str, ...] = ()
    """Sentences about what was not counted."""


def describe(directory: Path, effort: Effort, *, with_size: bool) -> Description:
    root = printable(str(directory))
    is_valid = directory.is_dir()
    size = _size(directory, effort) if is_valid and with_size else None
    return Description(
        name=printable(directory.name) or root,
        root=root,
        is_valid=is_valid,
        is_altered=root != str(directory),
        repository=_repository(directory) if is_valid else None,
        size=size,
        left_out=effort.left_out,
    )


def _repository(directory: Path) -> Repository | None:
    output = git(directory, "rev-parse", "--is-bare-repository", "--absolute-git-dir", "--git-common-dir")
    if output is None:
        return _repository_by_files(directory)
    bare, own, shared = output.removesuffix("\n").split("\n")
    is_bare = bare == "true"
    top = own if is_bare else (git(directory, "rev-parse", "--show-toplevel") or own).rstrip("\n")
    branch = git(directory, "symbolic-ref", "--quiet", "--short", "HEAD")
    commit = git(directory, "rev-parse", "--quiet", "--verify", "HEAD")
    return Repository(
        root=printable(top),
        branch=branch and printable(branch).strip(),
        commit=commit and commit.strip(),
        is_worktree=Path(own).resolve() != (directory / shared).resolve(),
        is_bare=is_bare,
    )


def _repository_by_files(directory: Path) -> Repository | None:
    tree = work_tree(directory)
    if not (tree / ".git").exists():
        return None
    return Repository(root=printable(str(tree)), branch=git_branch(tree), is_known_to_git=False)


def _size(directory: Path, effort: Effort) -> Size:
    """Count files and folders. Files ignored by .gitignore do not count."""
    paths = regular_files(directory, list_paths(directory, effort).paths, effort)
    folders: set[str] = set()
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder and folder not in folders:
            folders.add(folder)
            folder = folder.rpartition("/")[0]
    return Size(len(paths), len(folders))
