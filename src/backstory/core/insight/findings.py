"""Findings: statements about many memories, each with the memories it rests on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from ...domain.census import HourTally
from ...domain.records import Memory, Priority

MOST_EVIDENCE = 8


class EvidenceItem(NamedTuple):
    """A memory that a statement rests on."""

    id: str
    key: str


class Finding(NamedTuple):
    kind: str
    statement: str
    times: int
    """The number of memories or occurrences behind it."""
    evidence: tuple[EvidenceItem, ...] = ()
    """The newest of them, at most eight."""
    priority: Priority | None = None
    """The urgency, if it asks for an action."""
    about: str = ""
    """The term, key, hour or series it is about."""


class Sample(NamedTuple):
    """The memories to analyse, all visible to the caller."""

    memories: tuple[Memory, ...]
    """The memories, newest first."""
    total: int
    """The total number; more than `memories` if there are very many."""
    saved_again: Mapping[str, int]
    """The number of times that each memory was saved again."""
    hours: tuple[HourTally, ...]
    events: tuple[tuple[int, int], ...]
    """Pairs of hours since 1970 and numbers of events."""
    last_events: tuple[EvidenceItem, ...]
    now: datetime
    since: datetime | None = None


class Confidence(NamedTuple):
    value: float
    reasoning: str


def sources(memories: Iterable[Memory]) -> tuple[EvidenceItem, ...]:
    newest = sorted(memories, key=lambda memory: (memory.updated_at, memory.id), reverse=True)
    return tuple(EvidenceItem(memory.id, memory.key or memory.id) for memory in newest[:MOST_EVIDENCE])


def by_focus(findings: Sequence[Finding], focus: Sequence[str]) -> list[Finding]:
    """Findings that mention a word of the focus first; otherwise in the given order."""
    return sorted(findings, key=lambda finding: not any(word in finding.statement.lower() for word in focus))


def confidence(sample: Sample, findings: Sequence[Finding]) -> Confidence:
    """Grows with the number of memories, and with the share of statements that more than one memory supports."""
    read = len(sample.memories)
    if not read:
        return Confidence(0.0, "There is nothing to look at: no visible item matches.")
    size = read / (read + 10)  # 10 items are worth half, 90 nine tenths
    backed = sum(finding.times > 1 for finding in findings)
    support = backed / len(findings) if findings else 0.0
    coverage = read / sample.total
    value = round(size * (0.4 + 0.6 * support) * coverage, 2)
    reasoning = (
        f"Looked at {read} of {sample.total} visible items (sample size counts {size:.2f}, coverage {coverage:.2f}); "
        f"{backed} of {len(findings)} statements rest on more than one item or time (support {support:.2f}). "
        f"Confidence = size x (0.4 + 0.6 x support) x coverage = {value:.2f}."
    )
    return Confidence(value, reasoning)
