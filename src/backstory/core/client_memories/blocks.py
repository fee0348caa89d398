"""The block that Backstory manages in another program's file: between two markers, and nothing else of the file is ours."""

from __future__ import annotations

import re

from ...domain.lazy import lazy_pattern

BEGIN = "<!-- backstory:begin"
END = "<!-- backstory:end -->"
OPENING = f"{BEGIN} v1; written by Backstory, changes here are lost; `backstory uninstall` removes it -->"
_BLOCK = lazy_pattern(rf"{re.escape(BEGIN)}[^\n]*\n(?P<lines>.*?){re.escape(END)}(?:\r?\n|\Z)", re.DOTALL)


def find_block(text: str) -> re.Match[str] | None:
    """The managed block of a text, with the `lines` between its markers; None if these are not a single pair."""
    return _BLOCK.search(text) if is_sound(text) else None


def is_sound(text: str) -> bool:
    """True if the markers are a single pair in order, or absent. Any other file is left alone."""
    begins, ends = text.count(BEGIN), text.count(END)
    return (begins, ends) in ((0, 0), (1, 1)) and (not begins or _BLOCK.search(text) is not None)


def rendered(lines: list[str], line_end: str = "\n") -> str:
    return line_end.join([OPENING, *lines, END, ""])


def without_blocks(text: str) -> str:
    """The text without managed blocks. A block without an end marker extends to the end of the text."""
    text = _BLOCK.sub("", text)
    return text[: text.index(BEGIN)] if BEGIN in text else text
