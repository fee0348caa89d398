"""Which project a directory belongs to that an assistant once recorded: it may be gone, or of another system."""

from __future__ import annotations

from pathlib import Path

from ...readers.formats.paths import mounted, unmounted
from . import project_root

_WORKTREES = "/.claude/worktrees/"


class Identities:
    """Remembers what it found out; good for one sync."""

    def __init__(self, platform: str) -> None:
        self._is_windows = platform == "win32"
        self._known: dict[str, str] = {"": ""}

    def project_of(self, directory: str) -> str:
        """All worktrees of a repository are one project. A directory that no longer exists is kept as recorded."""
        if directory not in self._known:
            self._known[directory] = self._find(directory)
        return self._known[directory]

    def _find(self, recorded: str) -> str:
        directory = unmounted(recorded) if self._is_windows else mounted(recorded)
        project, is_worktree, _ = directory.replace("\\", "/").partition(_WORKTREES)
        if is_worktree:
            directory = directory[: len(project)]
        path = Path(directory)
        try:
            return str(project_root(path)) if path.is_absolute() and path.is_dir() else directory
        except (OSError, ValueError):  # a ring of links, a name with a NUL
            return directory
