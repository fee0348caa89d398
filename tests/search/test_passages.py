"""Passages: what of a long text gets a vector."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from backstory.search.passages import split_passages


def without_spaces(text: str) -> str:
    return "".join(text.split())


def test_an_ordinary_memory_is_one_passage() -> None:
    memory = "JWT expires after 24h.\n\n" + "x" * 900

    assert split_passages(memory) == [memory]


def test_blank_text_has_no_passage() -> None:
    assert split_passages(" \n\t ") == []


def test_a_paragraph_end_is_a_better_border_than_a_line_end() -> None:
    first, second = "a line\n" * 8, "another line\n" * 8

    assert split_passages(f"{first}\n{second}", size=110) == [first.strip(), second.strip()]


def test_code_is_cut_between_lines() -> None:
    lines = [f"    total_{number} = compute(first, second)" for number in range(200)]

    passages = split_passages("\n".join(lines))

    assert len(passages) > 1
    assert [line.strip() for passage in passages for line in passage.split("\n")] == [
        line.strip() for line in lines
    ]


def test_prose_without_lines_is_cut_after_a_sentence() -> None:
    passages = split_passages("The build was green again. " * 100)

    assert all(passage.endswith("again.") for passage in passages)


def test_a_little_too_much_text_leaves_no_scrap_at_the_end() -> None:
    passages = split_passages("word " * 210)

    assert len(passages) == 2
    assert min(map(len, passages)) > 250


def test_of_an_endless_text_an_even_sample_stays() -> None:
    text = "\n".join(f"line {number:06}" for number in range(50_000))

    passages = split_passages(text)

    assert len(passages) == 16
    assert passages[0].startswith("line 000000")
    assert passages[-1].endswith("line 049999")
    starts = [int(passage[5:11]) for passage in passages]
    gaps = [after - before for before, after in pairwise(starts)]
    assert max(gaps) - min(gaps) < 200


@given(
    st.lists(st.text(st.sampled_from("ab .\n\té。\u2028")) | st.text(), max_size=40).map("".join),
    st.integers(1, 30),
)
def test_passages_cover_the_text_in_order_and_within_bounds(text: str, size: int) -> None:
    passages = split_passages(text, size=size, most=len(text) + 1)

    assert "".join(map(without_spaces, passages)) == without_spaces(text)
    assert all(passage == passage.strip() and 0 < len(passage) <= size for passage in passages)


@given(st.text(max_size=200), st.integers(1, 8), st.integers(1, 5))
def test_there_are_never_more_passages_than_asked_for(text: str, size: int, most: int) -> None:
    everything = split_passages(text, size=size, most=len(text) + 1)
    passages = split_passages(text, size=size, most=most)

    assert len(passages) == min(len(everything), most)
    assert set(passages) <= set(everything)
