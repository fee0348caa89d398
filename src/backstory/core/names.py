"""Names as people type them: any beginning of an id that only one record has, as git knows it of commits, and assistants."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..domain.errors import InvalidInput
from ..domain.lazy import lazy_pattern
from ..readers import reader_names
from .engine import Engine

SHORTEST = 8
_RANDOM = lazy_pattern(r"[0-9a-f]{8}[0-9a-f-]{12,}")
"""Ids of ours, and of assistants that make them by chance: a beginning tells them apart."""


_UUID = lazy_pattern(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
CLOCK = 13
"""Characters of a UUID that count milliseconds, where it has a clock in it."""


def short_memory_id(id: str) -> str:
    """Of so many characters no two are alike by chance; an id that says something stays whole."""
    return id[: SHORTEST + 2] if _RANDOM.fullmatch(id) else id


def short_conversation_id(id: str) -> str:
    """The beginning of an assistant's UUID, so long that no other begins so, whether it was made by chance or by the
    clock; for who does not know the other conversations. An id that says something stays whole."""
    own = id.partition(":")[2]
    return own[:CLOCK] if _UUID.fullmatch(own) else id


class ConversationNames:
    """`claude-code:1af7fc5e-…` is found by its beginning, by that of the assistant's own id, and a subagent by that of
    its own part: `…/agent-9`."""

    def __init__(self, ids: Iterable[str]) -> None:
        self._ids = list(ids)

    def __contains__(self, name: str) -> bool:
        """Whether one is called so, not only begins so."""
        return any(name in _names(id) for id in self._holding(name))

    def find(self, text: str) -> list[str]:
        """The one that is called so, else all that begin so. A conversation comes before what it started."""
        likely = self._holding(text)
        if named := [id for id in likely if text in _names(id)]:
            return named
        begun = {id for id in likely if any(name.startswith(text) for name in _names(id))}
        return sorted(id for id in begun if not any(head in begun for head in _heads(id)))

    def short(self, id: str) -> str:
        """The shortest name that `find` knows it by; one that says something stays whole."""
        name = _names(id)[-1]
        alike = ConversationNames(self._holding(name[:SHORTEST]))  # none of the others can be meant
        if alike.find(name) != [id]:
            return id
        if len(name) <= 2 * SHORTEST:
            return name
        lengths = range(SHORTEST, len(name))
        return next((name[:length] for length in lengths if alike.find(name[:length]) == [id]), name)

    def _holding(self, text: str) -> list[str]:
        return [id for id in self._ids if text in id]


def beginnings(ids: Iterable[str]) -> set[str]:
    """What every conversation holds that one of these could be taken for, called by its short name."""
    return {_names(id)[-1][:SHORTEST] for id in ids}


def _names(id: str) -> list[str]:
    """The whole id, the assistant's own, and of a subagent its part."""
    own = id.partition(":")[2] or id
    return list(dict.fromkeys((id, own, own.rpartition("/")[2] or own)))


def _heads(id: str) -> Iterator[str]:
    while "/" in id:
        id = id.rpartition("/")[0]
        yield id


def known_source(engine: Engine, name: str) -> str:
    """An assistant, or a family of tools that memories are saved through, as people write it. Raises InvalidInput."""
    known = sorted({*reader_names(), *engine.store.entries.surfaces()})
    wanted = "-".join(name.lower().replace("_", " ").split())
    if wanted not in known:
        raise InvalidInput(
            f"There is no assistant {name!r}.", hint=f"Known: {', '.join(known)}.", field="assistant"
        )
    return wanted
