"""The files that a text names."""

from __future__ import annotations

import re

MOST_NAMED = 5

_BETWEEN = re.compile(r"[\s\"'`()<>\[\]{},;]+")
_LONGEST_ENDING = 8


def named_files(text: str) -> list[str]:
    """What looks like the path or name of a file."""
    words = (word.strip(".:!?*") for word in _BETWEEN.split(text[:4_000]))
    return list(dict.fromkeys(word for word in words if _is_file(word)))[:MOST_NAMED]


def _is_file(word: str) -> bool:
    stem, _, ending = word.rpartition(".")
    return bool(stem) and ending[:1].isalpha() and ending.isalnum() and len(ending) <= _LONGEST_ENDING
