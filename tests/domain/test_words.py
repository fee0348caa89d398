"""Words: what a query asks for, and what a text offers besides its plain words."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from backstory.domain.words import MOST_TOGETHER, MOST_UNITS, Unit, indexed_text, query_units


def required(query: str) -> list[str]:
    return [" ".join(unit.words) for unit in query_units(query) if not unit.is_bonus]


def bonuses(query: str) -> list[str]:
    return [" ".join(unit.words) for unit in query_units(query) if unit.is_bonus]


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("plain words, and MORE of them.", ""),
        ("src/backstory/store.py", ""),
        ("AUTH-1234", ""),
        ("getUserName", "get User Name"),
        ("XMLHttpRequest", "XML Http Request"),
        ("parseHTTP", "parse HTTP"),
        ("utf8Decoder", "utf 8 Decoder"),
        ("user_name", "username"),
        ("__init__", ""),
        ("MAX_PAGE_COUNT", "MAXPAGECOUNT"),
        ("get_userName", "user Name getuserName"),
        ("東京都", "東京 京都 都"),
        ("猫", "猫"),
        ("東京 tower 大阪", "東京 京 大阪 阪"),
        ("한국어", "한국 국어 어"),
    ],
)
def test_a_text_offers_the_words_inside_its_names_and_scripts(text: str, terms: str) -> None:
    assert indexed_text(text).split() == [*text.split(), *terms.split()]


@pytest.mark.parametrize(
    ("query", "asked"),
    [
        ("jwt expiry", ["jwt", "expiry"]),
        ("How is the JWT made?", ["jwt", "made"]),
        ("to be or not to be", ["to", "be", "or", "not"]),
        ("JWT jwt Jwt", ["jwt"]),
        ("AUTH-1234", ["auth", "1234", "auth 1234"]),
        ("src/store.py", ["src", "store", "py", "src store py"]),
        ("user_name", ["user", "name", "user name", "username"]),
        ("getUserName", ["getusername"]),
        ('"rate limit" reached', ["rate", "limit", "rate limit", "reached"]),
        ('"unbalanced quote', ["unbalanced", "quote"]),
        ("東京都", ["東京", "京都"]),
        ("猫", ["猫"]),
        ("猫 cat", ["猫", "cat"]),
        ("", []),
        (" \n\t ", []),
        ("?! -- ...", []),
        ("___", []),
    ],
)
def test_a_query_asks_for_its_words(query: str, asked: list[str]) -> None:
    assert sorted(required(query)) == sorted(asked)


def test_a_single_character_asks_for_any_pair_that_begins_with_it() -> None:
    assert query_units("猫") == [Unit(("猫",), is_prefix=True)]


def test_the_parts_of_a_name_are_a_bonus() -> None:
    assert bonuses("getUserName") == ["get", "user", "name"]


def test_words_side_by_side_are_a_small_bonus() -> None:
    pairs = [unit for unit in query_units("red green blue") if len(unit.words) == 2]
    assert pairs == [
        Unit(("red", "green"), is_bonus=True),
        Unit(("green", "blue"), is_bonus=True),
    ]


def test_words_that_every_text_has_make_no_pairs() -> None:
    assert bonuses("the name of the rose") == []


def test_a_phrase_of_stop_words_is_still_asked_for() -> None:
    assert "to be" in required('"to be" rose')


def test_a_pasted_log_is_answered_by_its_first_words() -> None:
    units = query_units(" ".join(f"word{n}" for n in range(10_000)))
    assert len(units) == MOST_UNITS
    assert units[0].words == ("word0",)


@given(st.text())
@example("İstanbul ǅ ß ŉ")
@example("²³ ½ Ⅷ ٣")
@example("\ud83d")
def test_any_text_gives_units_that_can_be_asked_for(query: str) -> None:
    units = query_units(query)
    assert len(units) <= MOST_UNITS
    assert len({unit.words for unit in units}) == len(units)
    for unit in units:
        assert unit.words
        assert all(word and not set(word) & set('"* \t\n_') for word in unit.words)
        assert 0 < unit.weight <= 1


@given(st.text())
def test_any_text_offers_terms_made_of_its_own_characters(text: str) -> None:
    assert set(indexed_text(text)) - {" "} <= set(text)


LONG = 400_000


@pytest.mark.parametrize(
    "text",
    [
        "a" * LONG,
        "a" * LONG + "_",
        "a" * LONG + "B",
        "A" * LONG + "b",
        "aB" * (LONG // 2),
        "a_" * (LONG // 2),
        "a" + "_" * LONG,
        "_" * LONG,
        '"' * LONG,
        "東" * LONG,
        "1" * LONG + "_a",
    ],
    ids=lambda text: f"{text[:4]}…{text[-2:]}",
)
def test_a_long_run_without_a_space_is_read_in_linear_time(text: str) -> None:
    """Quadratic work on any of these would run for hours."""
    indexed_text(text)
    query_units(text)


def test_a_compound_of_a_thousand_words_asks_for_the_first_of_them_side_by_side() -> None:
    """An index that looks for a thousand words side by side takes seconds, and hundreds of megabytes."""
    assert max(len(unit.words) for unit in query_units("x.y" * 1_000)) == MOST_TOGETHER
