"""The course of a conversation as a column of marks: prompts, answers, tool calls, failures."""

from __future__ import annotations

from collections.abc import Iterable

from .view import Json

MAX_MARKS = 180
_KINDS = ("failed", "prompt", "tool", "answer")
"""From the most to the least striking: several messages of one mark show the first of these."""


def minimap(course: Iterable[tuple[int, str, bool]], end: int) -> Json:
    """At most `MAX_MARKS` marks, each for the same number of messages. `end` is the number of messages."""
    size = max(-(-end // MAX_MARKS), 1)
    ranks: dict[int, int] = {}
    firsts: dict[tuple[int, int], int] = {}
    for seq, role, is_failed in course:
        kind = "failed" if is_failed else {"user": "prompt", "tool": "tool"}.get(role, "answer")
        mark, rank = seq // size, _KINDS.index(kind)
        ranks[mark] = min(ranks.get(mark, rank), rank)
        firsts.setdefault((mark, rank), seq + 1)
    marks = [
        {"place": mark, "kind": _KINDS[rank], "number": firsts[mark, rank]}
        for mark, rank in sorted(ranks.items())
    ]
    return {"marks": marks, "size": size, "count": -(-end // size) if end else 0}
