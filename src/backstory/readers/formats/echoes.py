"""Text that Backstory itself added to another assistant's conversation.

If it were stored again, it would confirm itself."""

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
"""Arguments of generic tools that call any server's tools and name the server."""


def without_echoes(turn: Turn) -> Turn:
    """Remove our briefs and the calls of our tools from a turn.

    A turn that had either is marked, because the assistant may repeat their text in it."""
    if turn.role is not Role.ASSISTANT and "</backstory>" in turn.text:
        turn = turn._replace(text=_BRIEF.sub("", turn.text).strip(), recites=True)
    if any(map(_is_ours, turn.calls)):
        others = tuple(call for call in turn.calls if not _is_ours(call))
        turn = turn._replace(calls=others, recites=True)
    return turn


def _is_ours(call: ToolCall) -> bool:
    """True if the call names our server, which clients put before the tool's name: `mcp__backstory__search`."""
    # searching for the word is many times faster than the patterns, and few texts contain it
    is_named = _OURS in call.name.casefold() and _NAME.search(call.name)
    return bool(is_named or (_OURS in call.arguments.casefold() and _SERVER.search(call.arguments)))
