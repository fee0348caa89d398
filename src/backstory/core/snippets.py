"""The few lines of a long text that show why it was found."""

from __future__ import annotations

import re
from collections.abc import Iterable

SHOWN = 240
BEFORE = 80
MOST_NAMED = 5

_BETWEEN = re.compile(r"[\s\"'`()<>\[\]{},;]+")
_LONGEST_ENDING = 8


def excerpt(text: str, words: Iterable[str]) -> str:
    """Around the first place where one of the words stands, on one line; `…` marks what was cut."""
    line = " ".join(text.split())
    places = [place for word in words if (place := _find(line, word)) >= 0]
    start = max(min(places, default=0) - BEFORE, 0)
    if start:
        start = line.find(" ", start) + 1 or start
    shown = line[start : start + SHOWN]
    return f"{'…' if start else ''}{shown}{'…' if start + SHOWN < len(line) else ''}"


def _find(line: str, word: str) -> int:
    """The index knows stems: `migrations` was found where `migration` stands."""
    stem = word[: max(4, len(word) * 3 // 4)]
    found = re.search(rf"(?<![^\W_]){re.escape(stem)}", line, re.IGNORECASE)
    return -1 if found is None else found.start()


def named_files(text: str) -> list[str]:
    """What looks like the path or name of a file."""
    words = (word.strip(".:!?*") for word in _BETWEEN.split(text[:4_000]))
    return list(dict.fromkeys(word for word in words if _is_file(word)))[:MOST_NAMED]


def _is_file(word: str) -> bool:
    stem, _, ending = word.rpartition(".")
    return bool(stem) and ending[:1].isalpha() and ending.isalnum() and len(ending) <= _LONGEST_ENDING
