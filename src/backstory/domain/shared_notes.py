"""Memories that a team shares as files of its repository."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from .records import Memory, Trust

SURFACE = "team"
FOLDER = ".backstory/team"
"""From the root of the repository."""
IGNORE_TEXT = "/.gitignore\n/handoff/\n"
"""Of `.backstory/.gitignore`: handoffs of sessions stay out of git, shared memories do not."""
FORMER_IGNORE_TEXT = "*\n"
"""What earlier versions wrote there."""
_FIELD = "team"


class NoteSource(NamedTuple):
    """Where a shared memory comes from."""

    id: str
    """The id in the file, which every clone has in common."""
    path: str
    commit: str
    """The last one that changed the file."""
    author: str
    """Of that commit."""
    about: tuple[str, ...] = ()
    """Patterns of the files it is about."""


def as_metadata(source: NoteSource) -> dict[str, Any]:
    return {_FIELD: source._asdict() | {"about": list(source.about)}}


def source_of(memory: Memory) -> NoteSource | None:
    """None for a memory that no team shares. Callers write metadata too, so their trust decides."""
    fields = memory.metadata.get(_FIELD)
    if memory.trust is not Trust.TEAM or not isinstance(fields, Mapping):
        return None
    return NoteSource(**{**fields, "about": tuple(fields["about"])})


def matches_path(patterns: Iterable[str], path: str) -> bool:
    """Whether a file, by its path from the root, is one of those that patterns name: `*` within a part, `**` across parts."""
    parts = path.replace("\\", "/").split("/")
    return any(_matches(pattern.strip("/").split("/"), parts) for pattern in patterns)


def _matches(pattern: Sequence[str], parts: Sequence[str]) -> bool:
    if not pattern:
        return not parts
    if pattern[0] == "**":
        return any(_matches(pattern[1:], parts[place:]) for place in range(len(parts) + 1))
    return bool(parts) and fnmatchcase(parts[0], pattern[0]) and _matches(pattern[1:], parts[1:])
