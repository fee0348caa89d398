"""Statements of conversations: decisions, dropped attempts, open tasks, checks and changes, each with its message."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from .records import Trust


class StatementKind(StrEnum):
    DECISION = "decision"
    DROPPED = "dropped"
    """An attempt or a proposal that was abandoned."""
    PREFERENCE = "preference"
    """A rule or a correction by the user."""
    QUESTION = "question"
    """A question that the assistant waits to have answered."""
    NEXT_STEP = "next_step"
    TODO = "todo"
    RECAP = "recap"
    """An assistant's own summary of the current state of the work."""
    CHECK = "check"
    """The last result of a test, lint or build command."""
    FIX = "fix"
    COMMIT = "commit"
    PULL_REQUEST = "pull_request"
    UNCOMMITTED = "uncommitted"
    """Files that were edited after the last commit."""
    ENDING = "ending"
    """The end of the last message, if nothing more precise was extracted from it."""


class Speaker(StrEnum):
    USER = "user"
    ASSISTANT = "assistant"
    LOG = "log"
    """A field of the log, or the output of a tool."""


class StatementState(StrEnum):
    IN_FORCE = "in_force"
    OPEN = "open"
    SUPERSEDED = "superseded"
    DROPPED = "dropped"
    DONE = "done"
    ANSWERED = "answered"
    STALE = "stale"
    DISMISSED = "dismissed"
    """A person marked it on the web page as not being a statement."""


class Saying(NamedTuple):
    """A statement in one message, as extracted when the message was read. Its later state is not known here."""

    kind: StatementKind
    text: str
    """The words of the log, at most 400 characters."""
    speaker: Speaker
    subject: str = ""
    """A later saying of the same kind with the same subject replaces this one.

    The subject is the runner of a check, the id of a task, or the answered question."""
    outcome: str = ""
    """`pass` or `fail` for a check; `open` or `done` for a todo."""


class MessageSaying(NamedTuple):
    message: str
    saying: Saying


class PlacedSaying(NamedTuple):
    """A stored saying with its conversation and position."""

    conversation: str
    message: str
    place: int
    """The number of the message in its conversation."""
    at: datetime
    trust: Trust
    saying: Saying


class Statement(NamedTuple):
    """A saying with its current state."""

    id: str
    """A stable id: it does not change when the conversation is read again."""
    kind: StatementKind
    text: str
    reason: str
    """The part after `because` and similar words; may be empty."""
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
    """Number of later conversations that repeat it."""
    superseded_by: str = ""
    """The id of the statement that superseded it."""

    @property
    def holds(self) -> bool:
        """True if the statement is in force or open."""
        return self.state in (StatementState.IN_FORCE, StatementState.OPEN)
