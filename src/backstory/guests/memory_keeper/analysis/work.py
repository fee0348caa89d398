"""Requests for analyses and syntheses, and their reports."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from ....core.insight.findings import Confidence, Finding
from ....domain.records import Priority
from .narrative import Chapter
from .trends import Series


class Analysis(StrEnum):
    PATTERNS = "patterns"
    RELATIONSHIPS = "relationships"
    TRENDS = "trends"
    COMPREHENSIVE = "comprehensive"


class Synthesis(StrEnum):
    SUMMARY = "summary"
    RECOMMENDATIONS = "recommendations"
    NARRATIVE = "narrative"


class InsightScope(NamedTuple):
    """The items to analyse: everything that the caller may see, unless restricted."""

    session: str | None = None
    categories: tuple[str, ...] = ()
    since: datetime | None = None
    focus: tuple[str, ...] = ()
    """Words. Findings that mention them come first."""


class Analyze(NamedTuple):
    kind: Analysis
    scope: InsightScope = InsightScope()
    max_depth: int = 2
    entity_types: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    include_all: bool = False
    """If true, return every finding, not just the first of each kind."""


class Synthesize(NamedTuple):
    kind: Synthesis
    scope: InsightScope = InsightScope()
    longest: int = 4_000
    priorities: tuple[Priority, ...] = ()
    include_metrics: bool = True
    include_learnings: bool = True
    given: Sequence[Finding] = ()
    """Findings of an earlier analysis."""


class InsightReport(NamedTuple):
    kind: str
    findings: tuple[Finding, ...]
    confidence: Confidence
    looked_at: int
    total: int
    series: tuple[Series, ...] = ()
    text: str = ""
    chapters: tuple[Chapter, ...] = ()
    left_out: int = 0
    """Number of findings or memories that did not fit."""
