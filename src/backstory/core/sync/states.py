"""What becomes of a conversation when a file tells of it: one table, and nothing else decides.

All that ever existed is kept, and the files that are there have the say about what they tell:

- a file that goes on adds; a file that tells a turn again replaces it, unless what it tells is only the beginning of what
  is kept (an older, shorter copy);
- a file that was rewritten in place takes back what it told and does not tell any more, unless another file that is
  there tells it too;
- a file that vanished takes nothing back. If it comes back, as it was or older or changed, nothing is taken back either;
  what it tells from then on is its own again, and so is what any other file tells of what the vanished one told: a
  conversation that was moved, copied or compressed belongs to the file that is there.

The state is read from the store each time. A pair that is not in the table cannot occur.
"""

from __future__ import annotations

from enum import StrEnum, auto


class State(StrEnum):
    NEW = auto()
    """Nothing is kept of it."""
    KNOWN = auto()
    """It is kept, and a file that tells it is there."""
    GONE = auto()
    """It is kept, and no file that tells it is there."""
    ARCHIVED = auto()
    FORGOTTEN = auto()


class FileEvent(StrEnum):
    TOLD = auto()
    """A file tells something of it."""
    SILENT = auto()
    """A file tells that there is one of which nothing is kept, and nothing that was said."""
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
    ENDED = auto()
    """A file that was rewritten, and told of it again, was read to its end."""
    LEFT_OUT = auto()
    """A file that had vanished was read to its end, and does not tell of it any more."""
    VANISHED = auto()
    """The file that it belongs to vanished, or does not hold it any more."""
    REAPPEARED = auto()
    """The file that it belongs to is there again, as it was."""


class Action(StrEnum):
    IGNORE = auto()
    ADD = auto()
    MERGE = auto()
    """Add what is told, replace what is told again, and leave the rest."""
    RENEW = auto()
    """Let what the file told before wait for being told again; then merge."""
    RELEASE = auto()
    """Let what the file told before stay as that of a file that is no more; then merge what it tells now, if anything."""
    SUPERSEDE = auto()
    """Drop what the worse witness told; then add."""
    RESTORE = auto()
    """Take it out of the archive; then merge."""
    RENAME = auto()
    SETTLE = auto()
    """Drop what was not told again and is told by no other file that is there."""
    MARK_GONE = auto()
    MARK_BACK = auto()


TRANSITIONS: dict[tuple[State, FileEvent], Action] = {
    (State.NEW, FileEvent.TOLD): Action.ADD,
    (State.NEW, FileEvent.SILENT): Action.IGNORE,
    (State.NEW, FileEvent.NAMED): Action.IGNORE,
    (State.NEW, FileEvent.VANISHED): Action.IGNORE,
    (State.KNOWN, FileEvent.TOLD): Action.MERGE,
    (State.KNOWN, FileEvent.NAMED): Action.RENAME,
    (State.KNOWN, FileEvent.WORSE): Action.IGNORE,
    (State.KNOWN, FileEvent.BETTER): Action.SUPERSEDE,
    (State.KNOWN, FileEvent.REWRITTEN): Action.RENEW,
    (State.KNOWN, FileEvent.RETURNED): Action.RELEASE,
    (State.KNOWN, FileEvent.ENDED): Action.SETTLE,
    (State.KNOWN, FileEvent.LEFT_OUT): Action.RELEASE,
    (State.KNOWN, FileEvent.VANISHED): Action.MARK_GONE,
    (State.GONE, FileEvent.TOLD): Action.MERGE,
    (State.GONE, FileEvent.NAMED): Action.RENAME,
    (State.GONE, FileEvent.WORSE): Action.IGNORE,
    (State.GONE, FileEvent.BETTER): Action.SUPERSEDE,
    (State.GONE, FileEvent.REWRITTEN): Action.RELEASE,
    (State.GONE, FileEvent.RETURNED): Action.RELEASE,
    (State.GONE, FileEvent.ENDED): Action.SETTLE,
    (State.GONE, FileEvent.LEFT_OUT): Action.RELEASE,
    (State.GONE, FileEvent.REAPPEARED): Action.MARK_BACK,
    (State.ARCHIVED, FileEvent.TOLD): Action.RESTORE,
    (State.ARCHIVED, FileEvent.NAMED): Action.IGNORE,
    (State.ARCHIVED, FileEvent.WORSE): Action.IGNORE,
    (State.ARCHIVED, FileEvent.REPEATED): Action.IGNORE,
    (State.ARCHIVED, FileEvent.BETTER): Action.SUPERSEDE,
    (State.ARCHIVED, FileEvent.VANISHED): Action.MARK_GONE,
    (State.ARCHIVED, FileEvent.REAPPEARED): Action.MARK_BACK,
    (State.FORGOTTEN, FileEvent.TOLD): Action.IGNORE,
    (State.FORGOTTEN, FileEvent.SILENT): Action.IGNORE,
    (State.FORGOTTEN, FileEvent.NAMED): Action.IGNORE,
    (State.FORGOTTEN, FileEvent.VANISHED): Action.IGNORE,
}
