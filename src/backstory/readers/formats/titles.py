"""What a conversation is called when its assistant gave it no name."""

from __future__ import annotations

from collections.abc import Iterable

from .. import Role, Turn
from .noise import headline


def title_of(turns: Iterable[Turn]) -> str:
    """The first line of what the person said first."""
    return next((line for turn in turns if turn.role is Role.USER and (line := headline(turn.text))), "")
