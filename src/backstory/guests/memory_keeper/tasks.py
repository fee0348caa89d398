"""Delegated tasks and their inputs: every field is known and checked, or named in an error."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, Any, NamedTuple

from ...core import Core
from ...core.insight.findings import EvidenceItem, Finding
from ...domain.errors import InvalidInput
from ...domain.lines import strings_in
from ...domain.records import Priority
from ...domain.terms import terms_of
from ...domain.when import parse_when
from ...tools import camel
from ...tools.params import Json, OneOf, Range, decode, read_params
from .analysis import Insight
from .analysis.work import (
    Analysis,
    Analyze,
    InsightReport,
    InsightScope,
    Synthesis,
    Synthesize,
)
from .fitting import LONGEST_SUMMARY


def read_scope(core: Core, context: Any) -> InsightScope:
    """Parse the context: a session restricts the scope, and all other words are the focus."""
    if context is None:
        return InsightScope()
    session = context.get("sessionId") if isinstance(context, dict) else None
    if session is not None:
        if not isinstance(session, str):
            raise InvalidInput("context.sessionId must be of type string.", field="context")
        core.sessions.get(session)
    words = " ".join(text for text in strings_in(context) if text != session)
    return InsightScope(session=session, focus=tuple(sorted(terms_of(words))))


class _Basis(NamedTuple):
    """The data that a task works on, besides its input."""

    core: Core
    scope: InsightScope
    found: Sequence[Finding]
    """Findings of the tasks before it."""


def _analyze(
    basis: _Basis,
    analysis_type: Annotated[str, OneOf(tuple(Analysis))] = Analysis.COMPREHENSIVE,
    categories: list[str] | None = None,
    timeframe: str | None = None,
    max_depth: Annotated[int, Range(low=1)] = 2,
    entity_types: list[str] | None = None,
    metrics: list[str] | None = None,
    include_all: bool = False,
) -> InsightReport:
    now = basis.core.engine.now()
    since = None if timeframe is None else parse_when(timeframe, now, field="timeframe")
    return Insight(basis.core).analyze(
        Analyze(
            kind=Analysis(analysis_type),
            scope=basis.scope._replace(categories=tuple(categories or ()), since=since),
            max_depth=max_depth,
            entity_types=tuple(entity_types or ()),
            metrics=tuple(metrics or ()),
            include_all=include_all,
        )
    )


def _synthesize(
    basis: _Basis,
    synthesis_type: Annotated[str, OneOf(tuple(Synthesis))] = Synthesis.SUMMARY,
    max_length: Annotated[int, Range(low=1)] = 4_000,
    categories: list[str] | None = None,
    analysis_results: Any = None,
    priorities: list[Annotated[str, OneOf(tuple(Priority))]] | None = None,
    include_metrics: bool = True,
    include_learnings: bool = True,
) -> InsightReport:
    """Run a synthesis. Findings of earlier steps are combined with those in `analysis_results`."""
    return Insight(basis.core).synthesize(
        Synthesize(
            kind=Synthesis(synthesis_type),
            scope=basis.scope._replace(categories=tuple(categories or ())),
            longest=min(max_length, LONGEST_SUMMARY),
            priorities=tuple(map(Priority, priorities or ())),
            include_metrics=include_metrics,
            include_learnings=include_learnings,
            given=(*basis.found, *_findings(analysis_results)),
        )
    )


_TASKS: dict[str, Callable[..., InsightReport]] = {"analyze": _analyze, "synthesize": _synthesize}
_PARAMS = {task: read_params(fn, camel) for task, fn in _TASKS.items()}
FIELDS = {task: {param.wire for param in params} for task, params in _PARAMS.items()}
"""Permitted input fields of each task. They are decoded like the arguments of a tool."""


def run_task(
    core: Core, task: str, task_input: Any, scope: InsightScope, findings: Sequence[Finding]
) -> InsightReport:
    if not isinstance(task_input, dict):
        raise InvalidInput(f"The input of {task} must be an object.", field="input")
    try:
        return _TASKS[task](_Basis(core, scope, findings), **decode(_PARAMS[task], task_input))
    except InvalidInput as error:
        error.field = f"input.{error.field}" if error.field else "input"
        raise


def _findings(results: Any) -> Iterator[Finding]:
    """Yield every statement in the results of an earlier call, however they are nested."""
    if isinstance(results, list):
        for each in results:
            yield from _findings(each)
    elif isinstance(results, dict):
        if isinstance(results.get("statement"), str):
            yield _finding(results)
        else:
            for each in results.values():
                yield from _findings(each)


def _finding(answer: Json) -> Finding:
    count = answer.get("count")
    listed = answer.get("evidence")
    evidence = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    return Finding(
        kind=str(answer.get("kind", "finding")),
        statement=answer["statement"],
        times=count if isinstance(count, int) else len(evidence),
        evidence=tuple(EvidenceItem(str(each.get("id", "")), str(each.get("key", ""))) for each in evidence),
        about=str(answer.get("about", answer["statement"])),
    )
