"""What a person's question says besides what to look for: when it was, in which project, with which assistant.

Such words become a filter, and the answer says how they were understood. A word that may be meant otherwise is left
alone: `today's browsers` is no day, and `a skill in Codex` no conversation with it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import PurePath
from typing import NamedTuple

from ..domain.filters import Filter

DAY = timedelta(days=1)
MARGIN = timedelta(hours=12)
"""A day is the user's, whose midnight is not that of UTC."""

_NUMBERS = {
    "a": 1,
    "an": 1,
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "ten": 10,
}
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december")  # fmt: skip
_MONTH = "|".join(f"{month}|{month[:3]}" for month in _MONTHS)
_DATE = (
    r"(?P<iso>\d{4}-\d{2}-\d{2})"
    rf"|(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? (?P<month>{_MONTH})\b(?:,? (?P<year>\d{{4}}))?"
    rf"|(?P<month2>{_MONTH}) (?P<day2>\d{{1,2}})(?:st|nd|rd|th)?\b(?:,? (?P<year2>\d{{4}}))?"
)
_PART_OF_DAY = r"(?: (?:morning|afternoon|evening|night))?"
_TIME = re.compile(
    r"\b(?:(?P<side>before|after|since|until) (?:the \w+ of )?|(?:on|in|from|of|at|during) )?(?:the (?:start|beginning|end) of )?(?:"
    rf"{_DATE}"
    rf"|(?P<named>today|yesterday|this week|last week|this month|last month){_PART_OF_DAY}"
    rf"|(?:last |this past |on )(?P<weekday>{'|'.join(_WEEKDAYS)}){_PART_OF_DAY}"
    rf"|(?P<count>\d{{1,3}}|{'|'.join(_NUMBERS)}) (?P<unit>day|week|month)s? ago"
    r"|(?P<whole>" + "|".join(_MONTHS) + r") (?P<whole_year>\d{4})"
    r")(?!['’]s|[\w-])",
    re.IGNORECASE,
)
_ASSISTANT = (
    r"\b(?:conversation|session|chat|talk|discussion)s? (?:with|in) (?P<assistant>[\w-]+(?: code| cli)?)\b"
)
_PROJECT = (
    r"\b(?:in|for|of|from) (?:the |our |my )?(?:(?:project|repo|repository) (?P<named>[\w.-]+)"
    r"|(?P<name>[\w.-]+) (?:project|repo|repository)\b)"
)


class Question(NamedTuple):
    query: str
    """What to look for, without the words that became a filter."""
    where: Filter
    understood: tuple[str, ...] = ()
    """In words for the caller; empty when nothing was taken out."""


def read_question(
    query: str,
    where: Filter,
    now: datetime,
    projects: Callable[[], Sequence[str]],
    assistants: Callable[[], Sequence[str]],
) -> Question:
    """A filter that the caller gave is not overruled."""
    question = Question(query, where)
    if where.created_after is None and where.created_before is None:
        question = _with_time(question, now)
    if not where.surfaces:
        question = _with_assistant(question, assistants)
    if not where.projects:
        question = _with_project(question, projects)
    return question


def _with_time(question: Question, now: datetime) -> Question:
    found = _TIME.search(question.query)
    span = None if found is None else _span(found, now)
    if found is None or span is None:
        return question
    start, end = span
    side = (found["side"] or "").lower()
    after = None if side in ("before", "until") else end if side == "after" else start
    before = start if side == "before" else None if side in ("after", "since") else end
    words = _without(question.query, found)
    if not words:
        return question
    try:
        where = question.where._replace(
            created_after=after and after - MARGIN, created_before=before and before + MARGIN
        )
    except OverflowError:
        return question  # nothing is before the first of all days
    said = " to ".join(f"{moment:%Y-%m-%d}" for moment in (after, before and before - DAY) if moment)
    said = f"from {said}" if before is None else f"until {said}" if after is None else said
    return Question(words, where, (*question.understood, f"“{found.group().strip()}” as {said}"))


def _span(found: re.Match[str], now: datetime) -> tuple[datetime, datetime] | None:
    today = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    try:
        if found["iso"] or found["day"] or found["day2"]:
            day = _date(found, today)
            return day, day + DAY
        if found["named"]:
            return _named(found["named"].lower(), today)
        if found["weekday"]:
            back = (today.weekday() - _WEEKDAYS.index(found["weekday"].lower())) % 7 or 7
            return today - back * DAY, today - (back - 1) * DAY
        if found["count"]:
            return _ago(found["count"].lower(), found["unit"].lower(), today)
        first = datetime(int(found["whole_year"]), _MONTHS.index(found["whole"].lower()) + 1, 1, tzinfo=UTC)
        return first, (first + 31 * DAY).replace(day=1)
    except (ValueError, OverflowError):
        return None  # the 40th of May is no date


def _date(found: re.Match[str], today: datetime) -> datetime:
    if found["iso"]:
        return datetime.fromisoformat(found["iso"]).replace(tzinfo=UTC)
    name = (found["month"] or found["month2"]).lower()[:3]
    month = next(number for number, each in enumerate(_MONTHS, 1) if each.startswith(name))
    year = found["year"] or found["year2"]
    day = today.replace(year=int(year or today.year), month=month, day=int(found["day"] or found["day2"]))
    return day.replace(year=day.year - 1) if not year and day > today else day


def _named(name: str, today: datetime) -> tuple[datetime, datetime]:
    week, month = today - today.weekday() * DAY, today.replace(day=1)
    return {
        "today": (today, today + DAY),
        "yesterday": (today - DAY, today),
        "this week": (week, today + DAY),
        "last week": (week - 7 * DAY, week),
        "this month": (month, today + DAY),
        "last month": ((month - DAY).replace(day=1), month),
    }[name]


def _ago(count: str, unit: str, today: datetime) -> tuple[datetime, datetime]:
    """The longer ago, the less exactly people count."""
    number = _NUMBERS.get(count) or int(count)
    days, slack = {"day": (1, 0), "week": (7, 2), "month": (30, 10)}[unit]
    day = today - number * days * DAY
    return day - slack * DAY, day + (slack + 1) * DAY


def _with_assistant(question: Question, assistants: Callable[[], Sequence[str]]) -> Question:
    found = re.search(_ASSISTANT, question.query, re.IGNORECASE)
    if found is None:
        return question
    name = found["assistant"].lower().replace(" ", "-")
    known = [each for each in assistants() if each == name or each.startswith(f"{name}-")]
    if not known:
        return question
    where = question.where._replace(surfaces=tuple(known))
    words = _without(question.query, found) or question.query
    return Question(words, where, (*question.understood, f"“{found.group()}” as {' or '.join(known)}"))


def _with_project(question: Question, projects: Callable[[], Sequence[str]]) -> Question:
    """Only where it is called a project: the same name may be a package, and what is asked be said elsewhere."""
    if not re.search(_PROJECT, question.query, re.IGNORECASE):
        return question
    by_name: dict[str, list[str]] = {}
    for project in projects():
        by_name.setdefault(PurePath(project).name.casefold(), []).append(project)
    for found in re.finditer(_PROJECT, question.query, re.IGNORECASE):
        name = (found["named"] or found["name"]).rstrip(".")
        if named := by_name.get(name.casefold()):
            where = question.where._replace(projects=tuple(named))
            words = _without(question.query, found) or question.query
            return Question(words, where, (*question.understood, f"“{found.group()}” as project {name}"))
    return question


def _without(query: str, found: re.Match[str]) -> str:
    return " ".join(f"{query[: found.start()]} {query[found.end() :]}".split()).strip(" ?.,!")
