"""Names as people type them: any beginning of an id that only one record has, as git knows it of commits, and assistants."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ..domain.errors import InvalidInput
from ..domain.lazy import lazy_pattern
from ..readers import reader_names
from .engine import Engine

MIN_NAME_CHARS = 8
_RANDOM = lazy_pattern(r"[0-9a-f]{8}[0-9a-f-]{12,}")
"""Random ids, of ours and of assistants: a prefix identifies them."""


_UUID = lazy_pattern(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
CLOCK = 13
"""Characters of a UUID that count milliseconds, where it has a clock in it."""


def short_memory_id(id: str) -> str:
    """A prefix long enough to be unique among random ids; other ids are not shortened."""
    return id[: MIN_NAME_CHARS + 2] if _RANDOM.fullmatch(id) else id


def short_conversation_id(id: str) -> str:
    """A prefix of an assistant's UUID, long enough to be unique for random and time-based ids.

    For callers that do not know the other conversations. Other ids are not shortened."""
    own = id.partition(":")[2]
    return own[:CLOCK] if _UUID.fullmatch(own) else id


class ConversationNames:
    """`claude-code:1af7fc5e-…` is found by its beginning, by that of the assistant's own id, and a subagent by that of
    its own part: `…/agent-9`."""

    def __init__(self, ids: Iterable[str]) -> None:
        self._ids = list(ids)

    def __contains__(self, name: str) -> bool:
        """True if the text is a full name of a conversation, and not only a prefix."""
        return any(name in _names(id) for id in self._holding(name))

    def find(self, text: str) -> list[str]:
        """The conversation with this name, or all whose names begin with it. A conversation comes before its children."""
        return _meant(text, {id: _names(id) for id in self._holding(text)})

    def short(self, id: str) -> str:
        """The shortest name that `find` accepts for it; meaningful names are not shortened."""
        name = _names(id)[-1]
        # only ids with this beginning can be confused with it
        alike = {other: _names(other) for other in self._holding(name[:MIN_NAME_CHARS])}
        if _meant(name, alike) != [id]:
            return id
        if len(name) <= 2 * MIN_NAME_CHARS:
            return name
        for length in range(MIN_NAME_CHARS, len(name)):
            beginning = name[:length]
            alike = {other: names for other, names in alike.items() if beginning in other}
            if _meant(beginning, alike) == [id]:
                return beginning
        return name

    def _holding(self, text: str) -> list[str]:
        return [id for id in self._ids if text in id]


def beginnings(ids: Iterable[str]) -> set[str]:
    """Texts that the id of every conversation contains which could be confused with one of these."""
    return {_names(id)[-1][:MIN_NAME_CHARS] for id in ids}


def _names(id: str) -> list[str]:
    """The names of a conversation: its complete id, the assistant's own id, and for a subagent its own part of the id."""
    own = id.partition(":")[2] or id
    return list(dict.fromkeys((id, own, own.rpartition("/")[2] or own)))


def _meant(text: str, likely: Mapping[str, Sequence[str]]) -> list[str]:
    """The conversation with this name, or all with a name that begins with it, among ids with their names."""
    if named := [id for id, names in likely.items() if text in names]:
        return named
    begun = {id for id, names in likely.items() if any(name.startswith(text) for name in names)}
    return sorted(id for id in begun if not any(head in begun for head in _heads(id)))


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
