"""What cursors remember of conversations, without those that were forgotten.

A cursor of a log holds the title and the directory of each conversation that its reader may still add to. Nothing
that is told of a forgotten conversation is kept, so its reader needs none of that either.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from ...domain.sources import CONTEXT, SourceState
from ...readers import Source
from ...readers.formats.values import fingerprint
from .pieces import conversation_id

_CONVERSATIONS = ("conversations", "talks")
"""What a reader of logs calls them in its cursor, and called them once."""


def context_of(source: Source) -> str:
    """A fingerprint of what decides, besides a file's bytes, what is read of it; kept under CONTEXT."""
    return fingerprint(source.directory, source.beside) if source.directory or source.beside else ""


def contexts_of(source: Source, rules: str) -> tuple[str, str]:
    """The context of a file that was read whole, and of one of which something was left out by rules with this fingerprint: when
    the rules change it is read again."""
    context = context_of(source)
    return context, f"{context}:{rules}"


def conversations_in(source: SourceState) -> list[str]:
    """Those that the cursor remembers."""
    return [
        conversation_id(source.reader, id)
        for name in _CONVERSATIONS
        for id in source.state.get("mark", {}).get(name, {})
    ]


def without(source: SourceState, forgotten: Collection[str], titles: Collection[str] = ()) -> SourceState:
    """A file that tells of nothing else is read from its beginning when it grows: whatever else the cursor holds
    is about a forgotten conversation too."""
    if not (forgotten or titles):
        return source
    remembered = conversations_in(source)
    if remembered and all(id in forgotten for id in remembered):
        known = {CONTEXT: source.state[CONTEXT]} if CONTEXT in source.state else {}
        return source._replace(position=0, head="", tail="", state={"mark": {}, "stale": [], **known})
    mark = dict(source.state.get("mark", {}))
    for name in _CONVERSATIONS:
        if name in mark:
            mark[name] = {
                id: known
                for id, known in mark[name].items()
                if conversation_id(source.reader, id) not in forgotten
            }
    stale = [id for id in source.state.get("stale", []) if id not in forgotten]
    return source._replace(state=_blanked({**source.state, "mark": mark, "stale": stale}, frozenset(titles)))


def _blanked(value: Any, titles: frozenset[str]) -> Any:
    """Another conversation's log may tell what a forgotten one was called."""
    if isinstance(value, dict):
        return {name: _blanked(each, titles) for name, each in value.items()}
    if isinstance(value, list):
        return [_blanked(each, titles) for each in value]
    return "" if isinstance(value, str) and value in titles else value
