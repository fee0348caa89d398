"""How much a caller may do."""

from __future__ import annotations

from enum import IntEnum


class Scope(IntEnum):
    """Each includes those before it."""

    NONE = 0
    READ = 1
    WRITE = 2
    ADMIN = 3
    """Also what takes away everything at once."""

    @property
    def word(self) -> str:
        return self.name.lower()


def scope_of(words: list[str]) -> Scope:
    """The highest that is named; others' words count for nothing."""
    known = {scope.word: scope for scope in Scope}
    return max((known.get(word.removeprefix("backstory:"), Scope.NONE) for word in words), default=Scope.NONE)
