"""BERT's uncased WordPiece: text to the numbers a BERT model was trained on.

Text is never syntax: "[SEP]" typed by a user is three ordinary tokens, not the model's separator.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from ..domain.lazy import lazy_pattern

VOCABULARY = Path(__file__).with_name("vocabulary.txt")

UNKNOWN, START, END = "[UNK]", "[CLS]", "[SEP]"
LONGEST_WORD = 100  # longer ones are unknown to BERT's own tokenizer too
CACHED_RUNS = 16_384
LONGEST_CACHED_RUN = 64

_ASCII_PUNCTUATION = r"!-/:-@\[-`{-~"
_RUN = lazy_pattern(rf"[{_ASCII_PUNCTUATION}]|[^\s{_ASCII_PUNCTUATION}]+")
_CONTROL = lazy_pattern("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffd]+")
_IDEOGRAPH = lazy_pattern(
    "[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002a6df\U0002a700-\U0002b81f"
    "\U0002b920-\U0002ceaf\U0002f800-\U0002fa1f]"
)
_DROPPED = {"Mn", "Cc", "Cf", "Co", "Cs"}  # accents and invisible characters


class WordPiece:
    def __init__(self, vocabulary: Sequence[str]) -> None:
        self._starts = {piece: id for id, piece in enumerate(vocabulary)}
        self._continued = {piece[2:]: id for piece, id in self._starts.items() if piece.startswith("##")}
        self._longest = max(map(len, vocabulary))
        self._unknown = (self._starts[UNKNOWN],)
        self._start, self._end = self._starts[START], self._starts[END]
        self._cached_ids = lru_cache(CACHED_RUNS)(self._ids_of_run)

    def encode(self, text: str, limit: int) -> list[int]:
        """At most `limit` ids, including the start and end marks; the rest is cut off."""
        ids = [self._start]
        for run in _RUN.finditer(_CONTROL.sub("", text)):
            word = run.group()
            ids += self._cached_ids(word) if len(word) <= LONGEST_CACHED_RUN else self._ids_of_run(word)
            if len(ids) >= limit:
                break
        del ids[limit - 1 :]
        ids.append(self._end)
        return ids

    def _ids_of_run(self, run: str) -> tuple[int, ...]:
        if run.isascii():
            return self._ids_of_word(run.lower())
        return tuple(id for word in _words(run) for id in self._ids_of_word(word))

    def _ids_of_word(self, word: str) -> tuple[int, ...]:
        """The longest piece that fits, again and again; a word with an unknown part is unknown as a whole."""
        if len(word) > LONGEST_WORD:
            return self._unknown
        ids = []
        at, pieces = 0, self._starts
        while at < len(word):
            for end in range(min(len(word), at + self._longest), at, -1):
                id = pieces.get(word[at:end])
                if id is not None:
                    break
            else:
                return self._unknown
            ids.append(id)
            at, pieces = end, self._continued
        return tuple(ids)


def _words(run: str) -> list[str]:
    """A run with characters beyond ASCII: no accents, lower case, cut at ideographs and punctuation."""
    spaced = unicodedata.normalize("NFD", _IDEOGRAPH.sub(r" \g<0> ", run))
    letters = []
    for character in spaced:
        category = unicodedata.category(character)
        if category in _DROPPED:
            continue
        letters.append(f" {character} " if _is_punctuation(character, category) else character)
    # lower() ends a Greek word in ς; BERT lowers each character by itself
    return "".join(letters).replace("Σ", "σ").lower().split()


def _is_punctuation(character: str, category: str) -> bool:
    return category[0] == "P" or (character.isascii() and not character.isalnum() and character != " ")


@lru_cache(1)
def bert_wordpiece() -> WordPiece:
    """The tokenizer of all-MiniLM-L6-v2."""
    return WordPiece(VOCABULARY.read_text("utf-8").split())
