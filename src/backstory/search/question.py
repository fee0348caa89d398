"""What a person's question says besides what to look for: when it was, in which project, with which assistant.

Such words become a filter, and the answer says how they were understood. A word that may be meant otherwise is left
alone: `today's browsers` is no day, and `a skill in Codex` no conversation with it."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from datetime import datetime, timedelta
from enum import Enum
from pathlib import PurePath
from typing import NamedTuple

from ..domain.filters import Filter

DAY = timedelta(days=1)
MARGIN = timedelta(hours=6)
"""A day ends when people go to bed, and the clock that wrote a history may be another's."""

_NUMBERS = {"a": 1, "an": 1, "one": 1, "two": 2, "a couple of": 2, "three": 3, "a few": 3, "several": 4, "four": 4, "five": 5, "six": 6, "seven": 7, "ten": 10}  # fmt: skip
_ABOUT = ("a couple of", "a few", "several")
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december")  # fmt: skip
_SAME = {
    "this morning": "today", "this afternoon": "today", "this evening": "today", "tonight": "today",
    "last night": "yesterday", "the day before yesterday": "2 days ago", "weekend": "last weekend",
    "heute": "today", "gestern": "yesterday", "vorgestern": "2 days ago", "letzte woche": "last week",
    "ayer": "yesterday", "la semana pasada": "last week", "la semaine dernière": "last week", "вчера": "yesterday",
    "сегодня": "today", "今天": "today", "今日": "today", "昨天": "yesterday", "昨日": "yesterday", "上周": "last week",
    "先週": "last week", "上个月": "last month", "先月": "last month", "오늘": "today", "어제": "yesterday", "지난주": "last week",
}  # fmt: skip
"""Other ways to say what `_span` knows."""
_MONTH = "|".join(f"{month}|{month[:3]}" for month in _MONTHS)
_COUNT = rf"\d{{1,3}}|{'|'.join(sorted(_NUMBERS, key=len, reverse=True))}"
_MOMENTS = (
    r"(?P<iso>\d{4}-\d{2}-\d{2})",
    rf"(?:the )?(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? (?P<month>{_MONTH})\b(?:,? (?P<year>\d{{4}}))?",
    rf"(?P<month2>{_MONTH}) (?P<day2>\d{{1,2}})(?:st|nd|rd|th)?\b(?:,? (?P<year2>\d{{4}}))?",
    rf"(?P<whole>{'|'.join(_MONTHS)}) (?P<whole_year>\d{{4}})",
    rf"(?:last |this past |on )(?P<weekday>{'|'.join(_WEEKDAYS)})",
    rf"(?P<count>{_COUNT}) (?P<unit>hour|day|week|month|year)s? ago",
    rf"(?:the )?(?:(?:last|past) (?P<length>{_COUNT}) (?P<of>hour|day|week|month|year)s?|past (?P<past>day|week|month|year))",
    r"(?P<named>(?:this|last) (?:week|month|year)|(?:the |last |this )?(?P<weekend>weekend)|today|yesterday|"
    rf"{'|'.join(sorted(_SAME, key=len, reverse=True))})",
)
_MOMENT = "|".join(_MOMENTS)
_BARE_MOMENT = re.sub(r"\(\?P<\w+>", "(?:", _MOMENT)
_PART_OF_DAY = r"(?: (?:morning|afternoon|evening|night))?"
_END = r"(?!['’]s|[\w-])"
_TIME = re.compile(
    rf"\b(?:between|from) (?P<first>{_BARE_MOMENT}) (?:and|to|until|till) (?P<last>{_BARE_MOMENT}){_END}"
    r"|\b(?:(?P<side>before|after|since|until) (?:the \w+ of )?|(?:on|in|from|of|at|during|over|within) )?"
    rf"(?:the (?:start|beginning|end) of )?(?P<moment>{_BARE_MOMENT}){_PART_OF_DAY}{_END}"
    rf"|\b(?:(?P<side2>before|after|since|until)|in|during) (?P<bare>{'|'.join(_MONTHS)}|20\d\d){_END}"
    rf"|(?P<unspaced>{'|'.join(each for each in _SAME if not each.isascii() and len(each) < 4)})的?",
    re.IGNORECASE,
)
_ASSISTANT = (
    r"\b(?:conversation|session|chat|talk|discussion)s? (?:with|in) (?P<assistant>[\w-]+(?: code| cli)?)\b"
)
# what is still to be done before a month has a deadline; what was said of it may be of any time
_TO_BE_DONE = re.compile(
    r"\b(?:must|should|shall|ought|will|needs?|(?:have|has|going|remains?|left) to|to do|todos?|due|deadlines?|plan(?:s|ned)?|upcoming)\b",
    re.IGNORECASE,
)
_PROJECT = (
    r"\b(?:in|for|of|from) (?:the |our |my )?(?:(?:project|repo|repository) (?P<named>[\w.-]+)"
    r"|(?P<name>[\w.-]+) (?:project|repo|repository)\b)|\bin (?P<last>[\w.-]+)\W*$"
)


class QuestionPart(Enum):
    """What a question may say besides what to look for."""

    TIME = "time"
    ASSISTANT = "assistant"
    PROJECT = "project"


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
    *,
    parts: Collection[QuestionPart] = (*QuestionPart,),
) -> Question:
    """Read these parts of a question. A filter that the caller gave is not overruled."""
    question = Question(query, where)
    if QuestionPart.TIME in parts and where.created_after is None and where.created_before is None:
        question = _with_time(question, now)
    if QuestionPart.ASSISTANT in parts and not where.surfaces:
        question = _with_assistant(question, assistants)
    if QuestionPart.PROJECT in parts and not where.projects:
        question = _with_project(question, projects)
    return question


def _with_time(question: Question, now: datetime) -> Question:
    found = _TIME.search(question.query)
    if found is not None and _is_deadline(found, question.query):
        return question
    words = "" if found is None else _without(question.query, found)
    try:
        span = _spoken(found, now) if found is not None and words else None
        if found is None or span is None:
            return question
        after, before = span
        where = question.where._replace(
            created_after=after and after - MARGIN, created_before=before and before + MARGIN
        )
    except (ValueError, OverflowError):
        return question  # the 40th of May is no date, and nothing is before the first of all days
    said = " to ".join(f"{moment:%Y-%m-%d}" for moment in (after, before and before - DAY / 24) if moment)
    said = f"from {said}" if before is None else f"until {said}" if after is None else said
    return Question(words, where, (*question.understood, f"“{found.group().strip()}” as {said}"))


def _is_deadline(found: re.Match[str], query: str) -> bool:
    """`What must be done before December` asks for no time in the past."""
    side = (found["side"] or found["side2"] or "").lower()
    return side in ("before", "until") and _TO_BE_DONE.search(query) is not None


def _spoken(found: re.Match[str], now: datetime) -> tuple[datetime | None, datetime | None] | None:
    """From when and until when; raises ValueError where no such day is."""
    if found["first"]:
        first, last = _span(found["first"], now), _span(found["last"], now)
        return (first[0], last[1]) if first and last and first[0] < last[1] else None
    span = _span(found["moment"] or found["bare"] or found["unspaced"], now)
    if span is None:
        return None
    start, end = span
    side = (found["side"] or found["side2"] or "").lower()
    after = None if side in ("before", "until") else end if side == "after" else start
    before = start if side == "before" else None if side in ("after", "since") else end
    return after, before


def _span(text: str, now: datetime) -> tuple[datetime, datetime] | None:
    """Days are those of the zone that `now` has."""
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    moment = text.lower().removeprefix("the ") if text.lower().endswith("weekend") else text.lower()
    if moment in _SAME:
        moment = _SAME[moment]
    if moment.isdigit():
        first = today.replace(year=int(moment), month=1, day=1)
        return first, first.replace(year=first.year + 1)
    if moment in _MONTHS:
        first = today.replace(month=_MONTHS.index(moment) + 1, day=1)
        first = first.replace(year=first.year - 1) if first > today else first
        return first, _next_month(first)
    found = re.fullmatch(_MOMENT, moment, re.IGNORECASE)
    if found is None:
        return None
    if found["iso"] or found["day"] or found["day2"]:
        day = _date(found, today)
        return day, day + DAY
    if found["whole"]:
        first = today.replace(year=int(found["whole_year"]), month=_MONTHS.index(found["whole"]) + 1, day=1)
        return first, _next_month(first)
    if found["weekday"]:
        back = (today.weekday() - _WEEKDAYS.index(found["weekday"])) % 7 or 7
        return today - back * DAY, today - (back - 1) * DAY
    if found["count"]:
        return _ago(found["count"], found["unit"], now, today)
    if found["length"] or found["past"]:
        number = _number(found["length"] or "one")
        return today - number * _LENGTHS[found["of"] or found["past"]][0] * DAY, today + DAY
    return _named(found["named"], today)


def _next_month(first: datetime) -> datetime:
    return (first + 31 * DAY).replace(day=1)


def _date(found: re.Match[str], today: datetime) -> datetime:
    if found["iso"]:
        return datetime.fromisoformat(found["iso"]).replace(tzinfo=today.tzinfo)
    name = (found["month"] or found["month2"])[:3]
    month = next(number for number, each in enumerate(_MONTHS, 1) if each.startswith(name))
    year = found["year"] or found["year2"]
    day = today.replace(year=int(year or today.year), month=month, day=int(found["day"] or found["day2"]))
    return day.replace(year=day.year - 1) if not year and day > today else day


def _named(name: str, today: datetime) -> tuple[datetime, datetime]:
    week, month, year = today - today.weekday() * DAY, today.replace(day=1), today.replace(month=1, day=1)
    return {
        "today": (today, today + DAY),
        "yesterday": (today - DAY, today),
        "this week": (week, today + DAY),
        "last week": (week - 7 * DAY, week),
        "this month": (month, today + DAY),
        "last month": ((month - DAY).replace(day=1), month),
        "this year": (year, today + DAY),
        "last year": (year.replace(year=year.year - 1), year),
        "this weekend": (week + 5 * DAY, week + 7 * DAY),
        "last weekend": (week - 2 * DAY, week),
    }[name]


_LENGTHS = {"hour": (1 / 24, 0), "day": (1, 0), "week": (7, 2), "month": (30, 10), "year": (365, 60)}
"""Days, and how many days people are wrong by: the longer ago, the less exactly they count."""


def _number(count: str) -> int:
    return _NUMBERS.get(count) or int(count)


def _ago(count: str, unit: str, now: datetime, today: datetime) -> tuple[datetime, datetime]:
    days, slack = _LENGTHS[unit]
    if count in _ABOUT:
        slack += 2
    if unit == "hour":
        then = now - _number(count) * DAY / 24
        return then - DAY / 12, then + DAY / 12
    day = today - _number(count) * days * DAY
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
    """Where it is called a project, or the question ends with it: the same name may be a package, and what is asked be
    said elsewhere."""
    if not re.search(_PROJECT, question.query, re.IGNORECASE):
        return question
    by_name: dict[str, list[str]] = {}
    for project in projects():
        by_name.setdefault(PurePath(project).name.casefold(), []).append(project)
    for found in re.finditer(_PROJECT, question.query, re.IGNORECASE):
        name = (found["named"] or found["name"] or found["last"]).rstrip(".")
        if named := by_name.get(name.casefold()):
            where = question.where._replace(projects=tuple(named))
            words = _without(question.query, found) or question.query
            return Question(words, where, (*question.understood, f"“{found.group()}” as project {name}"))
    return question


def _without(query: str, found: re.Match[str]) -> str:
    return " ".join(f"{query[: found.start()]} {query[found.end() :]}".split()).strip(" ?.,!")
