"""Words of time, project and assistant become filters; words that may be meant otherwise stay words."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backstory.domain import time_words
from backstory.domain.filters import Filter
from backstory.domain.when import parse_until, parse_when
from backstory.search.question import MARGIN, Question, QuestionPart, read_question

NOW = datetime(2026, 5, 6, 9, tzinfo=UTC)  # a Wednesday


def read(query: str, where: Filter | None = None) -> Question:
    projects = ("/home/me/shop", "/home/me/afi-core")
    return read_question(query, where or Filter(), NOW, lambda: projects, lambda: ("claude-code", "codex"))


def read_part(query: str, part: QuestionPart) -> Question:
    return read_question(query, Filter(), NOW, lambda: ("/home/me/shop",), tuple, parts=[part])


@pytest.mark.parametrize(
    ("query", "first", "last"),
    [
        ("what broke yesterday evening?", "2026-05-05", "2026-05-05"),
        ("what broke last Wednesday", "2026-04-29", "2026-04-29"),
        ("what broke on Monday", "2026-05-04", "2026-05-04"),
        ("what broke last week", "2026-04-27", "2026-05-03"),
        ("what broke two days ago", "2026-05-04", "2026-05-04"),
        ("what broke on 3 May", "2026-05-03", "2026-05-03"),
        ("what broke on December 24", "2025-12-24", "2025-12-24"),
        ("what broke on 2026-04-01", "2026-04-01", "2026-04-01"),
        ("what broke in March 2026", "2026-03-01", "2026-03-31"),
        ("what broke in March", "2026-03-01", "2026-03-31"),
        ("what broke in December", "2025-12-01", "2025-12-31"),
        ("what broke in 2025", "2025-01-01", "2025-12-31"),
        ("what broke last year", "2025-01-01", "2025-12-31"),
        ("what broke this morning", "2026-05-06", "2026-05-06"),
        ("what broke last night", "2026-05-05", "2026-05-05"),
        ("what broke the day before yesterday", "2026-05-04", "2026-05-04"),
        ("what broke over the weekend", "2026-05-02", "2026-05-03"),
        ("what broke in the last 7 days", "2026-04-29", "2026-05-06"),
        ("what broke within the past week", "2026-04-29", "2026-05-06"),
        ("what broke a few days ago", "2026-05-01", "2026-05-05"),
        ("what broke between 1 April and 20 April", "2026-04-01", "2026-04-20"),
        ("what broke from 2026-04-01 to yesterday", "2026-04-01", "2026-05-05"),
        ("what broke gestern", "2026-05-05", "2026-05-05"),
        ("昨天 what broke", "2026-05-05", "2026-05-05"),
    ],
)
def test_a_time_becomes_a_filter_and_leaves_the_words(query: str, first: str, last: str) -> None:
    question = read(query)
    assert question.query == "what broke"
    start = datetime.fromisoformat(first).replace(tzinfo=UTC)
    end = datetime.fromisoformat(last).replace(tzinfo=UTC) + timedelta(days=1)
    assert (question.where.created_after, question.where.created_before) == (start - MARGIN, end + MARGIN)
    assert first in question.understood[0]
    words = question.understood[0].partition("“")[2].partition("”")[0]
    assert parse_when(words, NOW, field="since") >= start
    assert parse_until(words, NOW, field="until") <= end


@pytest.mark.parametrize(
    "query",
    [
        "what must be done before December",
        "What needs to be ready until June?",
        "which tasks are due before 2026-06-01",
        "what do we have to ship before July?",
        "what will change until May 20",
        "who presents before 2026-07-01",
        "the launch on 2026-07-01",
    ],
)
def test_a_deadline_is_no_filter_on_the_past(query: str) -> None:
    assert read(query) == Question(query, Filter())


@pytest.mark.parametrize("query", ["what did we decide before April", "what broke until last week"])
def test_before_a_time_that_is_no_deadline_is_a_filter(query: str) -> None:
    assert read(query).where.created_before is not None


def test_only_the_parts_that_are_wanted_are_read() -> None:
    query = "what broke yesterday in the shop project"
    whole, timeless = read(query), read_part(query, QuestionPart.PROJECT)
    assert whole.where.projects == timeless.where.projects == ("/home/me/shop",)
    assert (timeless.where.created_after, timeless.query) == (None, "what broke yesterday")


def test_an_hour_is_of_the_clock_and_a_day_of_the_callers_zone() -> None:
    hours = read("what broke three hours ago").where
    assert hours.created_after == NOW - timedelta(hours=5) - MARGIN
    tokyo = NOW.replace(hour=20).astimezone(timezone(timedelta(hours=9)))  # the 7th already
    where = read_question("what broke today", Filter(), tokyo, tuple, tuple).where
    assert where.created_after == datetime(2026, 5, 6, 15, tzinfo=UTC) - MARGIN


def test_before_and_since_are_open_on_one_side() -> None:
    before = read("what broke before the release of 3 May").where
    assert (before.created_after, before.created_before) == (None, datetime(2026, 5, 3, tzinfo=UTC) + MARGIN)
    since = read("what broke since 2026-04-01").where
    assert (since.created_after, since.created_before) == (datetime(2026, 4, 1, tzinfo=UTC) - MARGIN, None)


@pytest.mark.parametrize(
    "query",
    [
        "today's browsers",
        "at the last update",
        "a skill in Codex",
        "parsing in the shop",
        "40 May",
        "what broke on 0001-01-01",
        "what broke on 9999-12-31",
        "yesterday",
        "what it may do",
        "a march of 2000 steps",
        "what broke between 40 May and 50 May",
    ],
)
def test_what_may_be_meant_otherwise_stays_words(query: str) -> None:
    assert read(query) == Question(query, Filter())


def test_a_project_and_an_assistant_are_filters_when_called_so() -> None:
    assert read("how are stubs kept in the afi-core project").where.projects == ("/home/me/afi-core",)
    assert read("which pull requests in the shop project").where.projects == ("/home/me/shop",)
    assert read("which pull requests on Monday in shop?").where.projects == ("/home/me/shop",)
    assert read("my session with Claude Code about login").where.surfaces == ("claude-code",)


def test_a_filter_that_was_given_is_not_overruled() -> None:
    given = Filter(created_after=NOW, projects=("/x",), surfaces=("codex",))
    assert read("what broke yesterday in the shop project", given) == Question(
        "what broke yesterday in the shop project", given
    )


def test_a_time_in_a_question_narrows_the_time_that_was_given() -> None:
    given = Filter(created_after=NOW - timedelta(days=60))
    assert read("what broke yesterday", given) == read("what broke yesterday")
    begun = Filter(created_after=NOW - timedelta(hours=30), created_before=NOW - timedelta(hours=20))
    assert read("what broke yesterday", begun).where.created_after == begun.created_after
    assert read("what broke yesterday", begun).where.created_before == begun.created_before
    past = Filter(created_before=NOW - timedelta(days=60))
    assert read("what broke yesterday", past) == Question("what broke yesterday", past)


@pytest.mark.parametrize("more", ["Traceback: no such table orders " * 20, "\nno\nsuch\ntable"])
def test_a_pasted_text_is_left_as_it_is(more: str) -> None:
    asked = "what broke in the last 30 days in the shop project"
    assert read(asked).where != Filter()
    assert read(asked + more) == Question(asked + more, Filter())


LETTERS = sorted({*time_words._MOMENT, *time_words._MOMENT.upper(), *"0123456789"})


@given(st.from_regex(time_words._time_pattern(), fullmatch=True, alphabet=st.sampled_from(LETTERS)))
def test_every_time_has_a_sign_that_is_looked_for_first(words: str) -> None:
    assert any(sign in words.lower() for sign in time_words._SIGNS)
