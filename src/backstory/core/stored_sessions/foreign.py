"""Sessions that others wrote: CodeArchitect's own files, its old single files, and what people put there by hand."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .turns import (
    ASSISTANT,
    SYSTEM,
    USER,
    SessionTurn,
    from_json,
    outside_fences,
    said,
    split_plain,
    turns_of,
)

_JSON_PART = re.compile(
    r"^## Full Conversation \(JSON\)\s*\n+```json\r?\n(.*?)\r?\n```\r?$", re.DOTALL | re.MULTILINE
)
_READABLE = re.compile(r"^## Human-Readable Format\s*\n", re.MULTILINE)
_CREDIT = re.compile(r"^---\s*\n+(?:\*[^*\n]*\*\s*)+\Z", re.MULTILINE)
_CREDIT_LENGTH = 500
_HEADER = re.compile(r"\A\s*# [^\n]*\n+(?:\*\*[^*\n]+:\*\*[^\n]*\n+)+(?:\s*---\s*\n)?")
_HEADING = re.compile(r"(?:#{1,6} .*|\*\*[^*]+:\*\*.*|-{3,})?")
_RULE = re.compile(r"-{3,}\s*")
_REQUEST = re.compile(r"^### Request \d+:[^\n]*\n", re.MULTILINE)
_PROMPT = re.compile(
    r"\s*\*\*User Prompt:\*\*\s*\n(.*?)(?:^\*\*AI Response Summary:\*\*\s*\n(.*))?\Z",
    re.DOTALL | re.MULTILINE,
)


def read_foreign(text: str) -> list[SessionTurn]:
    """What was said, whichever way it is written; a text that no way fits is one turn. Nothing is left out."""
    found = _JSON_PART.search(text)
    if found is not None:
        try:
            turns = turns_of(from_json(found[1]))
        except ValueError:
            turns = None
        if turns is not None:
            return turns
    text = text[:-_CREDIT_LENGTH] + _CREDIT.sub("", text[-_CREDIT_LENGTH:])
    body = _HEADER.sub("", text.rstrip(), count=1)
    readable = _READABLE.search(body)
    if readable is not None:
        body = body[readable.end() :]
    return _summarized(body) or _between_rules(_without_heading(split_plain(body.strip("\r\n"))))


def _without_heading(turns: list[SessionTurn]) -> list[SessionTurn]:
    """What stands before the first speaker was said by nobody when it is titles, labels and rules."""
    if len(turns) < 2 or turns[0].role != SYSTEM:
        return turns
    is_heading = all(_HEADING.fullmatch(line.strip()) for line in turns[0].text.splitlines())
    return turns[1:] if is_heading else turns


def _between_rules(turns: Sequence[SessionTurn]) -> list[SessionTurn]:
    """The rule that ends a turn before the next is no part of it; one inside a turn is."""
    return [_without_rule(turn) for turn in turns[:-1]] + list(turns[-1:])


def _without_rule(turn: SessionTurn) -> SessionTurn:
    lines = turn.text.rstrip().split("\n")
    is_rule = len(lines) - 1 in set(outside_fences(lines)) and _RULE.fullmatch(lines[-1])
    return said(turn.role, "\n".join(lines[:-1]).rstrip("\r\n")) if is_rule else turn


def _summarized(text: str) -> list[SessionTurn]:
    """Requests and responses of a summary.md whose full.md is gone."""
    turns: list[SessionTurn] = []
    for part in _REQUEST.split(text)[1:]:
        found = _PROMPT.match(part)
        if found is None:
            return []
        turns.append(said(USER, found[1].strip()))
        if found[2] is not None:
            turns.append(said(ASSISTANT, found[2].strip()))
    return turns
