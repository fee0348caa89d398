"""What Backstory itself put into another assistant's conversation: learned again, it would confirm itself."""

from __future__ import annotations

import re

from ...domain.lazy import lazy_pattern
from .. import Role, ToolCall, Turn

_BRIEF = lazy_pattern(r"^[ \t]*<backstory\b[^<>]*>.*?</backstory>[ \t]*$", re.MULTILINE | re.DOTALL)
_OURS = "backstory"
_NAME = lazy_pattern(r"(?:^|[^a-z0-9])backstory(?:[^a-z0-9]|$)", re.IGNORECASE)
_SERVER = lazy_pattern(
    r"^(?:mcp_)?server(?:_?name|_?id)?: \W*(?:plugin:)?backstory\b", re.IGNORECASE | re.MULTILINE
)
"""Of tools that call any server's tools, which have its name among their arguments."""


def without_echoes(turn: Turn) -> Turn:
    """Without our briefs, and without the calls of our tools. A turn that had either is marked: what an assistant says
    in it may repeat what it was told."""
    if turn.role is not Role.ASSISTANT and "</backstory>" in turn.text:
        turn = turn._replace(text=_BRIEF.sub("", turn.text).strip(), recites=True)
    if any(map(_is_ours, turn.calls)):
        others = tuple(call for call in turn.calls if not _is_ours(call))
        turn = turn._replace(calls=others, recites=True)
    return turn


def _is_ours(call: ToolCall) -> bool:
    """By the server's name, which clients put before that of the tool: `mcp__backstory__search`."""
    # looking for the word is many times faster than looking for the patterns, and few texts have it
    is_named = _OURS in call.name.casefold() and _NAME.search(call.name)
    return bool(is_named or (_OURS in call.arguments.casefold() and _SERVER.search(call.arguments)))
