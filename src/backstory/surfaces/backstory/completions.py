"""Completions for arguments of prompts and resource templates, by prefix and without a search.

Only values that the caller may see are offered."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import PurePath
from typing import Any, NamedTuple

from ...core import Core
from ...core.browsing import HEADS
from ...domain.errors import InvalidInput
from ...domain.filters import ConversationFilter, Filter, Kind
from ...domain.lazy import lazy_pattern
from ...domain.metadata import FILES, marks_of
from ...readers import reader_names
from ...tools import READS
from .documents import SCHEME, TEMPLATES
from .prompts import PROMPTS
from .vocabulary import surface

Json = dict[str, Any]

MOST_VALUES = 100  # the protocol's limit for one answer
MOST_COUNTED = 10_000
"""Maximum number of matching records to count. Beyond it, the answer contains no total."""

_VARIABLE = lazy_pattern(r"\{\??([\w,]+)\}")


class Matches(NamedTuple):
    values: list[str]
    total: int | None = None
    """None if the total is not known, in which case there are more values than these."""


@surface.method("completion/complete", READS)
def complete(core: Core, ref: Json, argument: Json, context: Json | None = None) -> Json:
    """Return values that complete the typed text."""
    name, typed = argument.get("name"), argument.get("value", "")
    if not isinstance(name, str) or not isinstance(typed, str):
        raise InvalidInput("argument must have a name and a value, both texts.", field="argument")
    known = _arguments(ref)
    if name not in known:
        raise InvalidInput(
            f"There is no argument {name!r} to complete.",
            hint=f"Known: {', '.join(known)}.",
            field="argument",
        )
    matches = _COMPLETED[known[name]](core, typed) if known[name] in _COMPLETED else Matches([], 0)
    values = matches.values[:MOST_VALUES]
    body: Json = {"values": values, "hasMore": matches.total is None or matches.total > len(values)}
    return {"completion": body if matches.total is None else {**body, "total": matches.total}}


def _arguments(ref: Json) -> dict[str, str]:
    """Return the arguments of the referenced prompt or template, each with its kind: a file, project, memory or
    session."""
    if ref.get("type") == "ref/prompt":
        prompt = PROMPTS.get(ref["name"]) if isinstance(ref.get("name"), str) else None
        if prompt is not None:
            return {prompt.argument.name: prompt.argument.name}
        raise InvalidInput(
            f"There is no prompt {ref.get('name')!r}.", hint=f"Known: {', '.join(PROMPTS)}.", field="ref"
        )
    if ref.get("type") == "ref/resource":
        for template, kind, _ in TEMPLATES:
            if ref.get("uri") in (f"{SCHEME}{template}", f"{SCHEME}{template.partition('{?')[0]}"):
                names = [name for some in _VARIABLE.findall(template) for name in some.split(",")]
                return {name: kind if name == "id" else name for name in names}
        raise InvalidInput(f"There is no resource template {ref.get('uri')!r}.", field="ref")
    raise InvalidInput("ref must have the type ref/prompt or ref/resource.", field="ref")


def _projects(core: Core, typed: str) -> Matches:
    """Match projects by name or path, most recently used first."""
    known = sorted(core.engine.store.entries.activity(), key=lambda each: each.last_at, reverse=True)
    paths = [each.project for each in known if each.project]
    names = dict.fromkeys(paths if "/" in typed or "\\" in typed else [PurePath(path).name for path in paths])
    return _counted(name for name in names if name.lower().startswith(typed.lower()))


def _files(core: Core, typed: str) -> Matches:
    """Match files that an assistant read or wrote or that memories are about, those of the caller's project first."""
    store = core.engine.store
    touched = store.traces.paths_beginning(
        typed, core.caller.visible(Filter(kinds=(Kind.MESSAGE,))), MOST_COUNTED
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
    total = None if len(touched) == MOST_COUNTED else len(own) + len(others)
    return Matches([*sorted(own), *others], total)


def _memory_ids(core: Core, typed: str) -> Matches:
    """Match ids of memories, most recently changed first."""
    ids = tuple(core.engine.store.memories.ids_beginning(typed, MOST_COUNTED)) if typed else ()
    if typed and not ids:
        return Matches([], 0)
    page = core.browsing.memories(Filter(ids=ids), limit=MOST_VALUES)
    return Matches([each.id for each in page.memories], None if len(ids) == MOST_COUNTED else page.total)


def _session_ids(core: Core, typed: str) -> Matches:
    """Match ids of conversations, most recently updated first, by the beginning of the full id or of the assistant's
    own."""
    ids = tuple(core.browsing.names().find(typed)) if typed else ()
    if typed and not ids:
        return Matches([], 0)
    which = core.caller.visible_conversations(ConversationFilter(ids=ids, kinds=() if typed else HEADS))
    room = core.engine.store.conversations
    return Matches([each.id for each in room.find(which, limit=MOST_VALUES)], room.count(which))


def _assistants(core: Core, typed: str) -> Matches:
    return _counted(name for name in reader_names() if name.startswith(typed.lower()))


def _counted(values: Iterable[str]) -> Matches:
    listed = list(values)
    return Matches(listed, len(listed))


_COMPLETED: dict[str, Callable[[Core, str], Matches]] = {
    "project": _projects,
    "name": _projects,
    "file": _files,
    "memory": _memory_ids,
    "session": _session_ids,
    "for": _assistants,
}
