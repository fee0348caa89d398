"""Permissions of callers."""

from __future__ import annotations

from enum import IntEnum


class Scope(IntEnum):
    """A level of permission. Each includes the ones before it."""

    NONE = 0
    READ = 1
    WRITE = 2
    ADMIN = 3
    """Also permits deleting everything at once."""

    @property
    def word(self) -> str:
        return self.name.lower()


def scope_of(words: list[str]) -> Scope:
    """Return the highest scope named in `words`. Unknown words are ignored."""
    known = {scope.word: scope for scope in Scope}
    return max((known.get(word.removeprefix("backstory:"), Scope.NONE) for word in words), default=Scope.NONE)
