"""Removal of forgotten conversations from cursors.

The cursor of a log contains the title and directory of each conversation that its reader may still extend. A
forgotten conversation gets no new messages, so its reader does not need them.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from ...domain.sources import CONTEXT, SourceState
from ...readers import Source
from ...readers.formats.values import fingerprint
from .pieces import conversation_id

_CONVERSATIONS = ("conversations", "talks")
"""The cursor's key for conversations, and its former name."""


def context_of(source: Source) -> str:
    """A fingerprint of everything besides its bytes that affects how a file is read; stored under CONTEXT."""
    return fingerprint(source.directory, source.beside) if source.directory or source.beside else ""


def contexts_of(source: Source, rules: str) -> tuple[str, str]:
    """The context of a file that was read completely, and of a file from which rules with this fingerprint excluded parts.

    When the rules change, the second one changes, and the file is read again."""
    context = context_of(source)
    return context, f"{context}:{rules}"


def conversations_in(source: SourceState) -> list[str]:
    """The conversations in the cursor."""
    return [
        conversation_id(source.reader, id)
        for name in _CONVERSATIONS
        for id in source.state.get("mark", {}).get(name, {})
    ]


def without(source: SourceState, forgotten: Collection[str], titles: Collection[str] = ()) -> SourceState:
    """The state without forgotten conversations and without the given titles.

    If all conversations in the cursor are forgotten, the file is read from its beginning when it grows: the rest of
    the cursor is about forgotten conversations too."""
    if not (forgotten or titles):
        return source
    remembered = conversations_in(source)
    if remembered and all(id in forgotten for id in remembered):
        # The context stays, or the file would be due at every sync.
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
    """Replace titles of forgotten conversations by "": the log of another conversation may contain them."""
    if isinstance(value, dict):
        return {name: _blanked(each, titles) for name, each in value.items()}
    if isinstance(value, list):
        return [_blanked(each, titles) for each in value]
    return "" if isinstance(value, str) and value in titles else value
