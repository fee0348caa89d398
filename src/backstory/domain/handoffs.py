"""Conversations that go on in another assistant."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

HANDOFF_MARK = "[Backstory]"
"""How the first turn of a session begins that we wrote."""


class SessionHandoff(NamedTuple):
    """A conversation that was written as a new session of an assistant."""

    conversation: str
    """The id that the new session has here, once it is read: the reader's name and the assistant's own id."""
    source: str
    """The conversation that goes on in it."""
    handed_at: datetime
    """Every turn of the new session from before this time is a copy."""
    paths: tuple[str, ...] = ()
    """The files that were written; none once the source is forgotten."""
