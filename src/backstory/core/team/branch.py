"""Shared files as they are on the shared branch of a repository, and branches that propose new ones.

The work tree and its index are neither read nor changed: a pull request that is checked out says nothing here."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from ...domain.errors import GitFailed
from ...domain.lazy import lazy_pattern
from ...domain.shared_notes import FOLDER
from ..projects.git import ask, git, names, printable
from .checks import problems_in
from .files import MAX_FILE_BYTES

MAX_FILES = 500
ROOTS_TIMEOUT_S = 60.0
"""To find the first commit, git walks through all of them."""
_SHARED = ("refs/remotes/origin/HEAD", "refs/remotes/origin/main", "refs/remotes/origin/master")
_NAME = lazy_pattern(r"[\w][\w.-]{0,120}\.md")
_REGULAR = ("100644", "100755")
_NOBODY = "unknown"


class BranchFile(NamedTuple):
    path: str
    raw: bytes
    commit: str
    author: str
    changed_at: datetime


def shared_commit(tree: Path) -> str | None:
    """The commit of the shared branch; without a remote, of the branch that is checked out. None where there is neither."""
    for reference in _SHARED:
        if commit := _commit(tree, reference):
            return commit
    has_remote = bool((git(tree, "remote") or "").strip())
    return None if has_remote else _commit(tree, "HEAD")


def repository_identity(tree: Path) -> str:
    """The identity that all clones share: the first commit and the remote. Empty without a repository."""
    # of the shared branch: a pull request that is checked out may bring another history along
    commit = shared_commit(tree) or "HEAD"
    roots = (git(tree, "rev-list", "--max-parents=0", commit, timeout_s=ROOTS_TIMEOUT_S) or "").split()
    url = (git(tree, "config", "--get", "remote.origin.url") or "").strip()
    return f"{sorted(roots)[0]} {url}".strip() if roots else ""


def read_branch(tree: Path, commit: str) -> tuple[list[BranchFile], list[str]]:
    """The shared files of a commit, and the paths that are not read: links, files in folders, files that are too large
    or too many. Raises GitFailed."""
    listed = git(tree, "ls-tree", "-r", "-l", "-z", "--full-tree", commit, "--", f"{FOLDER}/")
    if listed is None:
        raise GitFailed("git cannot list the shared files.", hint="See `git ls-tree`.")
    chosen: dict[str, str] = {}
    unread: list[str] = []
    for entry in names(listed):
        about, _, path = entry.partition("\t")
        mode, _, hash, size = about.split()
        is_read = mode in _REGULAR and _NAME.fullmatch(path.removeprefix(f"{FOLDER}/")) is not None
        if is_read and int(size) <= MAX_FILE_BYTES and len(chosen) < MAX_FILES:
            chosen[path] = hash
        else:
            unread.append(printable(path))
    changes = dict(_last_changes(tree, commit))
    blobs = _blobs(tree, list(chosen.values()))
    nothing = (commit, _NOBODY, datetime.fromtimestamp(0, UTC))
    files = [BranchFile(path, blobs[hash], *changes.get(path, nothing)) for path, hash in chosen.items()]
    return files, unread


def _commit(tree: Path, reference: str) -> str:
    return (git(tree, "rev-parse", "--verify", "--quiet", f"{reference}^{{commit}}") or "").strip()


def _last_changes(tree: Path, commit: str) -> Iterator[tuple[str, tuple[str, str, datetime]]]:
    """The last commit that changed each path, with author and time."""
    words = (
        "-c",
        "core.quotePath=false",
        "log",
        "--no-renames",
        "-m",
        "--name-only",
        "--format=%x1e%H%x1f%an%x1f%at",
    )
    text = printable(git(tree, *words, commit, "--", f"{FOLDER}/") or "")
    seen: set[str] = set()
    for record in text.split("\x1e")[1:]:
        head, *paths = record.split("\n")
        hash, author, seconds = head.split("\x1f")
        # a name that looks like an instruction is not shown
        author = author if not list(problems_in(author)) else _NOBODY
        for path in filter(None, paths):
            if path not in seen:
                seen.add(path)
                yield path, (hash, author, datetime.fromtimestamp(int(seconds), UTC))


def _blobs(tree: Path, hashes: list[str]) -> dict[str, bytes]:
    if not hashes:
        return {}
    output = ask(tree, "cat-file", "--batch", stdin="\n".join([*hashes, ""]))
    raw, blobs = os.fsencode(output.text), {}
    position = 0
    while output.is_ok and position < len(raw):
        end = raw.index(b"\n", position)
        hash, _, size = raw[position:end].decode().split()
        blobs[hash] = raw[end + 1 : end + 1 + int(size)]
        position = end + int(size) + 2
    if set(blobs) != set(hashes):
        raise GitFailed("git cannot read the shared files.", hint="See `git fsck`.")
    return blobs


def propose(tree: Path, branch: str, files: Mapping[str, str | None], message: str) -> str:
    """Commit files on a branch without touching the work tree and its index; None deletes a file. Returns the commit. An
    existing branch is continued; a new one starts from the shared branch. Raises GitFailed."""
    reference = f"refs/heads/{branch}"
    if not ask(tree, "check-ref-format", reference).is_ok:
        raise GitFailed(f"{branch!r} is not a valid name for a branch.")
    former = _commit(tree, reference)
    parent = former or shared_commit(tree)
    if parent is None:
        raise GitFailed("There is no shared branch to start from.", hint="Fetch it first: git fetch origin")
    with TemporaryDirectory(prefix="backstory-index-") as folder:
        index = {"GIT_INDEX_FILE": str(Path(folder) / "index")}
        _run(tree, "read-tree", parent, variables=index)
        for path, text in files.items():
            if text is None:
                _run(tree, "update-index", "--force-remove", "--", path, variables=index)
                continue
            blob = _run(tree, "hash-object", "-w", "--stdin", stdin=text)
            _run(tree, "update-index", "--add", "--cacheinfo", f"100644,{blob},{path}", variables=index)
        root = _run(tree, "write-tree", variables=index)
    commit = _run(tree, "commit-tree", root, "-p", parent, stdin=message)
    _run(tree, "update-ref", reference, commit, former or "0" * len(commit))
    return commit


def _run(tree: Path, *words: str, stdin: str = "", variables: Mapping[str, str] | None = None) -> str:
    output = ask(tree, *words, stdin=stdin, variables=variables)
    if not output.is_ok:
        raise GitFailed(
            f"git {words[0]} failed; nothing was committed.", hint="Run it in a terminal to see why."
        )
    return output.text.strip()
