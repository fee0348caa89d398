"""Labels that a text gives itself by a tag or its opening ("TODO: …"): task, decision, error, solution or pattern."""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum

from ....domain.lazy import lazy_pattern


class TextLabel(StrEnum):
    TASK = "task"
    DECISION = "decision"
    ERROR = "error"
    SOLUTION = "solution"
    PATTERN = "pattern"


_NAMES = {
    TextLabel.TASK: "task tasks todo todos open-task open-tasks unfinished left-open still-open still-to-do"
    " next-step next-steps next-session follow-up followup",
    TextLabel.DECISION: "decision decisions decided",
    TextLabel.ERROR: "error errors bug bugs blocker blocked open-problem unsolved unresolved",
    TextLabel.SOLUTION: "solution solutions fix fixed fixes solved resolved workaround",
    TextLabel.PATTERN: "pattern patterns convention conventions best-practice best-practices",
}
_LABELS = {name: label for label, names in _NAMES.items() for name in names.split()}
# only at the beginning of a text: as tags, these words are topics
_OPENINGS = _LABELS | dict.fromkeys(("open", "next", "remaining", "pending"), TextLabel.TASK)
_OPENINGS |= dict.fromkeys(("done", "completed", "finished", "cancelled", "canceled"), TextLabel.TASK)
_OPENING = lazy_pattern(r"[\W_]*([^\W\d_][^\W\d_ -]*(?:[ -][^\W\d_]+){0,2})\s*:")
_SETTLED = lazy_pattern(
    r"\b(?:fixed|fixes|solved|solves|solution|resolved|resolves|workaround|root cause)\b", re.IGNORECASE
)


def labels(text: str, tags: Iterable[str]) -> frozenset[TextLabel]:
    """Return the labels of a text.

    A completed task is still a task; an error that the text resolves is not an error."""
    names = {_LABELS[name] for name in map(_normal, tags) if name in _LABELS}
    if opening := _OPENING.match(text[:80]):
        names |= {_OPENINGS[name] for name in [_normal(opening[1])] if name in _OPENINGS}
    if TextLabel.SOLUTION in names or _SETTLED.search(text):
        names.discard(TextLabel.ERROR)
    return frozenset(names)


def _normal(name: str) -> str:
    return re.sub(r"[\s_-]+", "-", name.strip(" #").lower())
