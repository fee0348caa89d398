"""WordPiece: the ids are those of the tokenizer the model was trained with."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backstory.search.wordpiece import WordPiece, bert_wordpiece

CLS, SEP, UNK = 101, 102, 100

GOLDEN = [
    ("", []),
    ("Hello, world!", [7592, 1010, 2088, 999]),
    ("Café NAÏVE résumé", [7668, 15743, 13746]),
    ("東京 is 東京都", [1879, 1755, 2003, 1879, 1755, 1961]),
    ("안녕 が", [1463, 30006, 30021, 29992, 30010, 30025, 1651]),
    ("I ♥ 🎉🎉 emoji", [1045, 1625, UNK, 7861, 29147, 2072]),
    ("a" * 101, [UNK]),
    ("x" * 100, [22038] + [20348] * 49),
    (
        "soft\u00adhyphen zero\u200bwidth\x00nul\x07bell\ufffd",
        [3730, 10536, 8458, 2368, 5717, 9148, 11927, 7295, 5313, 17327],
    ),
    ("tab\tline\r\nnbsp\u00a0end", [21628, 2240, 1050, 5910, 2361, 2203]),
    (
        "def getUserName(self) -> str:",
        [13366, 2131, 20330, 18442, 1006, 2969, 1007, 1011, 1028, 2358, 2099, 1024],
    ),
    ("return f'{x}'", [2709, 1042, 1005, 1063, 1060, 1065, 1005]),
    ("ΟΔΥΣΣΕΥΣ", [1169, 29722, 29735, 29733, 29733, 29723, 29735, 29733]),
    ("“quoted”—dash…", [1523, 9339, 1524, 1517, 11454, 1529]),
    ("a≠b", [1037, 1027, 1038]),
    (
        "snake_case/path.py:42 0xDEADBEEF",
        [7488, 1035, 2553, 1013, 4130, 1012, 1052, 2100, 1024, 4413, 1014, 2595, 3207, 4215, 11306, 2546],
    ),
    ("electroencephalographically", [16175, 10127, 21890, 21197, 20721, 3973]),
]


@pytest.mark.parametrize(("text", "ids"), GOLDEN, ids=[text[:20] for text, _ in GOLDEN])
def test_ids_are_those_of_the_original_tokenizer(text: str, ids: list[int]) -> None:
    assert bert_wordpiece().encode(text, limit=256) == [CLS, *ids, SEP]


def test_a_mark_of_the_model_typed_by_a_user_is_ordinary_text() -> None:
    assert bert_wordpiece().encode("a [SEP] b", limit=256).count(SEP) == 1


def test_a_long_text_is_cut_and_still_ends_with_the_end_mark() -> None:
    ids = bert_wordpiece().encode("hello " * 1000, limit=256)

    assert len(ids) == 256
    assert ids[-2:] == [7592, SEP]


def test_a_word_with_one_unknown_part_is_unknown_as_a_whole() -> None:
    tokenizer = WordPiece(["[UNK]", "[CLS]", "[SEP]", "un", "##do"])

    assert tokenizer.encode("undo undone", limit=10) == [1, 3, 4, 0, 2]


@given(st.text())
def test_any_text_gives_ids_of_the_vocabulary_within_the_limit(text: str) -> None:
    ids = bert_wordpiece().encode(text, limit=16)

    assert ids[0] == CLS
    assert ids[-1] == SEP
    assert len(ids) <= 16
    assert all(0 <= id < 30522 for id in ids)
