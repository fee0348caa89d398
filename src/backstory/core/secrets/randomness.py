"""Distinguish random strings from names: letters of names follow each other as in words and rarely change case.

Two models are compared: pairs of characters in code (`letter_pairs.txt`, made by `scripts/make_letter_pairs.py`),
and characters drawn at random from the alphabets that the value uses.
"""

from __future__ import annotations

import math
from functools import cache
from itertools import pairwise
from pathlib import Path

from ...domain.lazy import lazy_pattern

PAIRS_FILE = Path(__file__).with_name("letter_pairs.txt")
ALPHABET_SIZES = (26, 26, 10, 2)
"""The sizes of the alphabets: lower-case letters, capitals, digits and signs."""
KIND_OF = bytes(
    0 if chr(byte).islower() else 1 if chr(byte).isupper() else 2 if chr(byte).isdigit() else 3
    for byte in range(128)
)
MIN_LENGTH = 12
MIN_DIGITS = 16
MIN_DISTINCT_HEX_DIGITS = 8
_SHORT_HASH = lazy_pattern(rb"[0-9a-f]+|[0-9A-F]+")
_HEX_RUN = lazy_pattern(rb"[0-9a-f]{24,}|[0-9A-F]{24,}")
_SEQUENCES = (b"abcdefghijklmnopqrstuvwxyz", b"01234567890123456789", b"qwertyuiop")
_SEQUENCE_LENGTH = 6


def is_random(value: bytes, min_bits: float = 6.0) -> bool:
    """True if chance explains the value better than the spelling of names, by a factor of 2 to the power of `min_bits`."""
    if len(value) < MIN_LENGTH or not value.isascii() or _has_sequence(value.lower()):
        return False
    if value.isdigit():
        return len(value) >= MIN_DIGITS and len(set(value)) >= 6
    digits = _HEX_RUN.search(value)
    if digits:
        return len(set(digits[0])) >= MIN_DISTINCT_HEX_DIGITS
    return not _SHORT_HASH.fullmatch(value) and random_bits(value) >= min_bits


def random_bits(value: bytes) -> float:
    """The logarithm of the likelihood ratio between chance and a name. 0 if the value is not ASCII."""
    if not value.isascii():
        return 0.0
    if not any(97 <= byte <= 122 for byte in value):
        value = value.lower()  # a constant is spelled as other names are
    pairs = _pairs()
    size = sum(ALPHABET_SIZES[kind] for kind in set(value.translate(_KIND_OF_BYTE)))
    return sum(pairs[before << 7 | after] for before, after in pairwise(value)) - (
        len(value) - 1
    ) * math.log2(size)


def _has_sequence(value: bytes) -> bool:
    """True for values with sequences such as `abcdef` or `123456`, which people type as examples of secrets."""
    return any(run in value for run in _runs())


@cache
def _runs() -> tuple[bytes, ...]:
    return tuple(
        sequence[start : start + _SEQUENCE_LENGTH]
        for sequence in _SEQUENCES
        for start in range(len(sequence) - _SEQUENCE_LENGTH + 1)
    )


_KIND_OF_BYTE = KIND_OF + bytes([3] * 128)


@cache
def _pairs() -> tuple[float, ...]:
    """For each pair of characters, the bits by which it favours chance if all alphabets had size 1."""
    rows = [[float(bits) for bits in line.split()] for line in PAIRS_FILE.read_text().splitlines()]
    kinds, letters = rows[:4], rows[4:]
    return tuple(
        math.log2(ALPHABET_SIZES[KIND_OF[after]])
        - kinds[KIND_OF[before]][KIND_OF[after]]
        - (
            letters[(before | 32) - 97][(after | 32) - 97]
            if KIND_OF[before] < 2 and KIND_OF[after] < 2
            else 0
        )
        for before in range(128)
        for after in range(128)
    )
