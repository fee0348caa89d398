"""Values that complete a typed text, by prefix and without a search: projects, files, ids and assistants.

Only values that the caller may see are offered."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple

from ..domain.filters import ConversationFilter, Filter, Kind
from ..domain.metadata import FILES, marks_of
from ..readers import reader_names
from .browsing import HEADS

if TYPE_CHECKING:
    from . import Core

MAX_VALUES = 100  # the limit of MCP for one answer
MAX_COUNTED = 10_000
"""Maximum number of matching records to count. Beyond it, the total is not known."""


class CompletedValues(NamedTuple):
    values: list[str]
    total: int | None = None
    """None if the total is not known, in which case there are more values than these."""


def projects(core: Core, typed: str) -> CompletedValues:
    """Match projects by name or path, most recently used first."""
    known = sorted(core.engine.store.entries.activity(), key=lambda each: each.last_at, reverse=True)
    paths = [each.project for each in known if each.project]
    names = dict.fromkeys(paths if "/" in typed or "\\" in typed else [PurePath(path).name for path in paths])
    return _counted(name for name in names if name.lower().startswith(typed.lower()))


def files(core: Core, typed: str) -> CompletedValues:
    """Match files that an assistant read or wrote or that memories are about, those of the caller's project first."""
    store = core.engine.store
    touched = store.traces.paths_beginning(
        typed, core.caller.visible(Filter(kinds=(Kind.MESSAGE,))), MAX_COUNTED
    )
    marked = {
        entry: marks_of(json.loads(metadata))
        for entry, metadata in store.memories.with_metadata(FILES).items()
    }
    visible = store.entries.outlines(marked, core.caller.visible(Filter()))
    plain = typed.replace("\\", "/").lower()
    about = {
        mark.path
        for outline in visible
        for mark in marked[outline.entry]
        if f"/{plain}" in f"/{mark.path}".lower()
    }
    root = f"{core.caller.project.rstrip('/')}/"
    own = {path.removeprefix(root) for path in touched if path.startswith(root)} | about
    others = [path for path in touched if not path.startswith(root) and path not in own]
    total = None if len(touched) == MAX_COUNTED else len(own) + len(others)
    return CompletedValues([*sorted(own), *others], total)


def memory_ids(core: Core, typed: str) -> CompletedValues:
    """Match ids of memories, most recently changed first."""
    ids = tuple(core.engine.store.memories.ids_beginning(typed, MAX_COUNTED)) if typed else ()
    if typed and not ids:
        return CompletedValues([], 0)
    page = core.browsing.memories(Filter(ids=ids), limit=MAX_VALUES)
    return CompletedValues(
        [each.id for each in page.memories], None if len(ids) == MAX_COUNTED else page.total
    )


def conversation_ids(core: Core, typed: str) -> CompletedValues:
    """Match ids of conversations, most recently updated first, by the beginning of the full id or of the assistant's
    own."""
    ids = tuple(core.browsing.names().find(typed)) if typed else ()
    if typed and not ids:
        return CompletedValues([], 0)
    which = core.caller.visible_conversations(ConversationFilter(ids=ids, kinds=() if typed else HEADS))
    room = core.engine.store.conversations
    return CompletedValues([each.id for each in room.find(which, limit=MAX_VALUES)], room.count(which))


def assistants(core: Core, typed: str) -> CompletedValues:
    return _counted(name for name in reader_names() if name.startswith(typed.lower()))


def _counted(values: Iterable[str]) -> CompletedValues:
    listed = list(values)
    return CompletedValues(listed, len(listed))
