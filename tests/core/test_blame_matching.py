"""Which edit wrote a line, by its text and what stands around it."""

from __future__ import annotations

from backstory.core.blame.matching import SURE_WEIGHT, author, matches

FIRST = "def first(value):\n    result = compute(value)\n    return result\n"
SECOND = "def second(value):\n    result = compute(value)\n    return result\n"


def authors(lines: str, *edits: tuple[str, str]) -> list[int | None]:
    found = (author(each) for each in matches(lines.splitlines(), edits))
    return [None if match is None else match.edit for match in found]


def test_equal_lines_belong_to_the_edit_that_wrote_their_surroundings() -> None:
    assert authors(f"{FIRST}\n{SECOND}", ("", FIRST), ("", SECOND)) == [0, 0, 0, None, 1, 1, 1]


def test_what_an_edit_left_as_it_was_is_not_its_own() -> None:
    changed = FIRST.replace("compute(value)", "compute(value, 2)")
    assert authors(changed, ("", FIRST), (FIRST, changed)) == [0, 1, 0]


def test_who_writes_a_file_anew_does_not_become_the_author_of_what_was_there() -> None:
    assert authors(FIRST + SECOND, ("", FIRST), ("", FIRST + SECOND)) == [0, 0, 0, 1, 1, 1]


def test_other_indentation_is_the_same_line() -> None:
    indented = "".join(f"    {line}\n" for line in FIRST.splitlines())
    assert authors(indented, ("", FIRST)) == [0, 0, 0]


def test_a_line_that_stands_everywhere_is_less_sure_than_one_with_its_surroundings() -> None:
    assert matches(["}"], [("", "{\n}")]) == [[]]
    (common,) = matches(["return value"], [("", "return value")])
    assert common[0].weight < SURE_WEIGHT
    (unmistakable,) = matches(["raise OutOfCheeseError(shop)"], [("", "raise OutOfCheeseError(shop)")])
    assert unmistakable[0].weight >= SURE_WEIGHT
    assert matches(["nobody wrote this"], [("", "x")]) == [[]]
