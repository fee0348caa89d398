"""Topics: the subject of a conversation in one line, and the folder name derived from it."""

from __future__ import annotations

from collections.abc import Iterable
from unicodedata import category, normalize

LONGEST_TOPIC = 100
LONGEST_NAME = 50
REDUNDANT = ("-summary", "-session", "-conversation", "-chat")
"""Endings that carry no information in a folder of sessions."""

_MARKS = "#>*-+_=~`|•· \t\r"  # Markdown markup around a line
_GREETINGS = frozenset(["hi", "hello", "hey", "hi there", "good morning", "thanks", "thank you", "please"])
_FENCES = ("```", "~~~")


def slug(text: str) -> str:
    """Return the letters and digits of any script in lower case, with one `-` for everything between them.

    May be empty."""
    parts: list[str] = []
    for letter in normalize("NFC", text).lower():
        # a combining mark belongs to the letter before it, like the vowels of many scripts
        is_mark = bool(parts) and parts[-1] != "-" and category(letter)[0] == "M"
        if letter.isalnum() or is_mark:
            parts.append(letter)
        elif parts and parts[-1] != "-":
            parts.append("-")
    return "".join(parts).strip("-")


def folder_name(topic: str) -> str:
    """Return the slug without a redundant ending, cut after a word if it is too long. May be empty."""
    return _without_ending(cut_at_word(_without_ending(slug(topic)), LONGEST_NAME, "-"))


def _without_ending(name: str) -> str:
    while name.endswith(REDUNDANT):
        name = name.rpartition("-")[0]
    return name


def cut_at_word(text: str, longest: int, separator: str) -> str:
    """Return the start of a text, cut after a word unless the last word is most of the text."""
    if len(text) <= longest:
        return text
    start = text[: longest + 1].rpartition(separator)[0]
    return start if len(start) > longest // 2 else text[:longest].strip(separator)


def topic_of(texts: Iterable[str]) -> str:
    """Return the first meaningful line without its Markdown, skipping greetings, code and horizontal rules.

    If there is no other line, return the greeting; if there are no words at all, return ""."""
    poor = ""
    for text in texts:
        for line in _prose(text):
            words = " ".join(line.strip(_MARKS).split())
            letters = sum(letter.isalnum() for letter in words)
            if letters >= 3 and words.lower().strip(" ,.!?") not in _GREETINGS:
                return cut_at_word(words, LONGEST_TOPIC, " ")
            if letters and not words.isascii():  # a word may be one character
                return words[:LONGEST_TOPIC]
            poor = poor or (words if letters else "")
    return cut_at_word(poor, LONGEST_TOPIC, " ")


def _prose(text: str) -> Iterable[str]:
    is_code = False
    for line in text.split("\n"):
        if line.lstrip().startswith(_FENCES):
            is_code = not is_code
        elif not is_code:
            yield line
