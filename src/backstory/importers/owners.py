"""Which of this machine's projects a record of another program's store belongs to."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ..core.projects import project_root
from ..core.projects.identity import Identities
from ..domain.lazy import lazy_pattern

_PATH = lazy_pattern(r"[/~]|[A-Za-z]:[\\/]")


class Owners:
    """Good for one import. `known` are the projects that other records belong to."""

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
        """Names that no directory is known for, or several."""
        return tuple(self._unmapped)

    def project_of(self, given: str) -> str:
        """Of a directory, the project it is in. Of a name, the one project that is called so, else the name."""
        if not given:
            return self._folder
        if _PATH.match(given):
            return self._identities.project_of(str(Path(given).expanduser()) if given[0] == "~" else given)
        projects = self._named.get(given.lower(), set())
        if len(projects) == 1:
            return next(iter(projects))
        self._unmapped[given] = None
        return given
