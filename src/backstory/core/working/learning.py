"""What was learned in a session, in the words in which it was remembered."""

from __future__ import annotations

from typing import NamedTuple

from ...domain.lines import one_line
from ...domain.records import Memory, Priority
from ..insight.advice import errors_and_answers
from ..insight.patterns import recurring_terms, rewritten_keys
from .history import History
from .insights import QUOTED, Workflow

MOST = 10

_INSIGHTFUL = ("decision", "insight", "reflection", "learning")


class Learning(NamedTuple):
    insights: tuple[str, ...]
    """Decisions and reflections."""
    solutions: tuple[str, ...]
    """Errors with what settled them."""
    patterns: tuple[str, ...]
    """What came back again and again."""


def learning(past: History, seen: Workflow) -> Learning:
    return Learning(
        insights=tuple(one_line(memory.text, QUOTED) for memory in past.memories if _is_insight(memory))[
            :MOST
        ],
        solutions=tuple(
            f"{one_line(group[0].text, QUOTED)} → {one_line(answer.text, QUOTED)}"
            for group, answer in errors_and_answers(past.sample)
            if answer is not None
        )[:MOST],
        patterns=(
            *(
                f"This error came up {error.times} times: {one_line(error.what, QUOTED)}"
                for error in seen.errors
            ),
            *(f"{file.what} was changed {file.times} times." for file in seen.files),
            *(finding.statement for finding in rewritten_keys(past.sample)[:MOST]),
            *(finding.statement for finding in recurring_terms(past.sample)[:MOST]),
        ),
    )


def _is_insight(memory: Memory) -> bool:
    """A loose text was worth remembering for itself; an important note was marked so."""
    is_loose = memory.category is None and memory.key is None
    is_marked = memory.category in (None, "note") and memory.priority in (Priority.CRITICAL, Priority.HIGH)
    return memory.category in _INSIGHTFUL or is_loose or is_marked
