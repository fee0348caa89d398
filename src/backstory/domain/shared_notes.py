"""Memories that a team shares as files in its repository."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from .records import Memory, Trust

SURFACE = "team"
FOLDER = ".backstory/team"
"""Path relative to the root of the repository."""
IGNORE_TEXT = "/.gitignore\n/handoff/\n"
"""Content of `.backstory/.gitignore`: session handoffs are ignored by git, shared memories are not."""
FORMER_IGNORE_TEXT = "*\n"
"""Content that earlier versions wrote to that file."""
_FIELD = "team"


class NoteSource(NamedTuple):
    """The file and commit of a shared memory."""

    id: str
    """The id in the file, identical in every clone."""
    path: str
    commit: str
    """The last commit that changed the file."""
    author: str
    """The author of that commit."""
    about: tuple[str, ...] = ()
    """Patterns of the files that the memory is about."""


def as_metadata(source: NoteSource) -> dict[str, Any]:
    return {_FIELD: source._asdict() | {"about": list(source.about)}}


def source_of(memory: Memory) -> NoteSource | None:
    """Return the source of a shared memory, or None.

    Callers write metadata too, and only the trust shows that a memory is shared."""
    fields = memory.metadata.get(_FIELD)
    if memory.trust is not Trust.TEAM or not isinstance(fields, Mapping):
        return None
    return NoteSource(**{**fields, "about": tuple(fields["about"])})


def matches_path(patterns: Iterable[str], path: str) -> bool:
    """True if a path relative to the root matches one of the patterns. `*` matches within a part, `**` across parts."""
    parts = path.replace("\\", "/").split("/")
    return any(_matches(pattern.strip("/").split("/"), parts) for pattern in patterns)


def _matches(pattern: Sequence[str], parts: Sequence[str]) -> bool:
    if not pattern:
        return not parts
    if pattern[0] == "**":
        return any(_matches(pattern[1:], parts[place:]) for place in range(len(parts) + 1))
    return bool(parts) and fnmatchcase(parts[0], pattern[0]) and _matches(pattern[1:], parts[1:])
