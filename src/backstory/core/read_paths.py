"""Files that this process has read but not yet rendered into briefs. Hooks must not treat them as known before
that."""

from __future__ import annotations

from collections.abc import Sequence

StampedPath = tuple[str, int, int]
"""Path, size and time of the last change in ns."""


class ReadPaths:
    """The state of paths before they were read, by reader."""

    def __init__(self) -> None:
        self._paths: dict[str, Sequence[StampedPath]] = {}

    def note(self, reader: str, paths: Sequence[StampedPath]) -> None:
        self._paths[reader] = paths

    def take(self) -> dict[str, Sequence[StampedPath]]:
        """All of it, for the caller that renders the briefs now."""
        paths, self._paths = self._paths, {}
        return paths
