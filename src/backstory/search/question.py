"""Filters in a person's question: a time, a project or an assistant. Such words become a filter, and the answer
says how they were understood. Ambiguous words are not interpreted: `today's browsers` is not a day, and `a
skill in Codex` not a conversation with Codex."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from datetime import datetime, timedelta
from enum import Enum
from pathlib import PurePath
from typing import NamedTuple

from ..domain.filters import Filter
from ..domain.lazy import lazy_pattern
from ..domain.time_words import DAY, TimeMention, find_time

LONGEST_QUESTION, MOST_LINES = 400, 3
"""Maximum characters and lines of a typed question.

A longer text was pasted, and a log or an issue has times and projects of its own."""
MARGIN = timedelta(hours=6)
"""A day ends when people go to bed, and the clock that wrote a history may be another's."""

_ASSISTANT = (
    r"\b(?:conversation|session|chat|talk|discussion)s? (?:with|in) (?P<assistant>[\w-]+(?: code| cli)?)\b"
)
# work "before" a future month has a deadline; messages about it may be of any time
_TO_BE_DONE = lazy_pattern(
    r"\b(?:must|should|shall|ought|will|needs?|(?:have|has|going|remains?|left) to|to do|todos?|due|deadlines?|plan(?:s|ned)?|upcoming)\b",
    re.IGNORECASE,
)
_PROJECT = (
    r"\b(?:in|for|of|from) (?:the |our |my )?(?:(?:project|repo|repository) (?P<named>[\w.-]+)"
    r"|(?P<name>[\w.-]+) (?:project|repo|repository)\b)|\bin (?P<last>[\w.-]+)\W*$"
)


class QuestionPart(Enum):
    """The kinds of filters that a question may contain."""

    TIME = "time"
    ASSISTANT = "assistant"
    PROJECT = "project"


class Question(NamedTuple):
    query: str
    """The text to search for, without the words that became a filter."""
    where: Filter
    understood: tuple[str, ...] = ()
    """The understood filters in words for the caller; empty if there are none."""


def read_question(
    query: str,
    where: Filter,
    now: datetime,
    projects: Callable[[], Sequence[str]],
    assistants: Callable[[], Sequence[str]],
    *,
    parts: Collection[QuestionPart] = (*QuestionPart,),
) -> Question:
    """Read these parts of a question.

    The caller's own filters are not replaced, a time narrows them, and a pasted text is not interpreted."""
    question = Question(query, where)
    if len(query) > LONGEST_QUESTION or len(query.strip().splitlines()) > MOST_LINES:
        return question
    if QuestionPart.TIME in parts:
        question = _with_time(question, now)
    if QuestionPart.ASSISTANT in parts and not where.surfaces:
        question = _with_assistant(question, assistants)
    if QuestionPart.PROJECT in parts and not where.projects:
        question = _with_project(question, projects)
    return question


def _with_time(question: Question, now: datetime) -> Question:
    try:
        mention = find_time(question.query, now)
        words = "" if mention is None else _without(question.query, mention.words)
        if mention is None or not words or _is_deadline(mention, question.query, now):
            return question
        after, before = mention.span
        where = _narrowed(question.where, after and after - MARGIN, before and before + MARGIN)
        if where is None:
            return question
    except (ValueError, OverflowError):
        return question  # the 40th of May is no date, and nothing is before the first of all days
    days = " to ".join(f"{moment:%Y-%m-%d}" for moment in (after, before and before - DAY / 24) if moment)
    days = f"from {days}" if before is None else f"until {days}" if after is None else days
    return Question(words, where, (*question.understood, f"“{mention.words.group().strip()}” as {days}"))


def _narrowed(where: Filter, after: datetime | None, before: datetime | None) -> Filter | None:
    """The filter within these bounds and its own, such as the last 60 days; None if they have no time in common."""
    latest = max((each for each in (where.created_after, after) if each), default=None)
    earliest = min((each for each in (where.created_before, before) if each), default=None)
    if latest is not None and earliest is not None and latest >= earliest:
        return None
    return where._replace(created_after=latest, created_before=earliest)


def _is_deadline(mention: TimeMention, query: str, now: datetime) -> bool:
    """`What must be done before December` asks for no time in the past, and nothing was said yet in a time to come."""
    after, before = mention.span
    is_to_come = before is not None and before > now if after is None else after > now
    return is_to_come or (mention.is_before and _TO_BE_DONE.search(query) is not None)


def _with_assistant(question: Question, assistants: Callable[[], Sequence[str]]) -> Question:
    match = re.search(_ASSISTANT, question.query, re.IGNORECASE)
    if match is None:
        return question
    name = match["assistant"].lower().replace(" ", "-")
    known = [each for each in assistants() if each == name or each.startswith(f"{name}-")]
    if not known:
        return question
    where = question.where._replace(surfaces=tuple(known))
    words = _without(question.query, match) or question.query
    return Question(words, where, (*question.understood, f"“{match.group()}” as {' or '.join(known)}"))


def _with_project(question: Question, projects: Callable[[], Sequence[str]]) -> Question:
    """A project's name counts only after the word "project" or at the end of the question: the name may also be a
    package that other projects mention."""
    if not re.search(_PROJECT, question.query, re.IGNORECASE):
        return question
    by_name: dict[str, list[str]] = {}
    for project in projects():
        by_name.setdefault(PurePath(project).name.casefold(), []).append(project)
    for match in re.finditer(_PROJECT, question.query, re.IGNORECASE):
        name = (match["named"] or match["name"] or match["last"]).rstrip(".")
        if named := by_name.get(name.casefold()):
            where = question.where._replace(projects=tuple(named))
            words = _without(question.query, match) or question.query
            return Question(words, where, (*question.understood, f"“{match.group()}” as project {name}"))
    return question


def _without(query: str, match: re.Match[str]) -> str:
    return " ".join(f"{query[: match.start()]} {query[match.end() :]}".split()).strip(" ?.,!")
