"""Records that one person's machines exchange, and the order of a record's versions.

A stamp is the time of a change in milliseconds, shifted left by 16 bits, plus a counter. A new stamp is greater than
the stamp of every version of the record that the device knew. An edit made after seeing another edit is therefore
later, even if the clocks are wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

STAMP_SHIFT = 16

DEVICE_SETUP = "devices.json"
"""File in the data directory that names the vault this machine belongs to and contains its key."""

WireRecord = dict[str, Any]
"""One line of a segment: `k` is the kind, `id` the id, `s` the stamp, `d` the device that made the change; the rest are
the record's fields."""


class Carry:
    """Kinds of records that a device writes to the shared folder."""

    MEMORIES = "memories"
    CONVERSATIONS = "conversations"
    CHOICES = (MEMORIES, CONVERSATIONS)


class Version(NamedTuple):
    """One known version of a record."""

    stamp: int
    device: str
    digest: str
    """Digest of the visible fields.

    Two versions with the same digest are the same version, regardless of their stamps."""
    rest: str
    """Digest of the fields that are not part of the history."""
    is_dropped: bool
    """True if this version was replaced without leaving a history. No device shows it."""
    is_sent: bool

    @property
    def order(self) -> tuple[int, str]:
        return self.stamp, self.device


class DeletionNote(NamedTuple):
    """A deletion that every device repeats and records."""

    id: str
    kind: str
    stamp: int
    device: str
    heard_sync: int
    """The number of the sync in which this device received the deletion."""
    heard_at: datetime
    with_checkpoints: bool
    is_sent: bool
    is_done: bool
    """True if the deletion was applied to this store."""


class SegmentNote(NamedTuple):
    """One file of the shared folder, as this device knows it."""

    n: int
    name: str
    device: str
    number: int
    size: int
    is_mine: bool
    state: str


class Peer(NamedTuple):
    """A machine, possibly this one, as its last segment describes it."""

    id: str
    name: str
    platform: str
    version: str
    number: int
    seen_at: datetime
    alive: tuple[str, ...]
    """The names of its current segments."""
    state: str = ""
    """`left` or `removed`; "" for an active machine."""
    mark: str = ""


class SentConversation(NamedTuple):
    """The part of a conversation that was written to the shared folder."""

    id: str
    mark: int
    messages: int
    revisions: int
    header: str
    is_unsent: bool


class KnownProject(NamedTuple):
    path: str
    identity: Mapping[str, Any]
    """`remotes`, `root`, `path` (with the home directory as `~`), `name` and `device`."""
    is_local: bool


def first_stamp(at_ms: int, known: Sequence[int]) -> int:
    """Return the stamp of a change at `at_ms` on a device that knows the stamps `known` of the same record."""
    return max(at_ms << STAMP_SHIFT, *(stamp + 1 for stamp in known), 1)
