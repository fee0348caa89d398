"""Texts in one line, as long as there is room for; numbers with their nouns."""

from __future__ import annotations


def one_line(text: str, longest: int) -> str:
    """The text on one line; where it is too long it ends at a word, with an ellipsis. A word that would take half of
    it along, as in writing without spaces, is cut."""
    line = " ".join(text.split())
    if len(line) <= longest:
        return line
    head = line[: longest - 1]
    if line[longest - 1] != " " and (end := head.rfind(" ")) >= longest // 2:
        head = head[:end]
    return head.rstrip() + "…"


def counted(count: int, noun: str, plural: str = "") -> str:
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"
