"""Combine findings into analyses and syntheses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ....core.graph import Graph
from ....core.insight.advice import recommendations
from ....core.insight.digest import Digest
from ....core.insight.findings import Finding, Sample, by_focus, confidence, sources
from ....core.insight.patterns import patterns
from ....domain.filters import Filter
from .narrative import as_markdown, narrative
from .relationships import relationships
from .trends import series_of, trends
from .work import Analysis, Analyze, InsightReport, Synthesis, Synthesize

FIRST = 5
"""Number of findings of each kind in a comprehensive analysis that does not request all."""

MOST_FINDINGS = 60
PASSED_ON = 10  # findings of an earlier step that a summary repeats


def analysis_report(task: Analyze, sample: Sample, graph: Graph, where: Filter) -> InsightReport:
    findings: list[Finding] = []
    series = []
    everything = task.kind is Analysis.COMPREHENSIVE
    if everything or task.kind is Analysis.PATTERNS:
        findings += patterns(sample)
    if everything or task.kind is Analysis.RELATIONSHIPS:
        findings += relationships(graph, where, sample, task.max_depth, task.entity_types)
    if everything or task.kind is Analysis.TRENDS:
        series = series_of(sample, task.metrics)
        findings += trends(series)
    first = FIRST if everything and not task.include_all else MOST_FINDINGS
    chosen = _fairly(by_focus(findings, task.scope.focus), first)
    return _report(task.kind, sample, chosen)._replace(
        series=tuple(series), left_out=len(findings) - len(chosen)
    )


def synthesis_report(task: Synthesize, sample: Sample, summary: Digest | None) -> InsightReport:
    if summary is not None:
        return _summary(sample, summary, task)
    if task.kind is Synthesis.NARRATIVE:
        chapters = narrative(
            sample, task.given, metrics=task.include_metrics, learnings=task.include_learnings
        )
        story = [
            Finding("chapter", each.title, len(each.evidence), each.evidence)
            for each in chapters
            if each.evidence
        ]
        report = _report(task.kind, sample, story)._replace(findings=())
        return report._replace(text=as_markdown(chapters), chapters=tuple(chapters))
    findings = task.given or [*patterns(sample), *trends(series_of(sample, ()))]
    advice = recommendations(sample, findings)
    wanted = [each for each in advice if not task.priorities or each.priority in task.priorities]
    chosen = _fairly(by_focus(wanted, task.scope.focus), MOST_FINDINGS)
    return _report(task.kind, sample, chosen)._replace(left_out=len(wanted) - len(chosen))


def _summary(sample: Sample, summary: Digest, task: Synthesize) -> InsightReport:
    finding = Finding("summary", "What the summary names.", len(summary.shown), sources(summary.shown))
    report = _report(task.kind, sample, [finding])._replace(findings=tuple(task.given[:PASSED_ON]))
    return report._replace(text=summary.text, left_out=summary.left_out)


def _fairly(findings: Sequence[Finding], first: int) -> list[Finding]:
    """Return the first findings of each kind that fit into a report: a hundred open tasks must not hide a single
    error."""
    for share in range(first, 0, -1):
        chosen = _first_of_each(findings, share)
        if len(chosen) <= MOST_FINDINGS:
            return chosen
    return _first_of_each(findings, 1)


def _first_of_each(findings: Sequence[Finding], share: int) -> list[Finding]:
    seen: Counter[str] = Counter()
    chosen = []
    for finding in findings:
        seen[finding.kind] += 1
        if seen[finding.kind] <= share:
            chosen.append(finding)
    return chosen


def _report(kind: str, sample: Sample, findings: Sequence[Finding]) -> InsightReport:
    return InsightReport(
        kind=kind,
        findings=tuple(findings),
        confidence=confidence(sample, findings),
        looked_at=len(sample.memories),
        total=sample.total,
    )
