"""The query language: any text is a query, and what each form asks for."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backstory.domain.query import Comparison, Query, field_of, holds, looked_up, parse_query, says, sort_key


def words(query: Query) -> list[list[tuple[str, ...]]]:
    """The words of each clause, alternative by alternative."""
    return [[word for term in clause for word in (u.words for u in term.units)] for clause in query.clauses]


@pytest.mark.parametrize(
    ("text", "clauses"),
    [
        ("api key", [[("api",)], [("key",)]]),
        ('"api key"', [[("api", "key")]]),
        ("blocked OR waiting late", [[("blocked",), ("waiting",)], [("late",)]]),
        ("AUTH-1234", [[("auth", "1234")]]),
        ("user_name", [[("user", "name")]]),
        ("src/auth/token.py", [[("src", "auth", "token", "py")]]),
        ("認証", [[("認証",)]]),
        ("how did we fix the login", [[("fix",)], [("login",)]]),
        ("the", [[("the",)]]),
        ("OR", [[("or",)]]),
        ("OR a1 OR", [[("a1",)]]),
        ('"never closed', [[("never",)], [("closed",)]]),
        ("http://a1.b2 std::vector 12:30", [[("http", "a1", "b2")], [("std", "vector")], [("12", "30")]]),
        ("NEAR(x1 y1) ^z1", [[("near", "x1")], [("y1",)], [("z1",)]]),
        ('* - " ( ) :', []),
    ],
)
def test_words_must_all_match_and_alternatives_are_one_clause(text: str, clauses: list[Any]) -> None:
    assert words(parse_query(text)) == clauses


def test_a_minus_excludes_a_word_or_a_phrase() -> None:
    query = parse_query('login -draft -"old plan" well-known')
    assert [term.units[0].words for term in query.excluded] == [("draft",), ("old", "plan")]
    assert words(query) == [[("login",)], [("well", "known")]]


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("feature:user-management", Comparison("feature", "=", "user-management")),
        ('area:"front end"', Comparison("area", "=", "front end")),
        ("status:*", Comparison("status", "exists", "")),
        ("duration:>1000ms", Comparison("duration", ">", "1000ms")),
        ("size:<=1.5mb", Comparison("size", "<=", "1.5mb")),
        ("owner.name:anna", Comparison("owner.name", "=", "anna")),
    ],
)
def test_a_field_is_compared(text: str, field: Comparison) -> None:
    [[term]] = parse_query(text).clauses
    assert term.field == field


@pytest.mark.parametrize(
    ("value", "wanted", "expected"),
    [
        (1500, ">1000ms", True),
        ("1.5s", ">1000ms", True),
        ("900 ms", ">1s", False),
        (1000, ">=1000", True),
        ("2MB", "<3000kb", True),
        ("2h", ">90min", True),
        ("fast", ">1000ms", False),
        (True, ">0", False),
        ([10, 2000], ">1000", True),
        ("2024-02-01", ">2024-01-15", True),
        (None, ">1", False),
    ],
)
def test_quantities_are_compared_in_their_units(value: Any, wanted: str, expected: bool) -> None:
    [[term]] = parse_query(f"field:{wanted}").clauses
    assert term.field is not None
    assert holds({"field": value}, term.field) is expected


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        ({"area": "Frontend"}, True),
        ({"area": ["backend", "frontend"]}, True),
        ({"area": "front"}, False),
        ({}, False),
    ],
)
def test_a_field_equals_whatever_its_case_and_in_a_list(metadata: dict[str, Any], expected: bool) -> None:
    assert holds(metadata, Comparison("area", "=", "frontend")) is expected


def test_a_path_reaches_into_objects_and_a_whole_name_comes_first() -> None:
    assert field_of({"a": {"b": 1}}, "a.b") == 1
    assert field_of({"a.b": 2, "a": {"b": 1}}, "a.b") == 2
    assert field_of({"a": 1}, "a.b") is None


@pytest.mark.parametrize(
    ("query", "text", "expected"),
    [
        ("status:*", "status: done", True),
        ("status:*", "the status is unclear", False),
        ("duration:>1000ms", "took duration=1500ms today", True),
        ("duration:>1000ms", "duration: 900ms", False),
        ("configura*", "The configuration", True),
        ("configura*", "We configure it", False),
        ("cafe*", "Cafétéria", True),
        ("user*", "getUserName", True),
    ],
)
def test_a_text_says_what_the_index_can_only_guess(query: str, text: str, expected: bool) -> None:
    [[term]] = parse_query(query).clauses
    assert term.is_checked
    assert says(text, term) is expected


def test_a_long_beginning_is_looked_up_by_a_shorter_one() -> None:
    [[term]] = parse_query("configura*").clauses
    assert looked_up(term.units[0]).words == ("conf",)


def test_mixed_values_have_one_order() -> None:
    values = ["b", None, 3, "2s", "A", 10_000]
    assert sorted(values, key=sort_key) == [3, "2s", 10_000, "A", "b", None]


@given(st.text() | st.text(alphabet='ab*"-:>OR ().認'))
def test_any_text_is_a_query(text: str) -> None:
    parse_query(text)
