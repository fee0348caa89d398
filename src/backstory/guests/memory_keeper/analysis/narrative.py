"""A report in prose: decisions, problems and lessons, with dates and sources."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ....core.insight.digest import RANKS, urgent_first
from ....core.insight.findings import EvidenceItem, Finding, Sample, sources
from ....core.tasks import is_open_task
from ....domain.categories import JOURNAL, UNCATEGORIZED
from ....domain.lazy import lazy_pattern
from ....domain.lines import one_line
from ....domain.records import Memory

MOST_SENTENCES = 10
SENTENCE = 220

_LEARNED = lazy_pattern(r"\b(learn(ed|t|ing)|lesson|turns? out|turned out|root cause|realis|realiz|insight)", re.IGNORECASE)  # fmt: skip


class Chapter(NamedTuple):
    title: str
    text: str
    evidence: tuple[EvidenceItem, ...]


def narrative(
    sample: Sample, findings: Sequence[Finding], *, metrics: bool, learnings: bool
) -> list[Chapter]:
    """Return the chapters in reading order.

    Empty chapters are left out, except learnings, which callers request by name."""
    memories = sample.memories
    chapters = [
        _overview(sample, metrics=metrics),
        _chapter("Decisions", (m for m in memories if m.category == "decision")),
        _chapter("Progress", (m for m in memories if m.category == "progress")),
        _chapter("Problems", (m for m in memories if m.category in ("error", "warning"))),
        _chapter("Still open", (m for m in memories if is_open_task(m))),
        _learnings(memories) if learnings else None,
        _findings(findings),
    ]
    return [chapter for chapter in chapters if chapter is not None]


def as_markdown(chapters: Iterable[Chapter]) -> str:
    return "\n\n".join(f"## {chapter.title}\n\n{chapter.text}" for chapter in chapters)


def _overview(sample: Sample, *, metrics: bool) -> Chapter:
    if not sample.memories:
        return Chapter("Overview", "Nothing is saved here yet.", ())
    first = min(memory.created_at for memory in sample.memories)
    last = max(memory.updated_at for memory in sample.memories)
    text = f"The record runs from {first:%d %B %Y} to {last:%d %B %Y}."
    if metrics:
        counts = Counter(memory.category or UNCATEGORIZED for memory in sample.memories)
        listed = ", ".join(f"{counts[name]} {name}" for name in sorted(counts, key=lambda n: (-counts[n], n)))
        sessions = len({memory.session for memory in sample.memories})
        text += (
            f" It holds {len(sample.memories)} items in {sessions} session{'s' * (sessions != 1)}: {listed}."
        )
        if sample.total > len(sample.memories):
            text += f" {sample.total - len(sample.memories)} older items were not read."
    return Chapter("Overview", text, sources(sample.memories))


def _chapter(title: str, memories: Iterable[Memory]) -> Chapter | None:
    """Return a chapter with the most important memories, in chronological order."""
    ranked = urgent_first(memories)
    if not ranked:
        return None
    chosen = sorted(ranked[:MOST_SENTENCES], key=lambda m: (m.created_at, m.id))
    lines = [f"- On {m.created_at:%d %B %Y}: {_sentence(m)}" for m in chosen]
    if len(ranked) > len(chosen):
        lines.append(f"- … and {len(ranked) - len(chosen)} more of lower priority or older.")
    return Chapter(title, "\n".join(lines), sources(chosen))


def _sentence(memory: Memory) -> str:
    stress = f" ({memory.priority})" if RANKS[memory.priority] < 2 else ""
    name = f"{memory.key}: " if memory.key else ""
    return f"{name}{one_line(memory.summary or memory.text, SENTENCE)}{stress}"


def _learnings(memories: Sequence[Memory]) -> Chapter | None:
    if not memories:
        return None
    none = Chapter("Learnings", "No item says yet what was learned.", ())
    return _chapter("Learnings", (m for m in memories if _teaches(m))) or none


def _teaches(memory: Memory) -> bool:
    tagged = any(tag.lower() in ("learning", "lesson", "learned") for tag in memory.tags)
    return memory.category == JOURNAL or tagged or bool(_LEARNED.search(memory.text[:2_000]))


def _findings(findings: Sequence[Finding]) -> Chapter | None:
    if not findings:
        return None
    lines = [f"- {finding.statement}" for finding in findings[:MOST_SENTENCES]]
    evidence = dict.fromkeys(source for finding in findings[:MOST_SENTENCES] for source in finding.evidence)
    return Chapter("Findings", "\n".join(lines), tuple(evidence))
