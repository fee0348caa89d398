"""List a project's files once: with git, which knows ignored files, else with a directory walk."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from ....core.projects.effort import Effort, device_of
from ....core.projects.git import git, names, printable
from ....domain.errors import NotAllowed, NotFound

MOST_NEW = 2_000
"""Maximum number of files to check for being new."""
MOST_FILES = 100_000
"""Maximum number of files. A survey says when there are more."""

VENDORED = frozenset(
    ("node_modules", "vendor", "third_party", "venv", "site-packages", "target", "dist", "build", "__pycache__", "bower_components", "Pods")
)  # fmt: skip
"""Directories with third-party or generated content."""

LARGEST_MANIFEST = 20_000_000


class Survey(NamedTuple):
    root: Path
    paths: tuple[str, ...]
    """Sorted paths relative to the root, with `/`."""
    is_whole: bool
    untracked: tuple[str, ...] = ()
    """Files that git does not track; all files without git."""

    def at_most(self, depth: int) -> list[str]:
        """Return the paths with at most `depth` parent directories."""
        return [path for path in self.paths if path.count("/") <= depth]

    def new_since(self, moment: datetime) -> list[str]:
        """Return the files that git does not track and that were written since, newest first."""
        since_s = int(moment.timestamp())  # some file systems record whole seconds only
        written = []
        for path in self.untracked[:MOST_NEW]:
            with suppress(OSError):  # deleted since it was listed
                written.append((-os.stat(self.root / path).st_mtime, path))
        return [path for age, path in sorted(written) if -age >= since_s]

    def text(self, path: str) -> str:
        """Return the text of a file; "" if it cannot be read as text."""
        return read_text(self.root / path)


def read_text(path: Path) -> str:
    try:
        return (read_beginning(str(path), LARGEST_MANIFEST) or b"").decode("utf-8-sig")
    except ValueError:
        return ""


def read_beginning(path: str, most: int) -> bytes | None:
    """Read the beginning of a file without blocking, because the name may belong to a pipe."""
    try:
        with open(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb", buffering=0) as file:
            return file.read(most)
    except OSError:
        return None  # deleted since it was listed, or not readable


def directory_of(name: str) -> Path:
    """Return the directory, which must exist and be readable."""
    try:
        path = Path(name).expanduser().resolve()
        is_directory = stat.S_ISDIR(path.stat().st_mode)
    except PermissionError:
        raise NotAllowed(f"{name} may not be looked at.", hint="Check its mode.") from None
    except (OSError, ValueError, RuntimeError):
        raise NotFound("project", name) from None
    if not is_directory:
        raise NotFound("project", name)
    if not os.access(path, os.R_OK | os.X_OK):
        raise NotAllowed(f"{path} may not be read.", hint="Check its owner and mode.")
    return path


def survey(root: Path, effort: Effort) -> Survey:
    words = ("ls-files", "-z", "-t", "--cached", "--others", "--exclude-standard")
    listed = git(root, *words, timeout_s=effort.left_s / 2)  # leave half of the time for a directory walk
    if listed is None:
        walked = _surveyed(root, _walked(root, effort), effort)
        return walked._replace(untracked=walked.paths)
    tagged = names(listed)
    known = _surveyed(root, (name[2:] for name in tagged), effort)
    unknown = {name[2:] for name in tagged if name.startswith("? ")}
    return known._replace(untracked=tuple(path for path in known.paths if path in unknown))


def _surveyed(root: Path, names: Iterable[str], effort: Effort) -> Survey:
    paths = sorted(_first(names))
    if len(paths) > MOST_FILES:
        effort.leave_out(f"There are more than {MOST_FILES:,} files; the rest was not looked at.")
    return Survey(root, tuple(paths[:MOST_FILES]), is_whole=not effort.left_out)


def _first(names: Iterable[str]) -> set[str]:
    """Return one path more than the limit, which shows that there are more.

    In a conflict, git lists a file three times."""
    paths: set[str] = set()
    for path in names:
        if len(paths) > MOST_FILES:
            break
        if path == printable(path):
            paths.add(path)
    return paths


def _walked(root: Path, effort: Effort) -> Iterator[str]:
    device, waiting = device_of(root), [""]
    while waiting and not effort.is_over():
        base = waiting.pop()
        for entry in effort.entries(f"{root}/{base}", device):
            if entry.is_dir(follow_symlinks=False):
                if _is_own(entry.name):
                    waiting.append(f"{base}{entry.name}/")
            elif not (entry.is_symlink() and entry.is_dir()):
                yield base + entry.name


def _is_own(folder: str) -> bool:
    return folder not in VENDORED and (not folder.startswith(".") or folder in (".github", ".circleci"))
