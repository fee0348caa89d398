"""Find the local project that a record of another program's store belongs to."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ..core.projects import project_root
from ..core.projects.identity import Identities
from ..domain.lazy import lazy_pattern

_PATH = lazy_pattern(r"[/~]|[A-Za-z]:[\\/]")


class Owners:
    """Projects by name and directory, for one import. `known` are the projects of existing records."""

    def __init__(self, folder: Path | None, known: Iterable[str], platform: str) -> None:
        known = list(known)
        self._identities = Identities(platform, map(Path, known))
        self._folder = "" if folder is None else str(project_root(folder))
        self._named: dict[str, set[str]] = {}
        for project in known:
            self._named.setdefault(Path(project).name.lower(), set()).add(project)
        self._unmapped: dict[str, None] = {}

    @property
    def unmapped(self) -> tuple[str, ...]:
        """Names for which no directory is known, or several."""
        return tuple(self._unmapped)

    def project_of(self, name: str) -> str:
        """Return the project that contains a directory, or the only project with a name; otherwise the name itself."""
        if not name:
            return self._folder
        if _PATH.match(name):
            return self._identities.project_of(str(Path(name).expanduser()) if name[0] == "~" else name)
        projects = self._named.get(name.lower(), set())
        if len(projects) == 1:
            return next(iter(projects))
        self._unmapped[name] = None
        return name
