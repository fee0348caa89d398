"""The story of a file: events in the order of time, each with a name that opens it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from .records import Trust


class StoryKind(StrEnum):
    PROMPT = "prompt"
    """A request of the user that changed the file, or names it."""
    EDIT = "edit"
    """A change that no request is known of."""
    DECISION = "decision"
    PREFERENCE = "preference"
    DROPPED = "dropped"
    FIX = "fix"
    FAILURE = "failure"
    """A command that failed on the file."""
    COMMIT = "commit"
    PULL_REQUEST = "pull_request"
    FACT = "fact"
    TASK = "task"
    ERROR = "error"
    """A saved memory of this kind; so are facts and tasks."""


class EventReference(NamedTuple):
    """An event as another one names it."""

    name: str
    text: str
    reason: str


class StoryEvent(NamedTuple):
    at: datetime
    kind: StoryKind
    text: str
    name: str
    """The id that `backstory show` opens: of a message, a conversation or a memory."""
    conversation: str = ""
    number: int = 0
    """Number of the message in its conversation, from 1; 0 for a memory."""
    memory: str = ""
    reason: str = ""
    """The reason, where it was given elsewhere than in the text."""
    state: str = ""
    """State of a statement or a memory: `in_force`, `superseded` and so on."""
    superseded_by: EventReference | None = None
    supersedes: tuple[EventReference, ...] = ()
    confirmations: int = 0
    """Number of other conversations that repeat it."""
    answers: str = ""
    """The end of the message before a request that is too short to say what it asks for."""
    edits: int = 0
    """Number of edits of the file that a request led to."""
    outcome: str = ""
    """The change or command after which a failed command passed."""
    trust: Trust = Trust.OWN
    author: str = ""
    """Author of a memory that the team shares."""


class FileStory(NamedTuple):
    path: str
    paths: Sequence[str]
    """The files that were changed under this name; more than one if the path is ambiguous."""
    events: Sequence[StoryEvent]
    """Events in chronological order."""
    total: int
    """Number of events, including those that a limit left out."""
    readers: Sequence[str]
    """Names of conversations that read the file and did nothing more with it, the last first."""


_EXPLAINING = (
    StoryKind.DECISION, StoryKind.PREFERENCE, StoryKind.DROPPED, StoryKind.FACT, StoryKind.TASK, StoryKind.ERROR,
)  # fmt: skip
_LABELS = {
    StoryKind.PROMPT: "asked",
    StoryKind.EDIT: "changed",
    StoryKind.DECISION: "decided",
    StoryKind.PREFERENCE: "rule",
    StoryKind.DROPPED: "dropped",
    StoryKind.FIX: "fixed",
    StoryKind.FAILURE: "failed",
    StoryKind.COMMIT: "committed",
    StoryKind.PULL_REQUEST: "pull request",
    StoryKind.FACT: "fact",
    StoryKind.TASK: "task",
    StoryKind.ERROR: "error",
}


def label(event: StoryEvent) -> str:
    """The kind of an event, in a word or two."""
    return f"saved {event.kind.value}" if event.memory else _LABELS[event.kind]


def notes(event: StoryEvent) -> list[str]:
    """Remarks on an event besides its text, in a few words each."""
    marks = [f'to "{event.answers}"'] if event.answers else []
    if event.reason and event.reason not in event.text:
        marks.append(event.reason)
    if event.outcome:
        marks.append(event.outcome)
    if event.edits > 1:
        marks.append(f"{event.edits} edits")
    if event.confirmations:
        marks.append(f"said {event.confirmations + 1} times")
    if event.superseded_by:
        marks.append(f"{event.state} by {event.superseded_by.name}")
    elif event.state in ("superseded", "dropped"):
        marks.append(event.state)
    if event.supersedes:
        marks.append(f"replaces {', '.join(each.name for each in event.supersedes)}")
    if event.author:
        marks.append(f"by {event.author}")
    if event.trust is not Trust.OWN:
        marks.append(f"{event.trust.value}, not the user's words")
    return marks


def in_order(events: Sequence[StoryEvent], limit: int | None) -> list[StoryEvent]:
    """At most `limit` events in chronological order. Decisions, rules and memories are chosen before other events,
    and newer before older ones."""
    chosen = sorted(events, key=lambda each: (each.kind not in _EXPLAINING, -each.at.timestamp()))
    return sorted(chosen[:limit], key=_moment)


def _moment(event: StoryEvent) -> tuple[datetime, str, int, int]:
    return event.at, event.conversation, event.number, list(StoryKind).index(event.kind)
