"""Insights about the workflow, from a session's own history."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ....core.insight.advice import errors_and_answers
from ....core.insight.patterns import (
    groups_of_errors,
    recurring_terms,
    rewritten_keys,
    times_seen,
)
from ....core.tasks import TASK
from ....domain.lazy import lazy_pattern
from ....domain.lines import one_line
from ....domain.records import Memory, Priority
from ..project.changes import Changes
from ..project.health import LARGE_CHANGE, Project, is_test
from .handoff import LONGEST_LINE
from .history import History
from .labels import TextLabel, labels

QUOTED = 120
MOST_NAMED = 5
LONG_STRETCH_MIN = 45
"""Number of minutes after which the document requires a checkpoint."""
MIN_TIMES = 3

_TEST_RUN = lazy_pattern(
    r"\b(?:pytest|unittest|tox|nox|jest|vitest|mocha|ctest|phpunit|rspec|(?:npm|yarn|pnpm|bun)\s+(?:run\s+)?test"
    r"|cargo\s+(?:nextest|test)|go\s+test|(?:mvnw?|gradlew?)\b.*\b(?:test|verify|check)|make\s+(?:test|check)|tests?)\b",
    re.IGNORECASE,
)

MAX_INSIGHTS = 10
_INSIGHTFUL = ("decision", "insight", "reflection", "learning")


class Workflow(NamedTuple):
    minutes: int
    checkpoints: int
    minutes_since_checkpoint: int | None
    saved: int
    by_category: tuple[tuple[str, int], ...]
    files: tuple[tuple[str, int], ...]
    """Files touched more than once, most often first, each with the number of times."""
    errors: tuple[tuple[str, int], ...]
    """Errors that occurred more than once."""
    test_runs: int
    changed_files: int
    changed_lines: int


def workflow(history: History, project: Project) -> Workflow:
    changes = project.changes
    categories = Counter(memory.category or "uncategorized" for memory in history.memories)
    return Workflow(
        minutes=history.minutes,
        checkpoints=len(history.checkpoints),
        minutes_since_checkpoint=history.minutes_since_checkpoint,
        saved=len(history.memories),
        by_category=_ranked(categories),
        files=_again(_touched(history, project)),
        errors=_again(_errors(history)),
        test_runs=_test_runs(history),
        changed_files=len(changes.files) if changes else 0,
        changed_lines=changes.lines if changes else 0,
    )


def suggestions(history: History, project: Project, seen: Workflow) -> list[str]:
    """Return suggestions for the workflow, each with the fact that supports it."""
    return [
        *_about_stretches(seen),
        *(f"{one_line(error, QUOTED)}: this error came up {times} times. Write down its cause before the next attempt." for error, times in seen.errors),
        *_about_files(seen.files),
        *_about_tests(history, project, seen),
        *_about_changes(seen),
    ]  # fmt: skip


def kept_changes(changes: Changes | None) -> dict[str, list[int]]:
    """Return the changed files in the form in which a checkpoint stores them for later comparison."""
    return {file.path: [file.added, file.removed] for file in changes.files[:200]} if changes else {}


def _touched(history: History, project: Project) -> Counter[str]:
    """Count how often each file was written, from the traces of assistants, or else from changes between
    checkpoints."""
    root = f"{project.root}/"
    written = Counter(did.value.removeprefix(root) for did in history.traces if did.kind == "written")
    states = [kept_changes(project.changes), *(event.data.get("files", {}) for event in history.checkpoints)]
    between: Counter[str] = Counter()
    for newer, older in zip(states, [*states[1:], {}], strict=True):
        between.update(path for path, lines in newer.items() if older.get(path) != lines)
    return written | between


def _errors(history: History) -> Counter[str]:
    counts = Counter(did.value for did in history.traces if did.kind == "error")
    for group in groups_of_errors(history.sample):
        counts[group[0].text] += times_seen(group, history.sample)
    return counts


def _test_runs(history: History) -> int:
    commands = [did.value for did in history.traces if did.kind == "command"]
    commands += [f"{event.tool} {event.type}" for event in history.reports]
    return sum(_TEST_RUN.search(command) is not None for command in commands)


def _about_stretches(seen: Workflow) -> list[str]:
    stretch = seen.minutes if seen.minutes_since_checkpoint is None else seen.minutes_since_checkpoint
    if stretch <= LONG_STRETCH_MIN:
        return []
    begin = "the last checkpoint" if seen.checkpoints else "the session began"
    return [
        f"{stretch} minutes have passed since {begin}, with {seen.changed_lines} lines changed now:"
        f" a checkpoint at least every {LONG_STRETCH_MIN} minutes keeps the steps small."
    ]


def _about_files(files: Sequence[tuple[str, int]]) -> list[str]:
    return [
        f"{file} was changed {times} times in this session: settle what it should do, or split it."
        for file, times in files
        if times >= MIN_TIMES
    ]


def _about_tests(history: History, project: Project, seen: Workflow) -> list[str]:
    """Return suggestions about tests, only if test runs would be visible in commands of assistants or reports of other
    tools."""
    sources = set(project.stack.sources)
    changed = [file.path for file in project.changes.files if file.path in sources] if project.changes else []
    watched = any(did.kind == "command" for did in history.traces) or bool(history.reports)
    if not watched or seen.test_runs or not changed or not project.tests:
        return []
    return [
        f"No test run was seen in this session, and {len(changed)} source files differ from the last commit: {_list(changed)}."
    ]


def _about_changes(seen: Workflow) -> list[str]:
    if seen.changed_lines <= LARGE_CHANGE:
        return []
    return [
        f"{seen.changed_lines} lines in {seen.changed_files} files are not committed: commit what is done, in parts."
    ]


def untested(changes: Changes | None, sources: Iterable[str]) -> bool:
    """True if source files were changed and no test file was."""
    changed = {file.path for file in changes.files} & set(sources) if changes else set()
    return bool(changed) and not any(map(is_test, changed))


def _again(counts: Counter[str]) -> tuple[tuple[str, int], ...]:
    return tuple(each for each in _ranked(counts) if each[1] > 1)[:MOST_NAMED]


def _ranked(counts: Counter[str]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


def _list(paths: Sequence[str]) -> str:
    more = len(paths) - MOST_NAMED
    return ", ".join(paths[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


class Learning(NamedTuple):
    insights: tuple[str, ...]
    """Decisions and reflections."""
    solutions: tuple[str, ...]
    """Errors with their solutions."""
    patterns: tuple[str, ...]
    """Recurring subjects."""


def learning(past: History, seen: Workflow, own: str) -> Learning:
    """Extract lessons. Memories saved through `own`, the surface of sessions, are insights unless they are tasks."""
    insights = [
        each for each in past.memories if is_insight(each) or (each.surface == own and each.category != TASK)
    ]
    return Learning(
        insights=tuple(one_line(each.text, LONGEST_LINE) for each in insights[:MAX_INSIGHTS]),
        solutions=(
            *(
                f"{one_line(group[0].text, QUOTED)} → {one_line(answer.text, QUOTED)}"
                for group, answer in errors_and_answers(past.sample)
                if answer is not None
            ),
            *_called(TextLabel.SOLUTION, insights),
        )[:MAX_INSIGHTS],
        patterns=(
            *_called(TextLabel.PATTERN, insights)[:MAX_INSIGHTS],
            *(f"This error came up {times} times: {one_line(error, QUOTED)}" for error, times in seen.errors),
            *(f"{file} was changed {times} times." for file, times in seen.files),
            *(finding.statement for finding in rewritten_keys(past.sample)[:MAX_INSIGHTS]),
            *(finding.statement for finding in recurring_terms(past.sample)[:MAX_INSIGHTS]),
        ),
    )


def _called(label: TextLabel, memories: Iterable[Memory]) -> list[str]:
    """Return the memories that have the label."""
    return [one_line(each.text, LONGEST_LINE) for each in memories if label in labels(each.text, each.tags)]


def is_insight(memory: Memory) -> bool:
    """True for an insightful category, a text without key and category, or a note of high priority.

    A text without key and category was saved for its own sake."""
    is_loose = memory.category is None and memory.key is None
    is_marked = memory.category in (None, "note") and memory.priority in (Priority.CRITICAL, Priority.HIGH)
    return memory.category in _INSIGHTFUL or is_loose or is_marked
