"""Recommendations based on findings and open tasks, most urgent first."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ...domain.lazy import lazy_pattern
from ...domain.lines import one_line
from ...domain.records import Memory, Priority
from ...domain.terms import terms_of
from ..tasks import is_open_task, stale_tasks
from .digest import RANKS
from .findings import Finding, Sample, sources
from .patterns import QUOTED, groups_of_errors, times_seen

_FIXED = lazy_pattern(r"\b(fixed|fixes|resolved|resolves|solved|solves)\b", re.IGNORECASE)


def recommendations(sample: Sample, findings: Sequence[Finding]) -> list[Finding]:
    """Recommendations from the sample, and from earlier findings that it does not show."""
    advice = [
        *_urgent_tasks(sample),
        *_undecided_errors(sample),
        *_open_warnings(sample),
        *_waiting_tasks(sample),
        *_from_findings(findings),
    ]
    unique: dict[tuple[str, str], Finding] = {}
    for each in advice:
        unique.setdefault((each.kind, each.about), each)
    return sorted(unique.values(), key=lambda each: RANKS[each.priority or Priority.LOW])


def _urgent_tasks(sample: Sample) -> list[Finding]:
    urgent = [
        memory
        for memory in sample.memories
        if is_open_task(memory) and memory.priority in (Priority.CRITICAL, Priority.HIGH)
    ]
    return [_about("open task", f"Finish the {task.priority} task", task) for task in urgent]


def _undecided_errors(sample: Sample) -> list[Finding]:
    """Errors that came back, or are urgent, and that nothing settled."""
    advice = []
    for group, answer in errors_and_answers(sample):
        times = times_seen(group, sample)
        worst = min(group, key=lambda memory: RANKS[memory.priority]).priority
        serious = times > 1 or worst in (Priority.CRITICAL, Priority.HIGH)
        if serious and answer is None:
            often = f"the error that was reported {times} times" if times > 1 else f"the {worst} error"
            priority = worst if RANKS[worst] < RANKS[Priority.HIGH] else Priority.HIGH
            advice.append(
                Finding(
                    kind="undecided error",
                    statement=f"Decide what to do about {often}: {one_line(group[0].text, QUOTED)}",
                    times=times,
                    evidence=sources(group),
                    priority=priority,
                    about=group[0].key or group[0].id,
                )
            )
    return advice


def errors_and_answers(sample: Sample) -> list[tuple[list[Memory], Memory | None]]:
    """Groups of similar errors, each with the later decision, fix or finished task that mentions them, if any."""
    answers = [memory for memory in sample.memories if _settles(memory)]
    return [
        (group, next((answer for answer in answers if _answers(answer, group)), None))
        for group in groups_of_errors(sample)
    ]


def _settles(memory: Memory) -> bool:
    if memory.category in ("progress", "reflection"):
        return bool(_FIXED.search(memory.text))
    return memory.category == "decision" or (memory.category == "task" and not is_open_task(memory))


def _answers(answer: Memory, errors: Sequence[Memory]) -> bool:
    if answer.updated_at < errors[0].created_at:
        return False
    words = terms_of(f"{errors[0].key or ''} {errors[0].text}")
    shared = words & terms_of(f"{answer.key or ''} {answer.text}")
    return len(shared) >= 2 and len(shared) >= 0.3 * len(words)


def _open_warnings(sample: Sample) -> list[Finding]:
    return [
        _about("warning", f"Look into the {memory.priority} warning", memory)
        for memory in sample.memories
        if memory.category == "warning" and memory.priority in (Priority.CRITICAL, Priority.HIGH)
    ]


def _waiting_tasks(sample: Sample) -> list[Finding]:
    return [
        _about("waiting task", f"Finish, re-plan or drop the task untouched for {(sample.now - task.updated_at).days} days", task)
        for task in stale_tasks(sample.memories, sample.now)
        if task.priority not in (Priority.CRITICAL, Priority.HIGH)
    ]  # fmt: skip


def _about(kind: str, advice: str, memory: Memory) -> Finding:
    return Finding(
        kind=kind,
        statement=f"{advice}: {one_line(memory.text, QUOTED)}",
        times=1,
        evidence=sources([memory]),
        priority=memory.priority,
        about=memory.key or memory.id,
    )


def _from_findings(findings: Iterable[Finding]) -> list[Finding]:
    advice = []
    for finding in findings:
        if finding.kind == "rising trend" and finding.about in ("error", "errors", "warning", "warnings"):
            advice.append(
                _turned(finding, f"Find out why {finding.about} entries become more", Priority.HIGH)
            )
        elif finding.kind == "changing key":
            advice.append(_turned(finding, f"Settle {finding.about}, which keeps changing", Priority.NORMAL))
        elif finding.kind == "hub":
            advice.append(
                _turned(finding, f"Change {finding.about} with care, much depends on it", Priority.NORMAL)
            )
    return advice  # fmt: skip


def _turned(finding: Finding, advice: str, priority: Priority) -> Finding:
    return finding._replace(statement=f"{advice}: {finding.statement}", priority=priority)
