"""Files that were edited for the same request as a statement."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from ...domain.statements import Statement
from ...store import Store
from ..engine import Engine


def files_by_statement(engine: Engine, statements: Sequence[Statement]) -> dict[str, list[str]]:
    """The files that were edited between a statement's request and the next request, by statement id."""
    store = engine.store
    prompts: dict[str, list[int]] = {}
    edited: dict[tuple[str, int], list[str]] = {}
    files: dict[str, list[str]] = {}
    for each in statements:
        if each.conversation not in prompts:
            prompts[each.conversation] = [place for place, _ in store.messages.prompts(each.conversation, 1)]
        # Statements come at the end of a turn and edits before it, so they are matched by their request.
        request = bisect_right(prompts[each.conversation], each.place)
        key = (each.conversation, request)
        if key not in edited:
            edited[key] = _edited(store, each.conversation, prompts[each.conversation], request)
        files[each.id] = edited[key]
    return files


def _edited(store: Store, conversation: str, prompts: Sequence[int], request: int) -> list[str]:
    first = prompts[request - 1] if request else 0
    end = prompts[request] if request < len(prompts) else store.messages.last_place(conversation) + 1
    traces = store.traces.of(conversation, range(first, end))
    return list(dict.fromkeys(trace.value for trace in traces if trace.kind == "written"))
