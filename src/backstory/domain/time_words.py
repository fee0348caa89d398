"""The grammar of time: "two weeks ago", "last friday", "in march", "between 1 April and yesterday", ISO dates.

`find_time` searches a question for these words. `read_time` reads an argument such as `since` that contains nothing
else; it also accepts short forms such as `7d` and bare names such as `tuesday`. Days are in the time zone of `now`."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import NamedTuple

DAY, WEEK = timedelta(days=1), timedelta(weeks=1)
_NO_ERROR = timedelta(0)

_NUMBERS = {"a": 1, "an": 1, "one": 1, "two": 2, "a couple of": 2, "three": 3, "a few": 3, "several": 4, "four": 4, "five": 5, "six": 6, "seven": 7, "ten": 10}  # fmt: skip
_VAGUE = ("a couple of", "a few", "several")
_VAGUE_ERROR = 2 * DAY
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december")  # fmt: skip
_SAME = {
    "this morning": "today", "this afternoon": "today", "this evening": "today", "tonight": "today",
    "last night": "yesterday", "the day before yesterday": "day before yesterday", "weekend": "last weekend",
    "the weekend": "last weekend", "past day": "last 1 day", "past week": "last 1 week", "past month": "last 1 month",
    "past year": "last 1 year",
    "heute": "today", "gestern": "yesterday", "vorgestern": "day before yesterday", "letzte woche": "last week",
    "ayer": "yesterday", "la semana pasada": "last week", "la semaine dernière": "last week", "вчера": "yesterday",
    "сегодня": "today", "今天": "today", "今日": "today", "昨天": "yesterday", "昨日": "yesterday", "上周": "last week",
    "先週": "last week", "上个月": "last month", "先月": "last month", "오늘": "today", "어제": "yesterday", "지난주": "last week",
}  # fmt: skip
"""Synonyms of words that the rest of the grammar knows."""
_ERRORS = {
    "minute": timedelta(hours=2),
    "hour": timedelta(hours=2),
    "day": _NO_ERROR,
    "week": 2 * DAY,
    "month": 10 * DAY,
    "year": 60 * DAY,
}
"""The usual error of people's times, which grows with the distance."""
_LENGTHS = {"minute": timedelta(minutes=1), "hour": timedelta(hours=1), "day": DAY, "week": WEEK}
_MONTH_COUNTS = {"month": 1, "year": 12}
_SHORT = {"m": "minute", "min": "minute", "h": "hour", "d": "day", "w": "week", "mo": "month"}

_UNIT = "minute|hour|day|week|month|year"
_MONTH = "|".join(f"{month}|{month[:3]}" for month in _MONTHS)
_COUNT = rf"\d{{1,9}}|{'|'.join(sorted(_NUMBERS, key=len, reverse=True))}"
_MOMENTS = (
    r"(?P<iso>\d{4}-\d{2}-\d{2})",
    rf"(?:the )?(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? (?P<month>{_MONTH})\b(?:,? (?P<year>\d{{4}}))?",
    rf"(?P<month2>{_MONTH}) (?P<day2>\d{{1,2}})(?:st|nd|rd|th)?\b(?:,? (?P<year2>\d{{4}}))?",
    rf"(?P<whole>{'|'.join(_MONTHS)}) (?P<whole_year>\d{{4}})",
    rf"(?:last |this past |on )(?P<weekday>{'|'.join(_WEEKDAYS)})",
    rf"(?P<count>{_COUNT}) (?P<unit>{_UNIT})s? ago",
    rf"(?:the )?(?:last|past) (?P<length>{_COUNT}) (?P<length_unit>{_UNIT})s?",
    r"(?:the )?(?P<past>past (?:day|week|month|year))",
    r"(?P<named>(?:this|last) (?:week|month|year)|(?:the |last |this )?weekend|today|day before yesterday|yesterday|"
    rf"{'|'.join(sorted(_SAME, key=len, reverse=True))})",
)
_MOMENT = "|".join(_MOMENTS)
_SIGNS = (
    *"0123456789",
    *_MONTHS,
    *_WEEKDAYS,
    " ago",
    "last ",
    "past ",
    "this ",
    "weekend",
    "today",
    "yesterday",
    *_SAME,
)
"""Parts of which every time has one, in lower case. Few questions have any, and the pattern takes 25 ms to compile."""


@lru_cache(1)
def _moment_pattern() -> re.Pattern[str]:
    return re.compile(_MOMENT, re.IGNORECASE)


@lru_cache(1)
def _time_pattern() -> re.Pattern[str]:
    """Match a moment, and the words before it that give a side, such as "before"."""
    moment = re.sub(r"\(\?P<\w+>", "(?:", _MOMENT)
    end = r"(?!['’]s|[\w-])"
    unspaced = "|".join(each for each in _SAME if not each.isascii() and len(each) < 4)
    return re.compile(
        rf"\b(?:between|from) (?P<first>{moment}) (?:and|to|until|till) (?P<last>{moment}){end}"
        r"|\b(?:(?P<side>before|after|since|until) (?:the \w+ of )?|(?:on|in|from|of|at|during|over|within) )?"
        rf"(?:the (?:start|beginning|end) of )?(?P<moment>{moment})(?: (?:morning|afternoon|evening|night))?{end}"
        rf"|\b(?:(?P<side2>before|after|since|until)|in|during) (?P<bare>{'|'.join(_MONTHS)}|20\d\d){end}"
        rf"|(?P<unspaced>{unspaced})的?",
        re.IGNORECASE,
    )


class _Moment(NamedTuple):
    """A day, week, month or year; or an instant, where start and end are equal."""

    start: datetime
    end: datetime
    error: timedelta = _NO_ERROR
    """The possible error of the speaker."""


class TimeSpan(NamedTuple):
    """The time from `start` up to, but not including, `end`. None means unbounded."""

    start: datetime | None
    end: datetime | None


class TimeMention(NamedTuple):
    """Words of time in a question."""

    words: re.Match[str]
    is_before: bool
    """True for "before" or "until" a time, which may be a deadline."""
    span: TimeSpan
    """The time span, widened by people's imprecision: whole days, and more the longer ago."""


def find_time(query: str, now: datetime) -> TimeMention | None:
    """Find the first words of time in a question. Raises ValueError or OverflowError for a day that does not exist."""
    lowered = query.lower()
    if not any(sign in lowered for sign in _SIGNS):
        return None
    mention = _time_pattern().search(query)
    if mention is None or (span := _span(mention, now, _widened)) is None:
        return None
    return TimeMention(mention, _side(mention) in ("before", "until"), span)


def read_time(text: str, now: datetime) -> TimeSpan:
    """Parse a text that consists of a time, without widening it. Raises ValueError or OverflowError."""
    written = " ".join(text.split())
    moment = _short(written.lower(), now) or _iso(written, now) or _moment(written, now)
    if moment is not None:
        return TimeSpan(moment.start, moment.end)
    mention = _time_pattern().fullmatch(written)
    span = None if mention is None else _span(mention, now, lambda moment: (moment.start, moment.end))
    if span is None:
        raise ValueError(text)
    return span


def _side(mention: re.Match[str]) -> str:
    return (mention["side"] or mention["side2"] or "").lower()


def _span(
    mention: re.Match[str], now: datetime, ends: Callable[[_Moment], tuple[datetime, datetime]]
) -> TimeSpan | None:
    if mention["first"]:
        first, last = _moment(mention["first"], now), _moment(mention["last"], now)
        if first is None or last is None or ends(first)[0] >= ends(last)[1]:
            return None
        return TimeSpan(ends(first)[0], ends(last)[1])
    moment = _moment(mention["moment"] or mention["bare"] or mention["unspaced"], now)
    if moment is None:
        return None
    start, end = ends(moment)
    match _side(mention):
        case "before":
            return TimeSpan(None, start)
        case "until":
            return TimeSpan(None, end)
        case "after":
            return TimeSpan(end, None)
        case "since":
            return TimeSpan(start, None)
    return TimeSpan(start, end)


def _widened(moment: _Moment) -> tuple[datetime, datetime]:
    start, end, error = moment
    if _NO_ERROR < error < DAY:  # hours are relative to the current time, not to midnight
        return start - error, end + error
    first, last = _midnight(start), _midnight(end)
    if last < end or last == first:
        last += DAY
    return first - error, last + error


def _midnight(moment: datetime) -> datetime:
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


def _short(words: str, now: datetime) -> _Moment | None:
    """Parse `now`, `7d`, `-12h` or `30 days`."""
    if words == "now":
        return _Moment(now, now)
    mention = re.fullmatch(rf"-?({_COUNT}) ?(?:({'|'.join(_SHORT)})|({_UNIT})s?)", words)
    return None if mention is None else _ago(mention[1], _SHORT.get(mention[2] or "", mention[3]), now)


def _iso(written: str, now: datetime) -> _Moment | None:
    if re.fullmatch(r"\d{4}-\d{2}", written):
        first = datetime.fromisoformat(f"{written}-01").replace(tzinfo=now.tzinfo)
        return _Moment(first, _months_before(first, -1))
    if (
        len(written) > 40
        or not re.match(r"\d{4}-?[\dW]", written)
        or written[10:11] not in ("", "T", "t", " ")
    ):
        return None
    moment = datetime.fromisoformat(written.upper())
    moment = moment.replace(tzinfo=now.tzinfo) if moment.tzinfo is None else moment.astimezone(UTC)
    return _Moment(moment, moment + DAY if len(written) <= len("2026-03-01") else moment)


def _moment(text: str, now: datetime) -> _Moment | None:
    today, words = _midnight(now), text.lower()
    words = _SAME.get(words, words)
    if re.fullmatch(r"20\d\d", words):
        first = today.replace(year=int(words), month=1, day=1)
        return _Moment(first, first.replace(year=first.year + 1))
    if words in _MONTHS:
        first = today.replace(month=_MONTHS.index(words) + 1, day=1)
        return _month(first.replace(year=first.year - 1) if first > today else first)
    if words in _WEEKDAYS:
        return _weekday(words, today)
    mention = _moment_pattern().fullmatch(words)
    if mention is None:
        return None
    if mention["iso"] or mention["day"] or mention["day2"]:
        day = _date(mention, today)
        return _Moment(day, day + DAY)
    if mention["whole"]:
        month = _MONTHS.index(mention["whole"]) + 1
        return _month(today.replace(year=int(mention["whole_year"]), month=month, day=1))
    if mention["weekday"]:
        return _weekday(mention["weekday"], today)
    if mention["count"]:
        return _ago(mention["count"], mention["unit"], now)
    if mention["length"]:
        return _Moment(_ago(mention["length"], mention["length_unit"], now).start, now)
    if mention["past"]:
        return _moment(mention["past"], now)
    return _named(mention["named"], today)


def _weekday(name: str, today: datetime) -> _Moment:
    """Return the last such weekday before today."""
    day = today - ((today.weekday() - _WEEKDAYS.index(name)) % 7 or 7) * DAY
    return _Moment(day, day + DAY)


def _month(first: datetime) -> _Moment:
    return _Moment(first, _months_before(first, -1))


def _date(mention: re.Match[str], today: datetime) -> datetime:
    if mention["iso"]:
        return datetime.fromisoformat(mention["iso"]).replace(tzinfo=today.tzinfo)
    name = (mention["month"] or mention["month2"])[:3]
    month = next(number for number, each in enumerate(_MONTHS, 1) if each.startswith(name))
    year = mention["year"] or mention["year2"]
    day = today.replace(year=int(year or today.year), month=month, day=int(mention["day"] or mention["day2"]))
    return day.replace(year=day.year - 1) if not year and day > today else day


def _named(name: str, today: datetime) -> _Moment:
    week, month, year = today - today.weekday() * DAY, today.replace(day=1), today.replace(month=1, day=1)
    return {
        "today": _Moment(today, today + DAY),
        "yesterday": _Moment(today - DAY, today),
        "day before yesterday": _Moment(today - 2 * DAY, today - DAY),
        "this week": _Moment(week, week + WEEK),
        "last week": _Moment(week - WEEK, week),
        "this month": _month(month),
        "last month": _month(_months_before(month, 1)),
        "this year": _Moment(year, year.replace(year=year.year + 1)),
        "last year": _Moment(year.replace(year=year.year - 1), year),
        "this weekend": _Moment(week + 5 * DAY, week + WEEK),
        "last weekend": _Moment(week - 2 * DAY, week),
    }[name]


def _ago(count: str, unit: str, now: datetime) -> _Moment:
    number = _NUMBERS.get(count) or int(count)
    if unit in _MONTH_COUNTS:
        then = _months_before(now, number * _MONTH_COUNTS[unit])
    else:
        then = now - number * _LENGTHS[unit]
    return _Moment(then, then, _ERRORS[unit] + (_VAGUE_ERROR if count in _VAGUE else _NO_ERROR))


def _months_before(moment: datetime, months: int) -> datetime:
    """Return the same day of an earlier month, or the last day of that month."""
    year, month = divmod(moment.year * 12 + moment.month - 1 - months, 12)
    first = moment.replace(year=year, month=month + 1, day=1)
    following = (first + timedelta(days=31)).replace(day=1)
    return first.replace(day=min(moment.day, (following - DAY).day))
