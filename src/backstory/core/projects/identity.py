"""The project of a directory that an assistant recorded: it may be deleted, or of another system."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ...domain.lazy import lazy_pattern
from ...readers.formats.paths import mounted, unmounted
from . import project_root

_WORKTREE = lazy_pattern(
    r"(?P<home>.*?)/(?:\.worktrees|\.(?P<keeper>[\w.-]+)/worktrees|(?P<name>[^/]+?)[._-]+worktrees)/(?P<rest>.+)"
)
"""The places where tools create worktrees: inside the repository, next to it under its name, or in the user's home
for all repositories. In the last case the repository's name is part of the rest."""
_INSIDE = (None, "claude")
"""Tools that create worktrees only inside their repository."""


class Identities:
    """The projects of directories, cached for one sync. `projects` are the known ones."""

    def __init__(self, platform: str, projects: Iterable[Path] = ()) -> None:
        self._is_windows = platform == "win32"
        self._known: dict[str, str] = {"": ""}
        self._names: dict[str, set[str]] = {}
        for path in projects:
            if not is_worktree(str(path)):
                self._names.setdefault(path.name, set()).add(str(path))

    def project_of(self, directory: str, before: str = "") -> str:
        """The project of a directory. All worktrees of a repository are one project, including deleted ones.

        Any other directory that no longer exists belongs to the project it did `before`, or is returned unchanged."""
        if directory not in self._known:
            self._known[directory] = self._find(directory)
        return self._known[directory] or before or self._here(directory)

    def _find(self, recorded: str) -> str:
        directory = self._here(recorded)
        try:
            return _existing(directory) or self._of_worktree(directory)
        except (OSError, ValueError):  # a ring of links, a name with a NUL
            return ""

    def _here(self, recorded: str) -> str:
        return unmounted(recorded) if self._is_windows else mounted(recorded)

    def _of_worktree(self, directory: str) -> str:
        """The repository of a deleted worktree; "" if it is not a worktree, or if several repositories match."""
        match = _WORKTREE.fullmatch(directory.replace("\\", "/"))
        if match is None:
            return ""
        home = directory[: match.end("home")]
        if name := match["name"]:
            beside = directory[: match.end("name")]
            return _existing(beside) or (beside if beside in self._names.get(name, ()) else "")
        if (Path(home) / ".git").exists():
            return _existing(home)
        for name in match["rest"].split("/")[:2]:  # `<id>/<repository>` or `<repository>/<id>`
            if len(paths := self._names.get(name, set())) == 1:
                return next(iter(paths))
        return (_existing(home) or home) if match["keeper"] in _INSIDE else ""


def is_worktree(directory: str) -> bool:
    """True if the directory is where tools create worktrees."""
    return _WORKTREE.match(directory.replace("\\", "/") + "/") is not None


def _existing(directory: str) -> str:
    path = Path(directory)
    return str(project_root(path)) if path.is_absolute() and path.is_dir() else ""
