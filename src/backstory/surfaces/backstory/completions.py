"""Completions of what is typed for a prompt or a resource template: names that begin so, and nothing that has to be searched."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

from ...core import Core
from ...domain.errors import InvalidInput
from ...domain.filters import Filter
from ...readers import reader_names
from ...tools import READS
from .vocabulary import surface

Json = dict[str, Any]

MOST = 100  # values in one answer, as the protocol has it


@surface.method("completion/complete", READS)
def complete(core: Core, ref: Json, argument: Json, context: Json | None = None) -> Json:
    """What may follow."""
    name, typed = argument.get("name"), argument.get("value", "")
    if not isinstance(name, str) or not isinstance(typed, str):
        raise InvalidInput("argument must have a name and a value, both texts.", field="argument")
    values = _values(core, name, typed)
    return {"completion": {"values": values[:MOST], "total": len(values), "hasMore": len(values) > MOST}}


def _values(core: Core, name: str, typed: str) -> list[str]:
    if name in ("project", "name"):
        return _projects(core, typed)
    if name == "file":
        return core.engine.store.traces.paths_beginning(typed, MOST + 1)
    if name == "id":
        return _ids(core, typed)
    if name == "for":
        return [each for each in reader_names() if each.startswith(typed.lower())]
    return []


def _projects(core: Core, typed: str) -> list[str]:
    """The last used first."""
    known = sorted(core.engine.store.entries.activity(), key=lambda each: each.last_at, reverse=True)
    names = dict.fromkeys(PurePath(each.project).name for each in known if each.project)
    return [name for name in names if name.lower().startswith(typed.lower())]


def _ids(core: Core, typed: str) -> list[str]:
    """Of memories that the caller may see, the last changed first."""
    if not typed:
        return [memory.id for memory in core.browsing.memories(Filter(), limit=20).memories]
    ids = tuple(core.engine.store.memories.ids_beginning(typed, MOST + 1))
    return [memory.id for memory in core.browsing.memories(Filter(ids=ids)).memories] if ids else []
