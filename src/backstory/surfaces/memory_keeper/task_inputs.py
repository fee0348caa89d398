"""What a delegated task is given, read from its JSON: every field is known and checked, or named in an error."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Any, TypeVar

from ...core import Core
from ...core.insight.findings import EvidenceItem, Finding
from ...core.insight.terms import terms_of
from ...core.insight.work import Analysis, Analyze, InsightScope, Synthesis, Synthesize
from ...domain.errors import InvalidInput
from ...domain.records import Priority
from ...domain.when import parse_when
from ...tools.params import Json

DEEPEST = 5
LONGEST, SHORTEST = 40_000, 1

FIELDS: dict[str, tuple[str, ...]] = {
    "analyze": (
        "analysisType", "categories", "timeframe", "maxDepth", "entityTypes", "metrics", "includeAll",
    ),
    "synthesize": (
        "synthesisType", "maxLength", "categories", "analysisResults", "priorities", "includeMetrics",
        "includeLearnings",
    ),
}  # fmt: skip

Choice = TypeVar("Choice", bound=StrEnum)


def read_scope(core: Core, context: Any) -> InsightScope:
    """A session named in the context narrows; its other words are the focus."""
    if context is None:
        return InsightScope()
    session = context.get("sessionId") if isinstance(context, dict) else None
    if session is not None:
        if not isinstance(session, str):
            raise InvalidInput("context.sessionId must be of type string.", field="context")
        core.sessions.get(session)
    words = " ".join(text for text in _texts(context) if text != session)
    return InsightScope(session=session, focus=tuple(sorted(terms_of(words))))


def read_analysis(core: Core, given: Any, scope: InsightScope) -> Analyze:
    fields = _fields(given, "analyze")
    since = _text(fields, "timeframe")
    return Analyze(
        kind=_choice(fields, "analysisType", Analysis, Analysis.COMPREHENSIVE),
        scope=scope._replace(
            categories=_texts_of(fields, "categories"),
            since=None if since is None else parse_when(since, core.engine.now(), field="input.timeframe"),
        ),
        max_depth=_number(fields, "maxDepth", 2, 1, DEEPEST),
        entity_types=_texts_of(fields, "entityTypes"),
        metrics=_texts_of(fields, "metrics"),
        include_all=_flag(fields, "includeAll", default=False),
    )


def read_synthesis(given: Any, scope: InsightScope, found: Sequence[Finding]) -> Synthesize:
    """Findings of the steps before it come with those that are given as analysisResults."""
    fields = _fields(given, "synthesize")
    return Synthesize(
        kind=_choice(fields, "synthesisType", Synthesis, Synthesis.SUMMARY),
        scope=scope._replace(categories=_texts_of(fields, "categories")),
        longest=_number(fields, "maxLength", 4_000, SHORTEST, LONGEST),
        priorities=tuple(_priority(text) for text in _texts_of(fields, "priorities")),
        include_metrics=_flag(fields, "includeMetrics", default=True),
        include_learnings=_flag(fields, "includeLearnings", default=True),
        given=(*found, *_findings(fields.get("analysisResults"))),
    )


def _fields(given: Any, task: str) -> Json:
    if not isinstance(given, dict):
        raise InvalidInput(f"The input of {task} must be an object.", field="input")
    for name in given:
        if name not in FIELDS[task]:
            raise InvalidInput(
                f"{name} is not a known field of {task}.",
                hint=f"Known fields: {', '.join(FIELDS[task])}.",
                field=f"input.{name}",
            )
    return {name: value for name, value in given.items() if value is not None}


def _choice(fields: Json, name: str, choices: type[Choice], default: Choice) -> Choice:
    value = fields.get(name, default)
    if value not in list(choices):
        listed = ", ".join(choices)
        raise InvalidInput(f"{name} must be one of {listed}, not {value!r}.", field=f"input.{name}")
    return choices(value)


def _wrong(name: str, kind: str) -> InvalidInput:
    return InvalidInput(f"{name} must be of type {kind}.", field=f"input.{name}")


def _text(fields: Json, name: str) -> str | None:
    value = fields.get(name)
    if value is not None and not isinstance(value, str):
        raise _wrong(name, "string")
    return value


def _texts_of(fields: Json, name: str) -> tuple[str, ...]:
    value = fields.get(name, [])
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise _wrong(name, "array of strings")
    return tuple(value)


def _number(fields: Json, name: str, default: int, low: int, high: int) -> int:
    value = fields.get(name, default)
    if not isinstance(value, int) or isinstance(value, bool):
        raise _wrong(name, "integer")
    if not low <= value <= high:
        raise InvalidInput(f"{name} must be between {low} and {high}.", field=f"input.{name}")
    return value


def _flag(fields: Json, name: str, *, default: bool) -> bool:
    value = fields.get(name, default)
    if not isinstance(value, bool):
        raise _wrong(name, "boolean")
    return value


def _priority(text: str) -> Priority:
    if text not in list(Priority):
        raise InvalidInput(f"priorities must be of {', '.join(Priority)}, not {text!r}.", field="input.priorities")  # fmt: skip
    return Priority(text)


def _findings(results: Any) -> Iterator[Finding]:
    """Every statement in results of an earlier call, however they are wrapped."""
    if isinstance(results, list):
        for each in results:
            yield from _findings(each)
    elif isinstance(results, dict):
        if isinstance(results.get("statement"), str):
            yield _finding(results)
        else:
            for each in results.values():
                yield from _findings(each)


def _finding(shown: Json) -> Finding:
    count = shown.get("count")
    listed = shown.get("evidence")
    evidence = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    return Finding(
        kind=str(shown.get("kind", "finding")),
        statement=shown["statement"],
        times=count if isinstance(count, int) else len(evidence),
        evidence=tuple(EvidenceItem(str(each.get("id", "")), str(each.get("key", ""))) for each in evidence),
        about=str(shown.get("about", shown["statement"])),
    )


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)
