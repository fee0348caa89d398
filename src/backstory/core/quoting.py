"""What people and assistants said, as one line of a record: plain, short, and unable to end the record it stands in."""

from __future__ import annotations

import re

from ..domain.lines import one_line
from ..domain.neutral import neutral
from ..domain.provenance import MAX_CHARS

_FENCED = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_MARKUP = re.compile(r"^[ \t]*(?:#{1,6}|[-*+|]|\d+[.)])[ \t]+|\*\*|__|`", re.MULTILINE)
_END = re.compile(r"(?<=[.!?])\s+|\n+")
_LINK = re.compile(r"\[([^\[\]\n]{1,200})\]\([^()\s]{1,500}\)")
_COURTESY = re.compile(
    r"(?:excellent|great|perfect|sure|ok(?:ay)?|done|good|thanks|got it|certainly|of course|you'?re (?:absolutely )?right)\b[^.!?]{0,40}[.!?]"
    r"|(?:i'?ll|let me|now let me) \b.{0,160}$",
    re.IGNORECASE,
)
_TAG = re.compile(r"</?[a-z][\w-]{0,40}(?:\s[^<>\n]{0,200})?/?>", re.IGNORECASE)


def plain(text: str) -> str:
    """Prose without its markup; blocks of code are left out. The sign of a block quote stays: it says whose words follow."""
    return _MARKUP.sub("", _LINK.sub(r"\1", _TAG.sub(" ", _FENCED.sub("\n", text[:MAX_CHARS]))))


def sentences(text: str) -> list[str]:
    return [sentence for part in _END.split(plain(text)) if (sentence := " ".join(part.split()))]


def substance(text: str) -> str:
    """An answer without the courtesies it begins with, unless it has nothing else."""
    every = sentences(text)
    begin = next((place for place, sentence in enumerate(every) if not _COURTESY.match(sentence)), 0)
    return " ".join(every[begin:])


def quote(text: str, longest: int) -> str:
    """On one line; no angle opens in it, so that nothing in it can be a tag."""
    return one_line(neutral(plain(text)), longest).replace("<", "\u2039")
