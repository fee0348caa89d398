"""Detection of changes in the files that a memory is about."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from ..domain.errors import InvalidInput
from ..domain.metadata import FileMark, marks_of
from ..domain.records import Memory
from .projects.git import git

LARGEST_BYTES = 50_000_000
MOST_FILES = 20
TIMEOUT_S = 2.0
FRESH = "fresh"


def mark_files(directory: Path, paths: Sequence[str]) -> list[FileMark]:
    """Record the current state of each file. Raises InvalidInput for a path that is not a file of the project."""
    if len(paths) > MOST_FILES:
        raise InvalidInput(f"files has more than {MOST_FILES} entries.", field="files")
    root = directory.resolve()
    commit = (
        git(root, "rev-parse", "--verify", "--quiet", "HEAD^{commit}", timeout_s=TIMEOUT_S) or ""
    ).strip()
    return [_mark(root, path, commit) for path in dict.fromkeys(paths)]


def _mark(root: Path, path: str, commit: str) -> FileMark:
    try:
        file = (root / path).resolve()
        relative = file.relative_to(root)
        digest = _digest(file)
    except (OSError, ValueError, RuntimeError):
        digest = None
    if digest is None:
        raise InvalidInput(
            f"files: {path!r} is not a file of the project {root.name}.",
            hint="Nothing was saved; give paths from the project's root.",
            field="files",
        )
    return FileMark(relative.as_posix(), digest, commit)


def freshness(memory: Memory, directory: Path) -> str:
    """`fresh`, or the changes of the files since; "" if the memory names no readable files."""
    marks = [mark for mark in marks_of(memory.metadata) if mark.sha256]
    if not marks or not directory.is_dir():
        return ""
    changes = [change for mark in marks if (change := _change(mark, directory))]
    return "; ".join(changes) if changes else FRESH


def _change(mark: FileMark, directory: Path) -> str:
    try:
        digest = _digest(directory / mark.path)
    except (OSError, ValueError):
        return f"{mark.path} is gone"
    if digest == mark.sha256:
        return ""
    count = "" if not mark.commit else git(
        directory, "rev-list", "--count", f"{mark.commit}..HEAD", "--", mark.path, timeout_s=TIMEOUT_S
    )  # fmt: skip
    commits = int(count) if count and count.strip().isdigit() else 0
    how = f"{commits} commit{'s' if commits > 1 else ''}" if commits else "not committed"
    return f"{mark.path} changed since ({how})"


def _digest(path: Path) -> str:
    """The digest of a file. Raises OSError if it is not a readable file."""
    if not path.is_file() or path.stat().st_size > LARGEST_BYTES:
        raise OSError(f"{path} is no file, or too large")
    return hashlib.sha256(path.read_bytes()).hexdigest()
