"""Conversations that continue in another assistant."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

HANDOFF_MARK = "[Backstory]"
"""The first words of a session that Backstory wrote."""


class SessionHandoff(NamedTuple):
    """A conversation that was exported as a new session of another assistant."""

    conversation: str
    """The id that the new session gets once it is read: the reader's name and the assistant's own id."""
    source: str
    """The id of the conversation that it continues."""
    handed_at: datetime
    """Turns of the new session before this time are copies."""
    paths: tuple[str, ...] = ()
    """The files that were written; empty once the source is forgotten."""
