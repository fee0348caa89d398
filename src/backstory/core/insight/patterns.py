"""Patterns: recurring errors, tasks, keys and terms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from ...domain.categories import UNCATEGORIZED
from ...domain.lines import one_line
from ...domain.records import Memory, Priority
from ...domain.terms import are_alike, spelled, terms_of
from ..tasks import stale_tasks
from .findings import Finding, Sample, sources

MOST_TERMS = 12
MOST_ERRORS = 500  # are compared with each other
QUOTED = 100


def patterns(sample: Sample) -> list[Finding]:
    """Findings by urgency: errors, waiting tasks, changing keys; then recurring terms."""
    return [
        *repeated_errors(sample),
        *waiting_tasks(sample),
        *rewritten_keys(sample),
        *recurring_terms(sample),
        *busy_times(sample),
        *common_categories(sample),
    ]


def groups_of_errors(sample: Sample) -> list[list[Memory]]:
    """Groups of similar errors, oldest first in each group."""
    errors = [memory for memory in sample.memories if memory.category == "error"][:MOST_ERRORS]
    groups: list[list[Memory]] = []
    for error in reversed(errors):
        group = next((group for group in groups if are_alike(group[0], error)), None)
        if group is None:
            groups.append([error])
        else:
            group.append(error)
    return groups


def times_seen(group: Iterable[Memory], sample: Sample) -> int:
    return sum(1 + sample.saved_again.get(memory.id, 0) for memory in group)


def repeated_errors(sample: Sample) -> list[Finding]:
    counted = [(times_seen(group, sample), group) for group in groups_of_errors(sample)]
    repeated = sorted((pair for pair in counted if pair[0] > 1), key=lambda pair: (-pair[0], pair[1][0].id))
    return [
        Finding(
            kind="repeated error",
            statement=f"An error was reported {times} times: {one_line(group[0].text, QUOTED)}",
            times=times,
            evidence=sources(group),
            priority=Priority.HIGH,
            about=group[0].key or group[0].id,
        )
        for times, group in repeated
    ]


def waiting_tasks(sample: Sample) -> list[Finding]:
    return [
        Finding(
            kind="waiting task",
            statement=f"A task is open for {(sample.now - task.updated_at).days} days: {one_line(task.text, QUOTED)}",
            times=1,
            evidence=sources([task]),
            priority=task.priority,
            about=task.key or task.id,
        )
        for task in stale_tasks(sample.memories, sample.now)
    ]


def rewritten_keys(sample: Sample) -> list[Finding]:
    by_id = {memory.id: memory for memory in sample.memories}
    known = [(times, by_id[id]) for id, times in sample.saved_again.items() if id in by_id]
    often = sorted((pair for pair in known if pair[0] > 1), key=lambda pair: (-pair[0], pair[1].id))
    return [
        Finding(
            kind="changing key",
            statement=f"{memory.key} was saved {times + 1} times.",
            times=times + 1,
            evidence=sources([memory]),
            about=memory.key or memory.id,
        )
        for times, memory in often
    ]


def recurring_terms(sample: Sample) -> list[Finding]:
    """Words that occur in at least three items; two are enough if there are few."""
    least = 3 if len(sample.memories) >= 10 else 2
    memories: dict[str, list[Memory]] = {}
    for memory in sample.memories:
        for term in terms_of(f"{memory.key or ''} {memory.text}"):
            memories.setdefault(term, []).append(memory)
    often = sorted(
        (term for term in memories if len(memories[term]) >= least),
        key=lambda term: (-len(memories[term]), term),
    )
    return [_term(spelled(term, memories[term][0]), memories[term]) for term in often[:MOST_TERMS]]


def _term(term: str, memories: Sequence[Memory]) -> Finding:
    statement = f"{term} appears in {len(memories)} items."
    return Finding("recurring term", statement, len(memories), sources(memories), about=term)


def busy_times(sample: Sample) -> list[Finding]:
    """Hours of the day with at least twice their share of 24."""
    by_hour: dict[int, list[Memory]] = {}
    for memory in sample.memories:
        by_hour.setdefault(memory.created_at.hour, []).append(memory)
    total = len(sample.memories)
    busy = sorted(
        (hour for hour in by_hour if len(by_hour[hour]) >= 2 and len(by_hour[hour]) * 12 >= total),
        key=lambda hour: (-len(by_hour[hour]), hour),
    )
    return [
        Finding(
            kind="busy hour",
            statement=f"{_share(by_hour[hour], total)} of the items were saved between {hour:02d}:00 and {hour + 1:02d}:00 UTC.",
            times=len(by_hour[hour]),
            evidence=sources(by_hour[hour]),
            about=f"{hour:02d}:00",
        )
        for hour in busy[:3]
    ]


def common_categories(sample: Sample) -> list[Finding]:
    counts = Counter(memory.category or UNCATEGORIZED for memory in sample.memories)
    ranked = sorted(counts, key=lambda category: (-counts[category], category))
    return [
        _category(category, [m for m in sample.memories if (m.category or UNCATEGORIZED) == category], len(sample.memories))
        for category in ranked
    ]  # fmt: skip


def _category(category: str, memories: Sequence[Memory], total: int) -> Finding:
    statement = f"{_share(memories, total)} of the items are {category} ({len(memories)})."
    return Finding("category", statement, len(memories), sources(memories), about=category)


def _share(memories: Sequence[Memory], total: int) -> str:
    return f"{round(100 * len(memories) / total)} %"
