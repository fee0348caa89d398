"""Statements: what conversations decided, dropped, left open, checked or changed, each with the message it comes from."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from .records import Trust


class StatementKind(StrEnum):
    DECISION = "decision"
    DROPPED = "dropped"
    """An attempt or a proposal that was given up."""
    PREFERENCE = "preference"
    """A rule or a correction by the user."""
    QUESTION = "question"
    """The assistant waits for the answer."""
    NEXT_STEP = "next_step"
    TODO = "todo"
    RECAP = "recap"
    """An assistant's own summary of where the work stands."""
    CHECK = "check"
    """The last verdict of a test, lint or build command."""
    FIX = "fix"
    COMMIT = "commit"
    PULL_REQUEST = "pull_request"
    UNCOMMITTED = "uncommitted"
    """Files that were edited after the last commit."""
    ENDING = "ending"
    """How the last message ended, where nothing more precise was found in it."""


class Speaker(StrEnum):
    USER = "user"
    ASSISTANT = "assistant"
    LOG = "log"
    """A field of the log, or what a tool printed."""


class StatementState(StrEnum):
    IN_FORCE = "in_force"
    OPEN = "open"
    SUPERSEDED = "superseded"
    DROPPED = "dropped"
    DONE = "done"
    ANSWERED = "answered"
    STALE = "stale"
    DISMISSED = "dismissed"
    """A person said on the page that it is none."""


class Saying(NamedTuple):
    """What one message states, as it was extracted when the message was read. What became of it later is not known here."""

    kind: StatementKind
    text: str
    """In the words of the log, at most 400 characters."""
    speaker: Speaker
    subject: str = ""
    """What a later saying of the same kind replaces it by: the runner of a check, the id of a task, the question that was
    answered."""
    outcome: str = ""
    """`pass` or `fail` of a check; `open` or `done` of a todo."""


class MessageSaying(NamedTuple):
    message: str
    saying: Saying


class PlacedSaying(NamedTuple):
    """A stored saying, and where it was made."""

    conversation: str
    message: str
    place: int
    """The number of the message in its conversation."""
    at: datetime
    trust: Trust
    saying: Saying


class Statement(NamedTuple):
    """A saying with what became of it."""

    id: str
    """The same whenever the conversation is read again."""
    kind: StatementKind
    text: str
    reason: str
    """The part behind `because` and the like; may be empty."""
    state: StatementState
    speaker: Speaker
    project: str
    branch: str
    conversation: str
    message: str
    place: int
    """The number of the message in its conversation."""
    at: datetime
    trust: Trust = Trust.OWN
    subject: str = ""
    outcome: str = ""
    confirmations: int = 0
    """How often it was said again later, in other conversations."""
    confirmed_at: datetime | None = None
    superseded_by: str = ""
    """The id of the statement that ended it."""

    @property
    def holds(self) -> bool:
        """Whether it is in force or open."""
        return self.state in (StatementState.IN_FORCE, StatementState.OPEN)
