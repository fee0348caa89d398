"""The repositories whose shared files this user trusts.

The list is stored outside of the repositories, so that none can add itself."""

from __future__ import annotations

import json
from pathlib import Path

from ...store.whole_files import write_whole

FILE = "team.json"


class TrustedRepositories:
    """The local clones of each trusted repository, by its identity."""

    def __init__(self, home: Path) -> None:
        self._path = home / FILE

    def all(self) -> dict[str, list[str]]:
        try:
            known = json.loads(self._path.read_bytes())
        except (OSError, ValueError):
            return {}
        return {identity: list(map(str, projects)) for identity, projects in known.items()}

    def add(self, identity: str, project: str) -> None:
        known = self.all()
        known[identity] = sorted({*known.get(identity, ()), project})
        self._write(known)

    def remove(self, identity: str) -> list[str]:
        """The projects that were its clones."""
        known = self.all()
        projects = known.pop(identity, [])
        self._write(known)
        return projects

    def _write(self, known: dict[str, list[str]]) -> None:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_whole(self._path, [json.dumps(known, indent=1)])
