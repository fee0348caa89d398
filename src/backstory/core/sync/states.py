"""What becomes of a conversation when a file tells of it: the states of the keeper, and every step between them.

All that ever existed is kept, and the files that are there have the say about what they tell:

- a file that goes on adds; a file that tells a turn again replaces it, unless what it tells is only the beginning of what
  is kept (an older, shorter copy);
- a file that was rewritten in place takes back what it told and does not tell any more, unless another file that is
  there tells it too;
- a file that vanished takes nothing back. If it comes back, as it was or older or changed, nothing is taken back either;
  what it tells from then on is its own again, and so is what any other file tells of what the vanished one told: a
  conversation that was moved, copied or compressed belongs to the file that is there.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum, auto
from typing import NamedTuple


class State(StrEnum):
    NEW = auto()
    """Nothing is kept of it."""
    KNOWN = auto()
    """It is kept, and a file that tells it is there."""
    RENEWED = auto()
    """Its file was rewritten and is being read anew: what it told before waits to be told again."""
    GONE = auto()
    """It is kept, and no file that tells it is there."""
    ARCHIVED = auto()
    FORGOTTEN = auto()


class FileEvent(StrEnum):
    TOLD = auto()
    """A file tells something of it."""
    SILENT = auto()
    """A file tells that there is one, and nothing that was said."""
    REPEATED = auto()
    """A file tells nothing newer than what is in the archive."""
    NAMED = auto()
    """A list of names tells what it is called."""
    WORSE = auto()
    """A worse witness than the one that is kept tells of it, such as a log of prompts."""
    BETTER = auto()
    """A better witness tells of it for the first time."""
    REWRITTEN = auto()
    """A file that told of it was rewritten in place, and tells of it for the first time since."""
    RETURNED = auto()
    """A file that told of it had vanished, is there again, and tells of it for the first time since."""
    VANISHED = auto()
    """The last file that told it vanished, or does not hold it any more."""
    ENDED = auto()
    """A file that told of it was read to its end."""


class Action(StrEnum):
    IGNORE = auto()
    ADD = auto()
    MERGE = auto()
    """Add what is told, replace what is told again, and leave the rest."""
    RENEW = auto()
    """Let what the file told before wait for being told again; then merge."""
    RELEASE = auto()
    """Let what the file told before stay as that of a file that is no more; then merge."""
    SUPERSEDE = auto()
    """Drop what the worse witness told; then add."""
    RESTORE = auto()
    """Take it out of the archive; then merge."""
    RENAME = auto()
    SETTLE = auto()
    """Drop what was not told again and is told by no other file that is there."""


class Transition(NamedTuple):
    action: Action
    state: State
    """In which the conversation is then."""


_IGNORED = (FileEvent.WORSE, FileEvent.REPEATED, FileEvent.VANISHED, FileEvent.ENDED)


def _row(state: State, steps: Mapping[FileEvent, Transition]) -> dict[FileEvent, Transition]:
    return {event: Transition(Action.IGNORE, state) for event in _IGNORED} | dict(steps)


TRANSITIONS: Mapping[State, Mapping[FileEvent, Transition]] = {
    State.NEW: _row(
        State.NEW,
        {
            FileEvent.TOLD: Transition(Action.ADD, State.KNOWN),
            FileEvent.SILENT: Transition(Action.IGNORE, State.NEW),
            FileEvent.NAMED: Transition(Action.IGNORE, State.NEW),
            FileEvent.BETTER: Transition(Action.ADD, State.KNOWN),
            FileEvent.REWRITTEN: Transition(Action.ADD, State.KNOWN),
            FileEvent.RETURNED: Transition(Action.ADD, State.KNOWN),
        },
    ),
    State.KNOWN: _row(
        State.KNOWN,
        {
            FileEvent.TOLD: Transition(Action.MERGE, State.KNOWN),
            FileEvent.SILENT: Transition(Action.MERGE, State.KNOWN),
            FileEvent.NAMED: Transition(Action.RENAME, State.KNOWN),
            FileEvent.BETTER: Transition(Action.SUPERSEDE, State.KNOWN),
            FileEvent.REWRITTEN: Transition(Action.RENEW, State.RENEWED),
            FileEvent.RETURNED: Transition(Action.RELEASE, State.KNOWN),
            FileEvent.VANISHED: Transition(Action.IGNORE, State.GONE),
        },
    ),
    State.RENEWED: _row(
        State.RENEWED,
        {
            FileEvent.TOLD: Transition(Action.MERGE, State.RENEWED),
            FileEvent.SILENT: Transition(Action.MERGE, State.RENEWED),
            FileEvent.NAMED: Transition(Action.RENAME, State.RENEWED),
            FileEvent.BETTER: Transition(Action.SUPERSEDE, State.KNOWN),
            FileEvent.REWRITTEN: Transition(Action.RENEW, State.RENEWED),
            FileEvent.RETURNED: Transition(Action.RELEASE, State.KNOWN),
            FileEvent.VANISHED: Transition(Action.IGNORE, State.GONE),
            FileEvent.ENDED: Transition(Action.SETTLE, State.KNOWN),
        },
    ),
    State.GONE: _row(
        State.GONE,
        {
            FileEvent.TOLD: Transition(Action.MERGE, State.KNOWN),
            FileEvent.SILENT: Transition(Action.MERGE, State.KNOWN),
            FileEvent.NAMED: Transition(Action.RENAME, State.GONE),
            FileEvent.BETTER: Transition(Action.SUPERSEDE, State.KNOWN),
            FileEvent.REWRITTEN: Transition(Action.RELEASE, State.KNOWN),
            FileEvent.RETURNED: Transition(Action.RELEASE, State.KNOWN),
        },
    ),
    State.ARCHIVED: _row(
        State.ARCHIVED,
        {
            FileEvent.TOLD: Transition(Action.RESTORE, State.KNOWN),
            FileEvent.SILENT: Transition(Action.IGNORE, State.ARCHIVED),
            FileEvent.NAMED: Transition(Action.IGNORE, State.ARCHIVED),
            FileEvent.BETTER: Transition(Action.SUPERSEDE, State.KNOWN),
            FileEvent.REWRITTEN: Transition(Action.RESTORE, State.KNOWN),
            FileEvent.RETURNED: Transition(Action.RESTORE, State.KNOWN),
        },
    ),
    State.FORGOTTEN: {event: Transition(Action.IGNORE, State.FORGOTTEN) for event in FileEvent},
}
