"""The state table of foreign conversations: it alone decides how file content affects a stored conversation.

No content is ever lost, and existing files are authoritative for their own content:

- a file that grows adds turns; a turn that is read again replaces the stored one, unless it is only the beginning of
  it (an older, shorter copy);
- when a file is rewritten in place, turns that it no longer contains are deleted, unless another existing file has
  them;
- when a file vanishes, nothing is deleted. Nothing is deleted either if it comes back, whether unchanged, older or
  changed. Turns that are then read from it belong to it again. Turns of a vanished file that another file contains
  belong to the other file: a conversation that was moved, copied or compressed belongs to the file that exists.

The state is read from the store each time. A pair that is not in the table cannot occur.
"""

from __future__ import annotations

from enum import StrEnum, auto


class State(StrEnum):
    NEW = auto()
    """The conversation is not stored."""
    KNOWN = auto()
    """It is stored, and a file with its content exists."""
    GONE = auto()
    """It is stored, and no file with its content exists."""
    ARCHIVED = auto()
    FORGOTTEN = auto()


class FileEvent(StrEnum):
    TOLD = auto()
    """A file has content for it."""
    SILENT = auto()
    """A file mentions a conversation that is not stored, without any messages."""
    REPEATED = auto()
    """A file has nothing newer than the archived conversation."""
    NAMED = auto()
    """A list of titles contains its title."""
    WORSE = auto()
    """A source of lower quality than the stored one mentions it, for example a log of prompts."""
    BETTER = auto()
    """A source of higher quality mentions it for the first time."""
    REWRITTEN = auto()
    """A file that was rewritten in place mentions it for the first time since."""
    RETURNED = auto()
    """A file that had vanished and came back mentions it for the first time since."""
    ENDED = auto()
    """A rewritten file that still contains it was read to its end."""
    LEFT_OUT = auto()
    """A file that had vanished was read to its end and no longer contains it."""
    VANISHED = auto()
    """The file it belongs to vanished, or no longer contains it."""
    REAPPEARED = auto()
    """The file it belongs to exists again, unchanged."""


class Action(StrEnum):
    IGNORE = auto()
    ADD = auto()
    MERGE = auto()
    """Add new turns, replace turns that were read again, and leave the others."""
    RENEW = auto()
    """Mark the file's earlier turns as waiting to be read again; then merge."""
    RELEASE = auto()
    """Detach the file's earlier turns from it, so that they stay; then merge its content, if any."""
    SUPERSEDE = auto()
    """Delete the content of the worse source; then add."""
    RESTORE = auto()
    """Move it out of the archive; then merge."""
    RENAME = auto()
    SETTLE = auto()
    """Delete waiting turns that no existing file contains."""
    MARK_GONE = auto()
    MARK_BACK = auto()


TRANSITIONS: dict[tuple[State, FileEvent], Action] = {
    (State.NEW, FileEvent.TOLD): Action.ADD,
    (State.NEW, FileEvent.SILENT): Action.IGNORE,
    # A title without content is not worth storing.
    (State.NEW, FileEvent.NAMED): Action.IGNORE,
    (State.NEW, FileEvent.VANISHED): Action.IGNORE,
    (State.KNOWN, FileEvent.TOLD): Action.MERGE,
    (State.KNOWN, FileEvent.NAMED): Action.RENAME,
    # The stored content comes from a more complete source.
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
    # Its file had vanished: turns that are missing from other files stay.
    (State.GONE, FileEvent.REWRITTEN): Action.RELEASE,
    (State.GONE, FileEvent.RETURNED): Action.RELEASE,
    (State.GONE, FileEvent.ENDED): Action.SETTLE,
    (State.GONE, FileEvent.LEFT_OUT): Action.RELEASE,
    (State.GONE, FileEvent.REAPPEARED): Action.MARK_BACK,
    # New messages bring a conversation back to life.
    (State.ARCHIVED, FileEvent.TOLD): Action.RESTORE,
    (State.ARCHIVED, FileEvent.NAMED): Action.IGNORE,
    (State.ARCHIVED, FileEvent.WORSE): Action.IGNORE,
    (State.ARCHIVED, FileEvent.REPEATED): Action.IGNORE,
    (State.ARCHIVED, FileEvent.BETTER): Action.SUPERSEDE,
    (State.ARCHIVED, FileEvent.VANISHED): Action.MARK_GONE,
    (State.ARCHIVED, FileEvent.REAPPEARED): Action.MARK_BACK,
    # A forgotten conversation never comes back.
    (State.FORGOTTEN, FileEvent.TOLD): Action.IGNORE,
    (State.FORGOTTEN, FileEvent.SILENT): Action.IGNORE,
    (State.FORGOTTEN, FileEvent.NAMED): Action.IGNORE,
    (State.FORGOTTEN, FileEvent.VANISHED): Action.IGNORE,
}
