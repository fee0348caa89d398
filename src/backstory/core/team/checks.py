"""Checks of a shared file: it may contain no secrets, hidden characters or orders to an assistant. Pure except for
the secret rules."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from ...domain.errors import Unreadable
from ...domain.lazy import lazy_pattern
from ...domain.neutral import neutral
from ..secrets import redactor
from .files import MAX_FILE_BYTES, SharedNote, parsed

_WITHIN = r"(?:[^.!?\n]|\.(?=\w))"
"""A character of the same sentence: a dot inside a word ends none."""
_WHOM = r"(?:the\s+)?(?:user|human|developer|owner|operator|reviewer|anyone|anybody|them)"
_ORDERS = {
    "it tells the reader to disregard what it was told": lazy_pattern(
        rf"\b(?:ignore|disregard|forget|override|bypass|supersede)\b{_WITHIN}{{0,60}}?"
        r"\b(?:instructions?|rules?|prompts?|messages?|guidelines?|polic(?:y|ies)|directions?|restrictions?"
        r"|(?:was|were|been)\s+told|safety|guardrails?)\b",
        re.IGNORECASE,
    ),
    "it asks to hide something from the user": lazy_pattern(
        rf"\b(?:(?:do|does|should|must|shall|may)\s*(?:not|n't)|don'?t|never|without|avoid)\b{_WITHIN}{{0,30}}?"
        rf"\b(?:tell|inform|mention|reveal|show|notify|warn|alert|ask|disclos)\w*\b{_WITHIN}{{0,30}}?\b{_WHOM}\b",
        re.IGNORECASE,
    ),
    "it addresses an assistant": lazy_pattern(
        r"\b(?:you\s+are\s+(?:now\s+)?(?:an?|the)\s+|as\s+an?\s+|attention,?\s+|dear\s+|note\s+to\s+(?:the\s+|any\s+|all\s+)?)"
        r"(?:ai|llm|agents?|assistants?|(?:language\s+)?models?|claude|codex|copilot|gemini|chatgpt)\b"
        r"|\b(?:ai|coding)\s+(?:agents?|assistants?|models?)\s+(?:must|should|shall|will|have\s+to)\b|\bsystem\s+prompt\b",
        re.IGNORECASE,
    ),
    "it has a command that runs what it downloads": lazy_pattern(
        r"\b(?:curl|wget|fetch|iwr|invoke-webrequest)\b[^\n]{0,300}?\|\s*(?:sudo\s+)?\w*(?:sh|python3?|perl|ruby|node|iex)\b"
        r"|\b(?:ba|z)?sh\s+(?:-c\s+)?[\"']?(?:<\(|\$\()\s*(?:curl|wget)\b|\bbase64\s+(?:-d|-D|--decode)\b",
        re.IGNORECASE,
    ),
    "it asks to send away what is secret": lazy_pattern(
        rf"\b(?:send|post|upload|forward|exfiltrat|transmit|e?mail|paste|copy)\w*\b{_WITHIN}{{0,80}}?"
        r"(?:\b(?:secrets?|tokens?|credentials?|passwords?|api[ _-]?keys?|private\s+keys?|environment\s+variables?|id_rsa)|\.env)\b"
        rf"{_WITHIN}{{0,80}}?\b(?:to|at|into)\b",
        re.IGNORECASE,
    ),
    "it demands to be obeyed at once": lazy_pattern(
        rf"\b(?:always|immediately|silently|first|before\s+(?:anything|everything)\s+else)\b{_WITHIN}{{0,20}}?"
        rf"\b(?:run|execute|invoke|call)\b{_WITHIN}{{0,80}}?(?:`|\btool\b|\bcommand\b|\bscript\b|\bhttps?:)",
        re.IGNORECASE,
    ),
    "it has a comment, which a rendered page hides": lazy_pattern(r"<!--"),
    "it has a long run of encoded text": lazy_pattern(r"[A-Za-z0-9+/]{120,}={0,2}"),
}


class NoteProblem(NamedTuple):
    line: int
    problem: str


def read_note(raw: bytes) -> SharedNote | list[NoteProblem]:
    """The note of a file, or its problems."""
    if len(raw) > MAX_FILE_BYTES:
        return [NoteProblem(1, f"it has more than {MAX_FILE_BYTES:,} bytes")]
    try:
        text = raw.decode("utf-8")
        note = parsed(text)
    except UnicodeDecodeError:
        return [NoteProblem(1, "it is not UTF-8")]
    except Unreadable as error:
        number, _, problem = error.message.partition(": ")
        return [NoteProblem(int(number), problem)]
    return sorted(problems_in(text)) or note


def problems_in(text: str) -> Iterator[NoteProblem]:
    for number, line in enumerate(text.split("\n"), 1):
        if neutral(line) != line:
            yield NoteProblem(number, "it contains hidden characters, or imitates a role or a tag")
        if redactor("standard").redact(line).found:
            yield NoteProblem(number, "it has a secret")
    visible = neutral(text)
    # an instruction may be wrapped over lines
    flat = re.sub(r"(?<!\n)\n(?!\n)", " ", re.sub(r"[*_`]{1,3}(?=\w)|(?<=\w)[*_]{1,3}", "", visible))
    for problem, pattern in _ORDERS.items():
        if match := pattern.search(visible) or pattern.search(flat):
            yield NoteProblem(_line_of(text, match[0]), problem)


def _line_of(text: str, fragment: str) -> int:
    words = fragment.split()
    place = text.find(words[0]) if words else 0
    return text.count("\n", 0, max(place, 0)) + 1
