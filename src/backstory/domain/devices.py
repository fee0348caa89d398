"""Devices: what one person's machines tell each other, and how versions of a record are ordered.

A stamp is the time of a change in milliseconds, shifted by 16 bits, plus a counter. The stamp of a change is greater than that of
every version of the record that the device knew, so an edit made after seeing another one is later, however wrong the clocks are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

STAMP_SHIFT = 16

DEVICE_SETUP = "devices.json"
"""In the data directory: which vault this machine takes part in, and its key."""

WireRecord = dict[str, Any]
"""One line of a segment: `k` its kind, `id`, `s` its stamp, `d` the device that made it, and its fields."""


class Carry:
    """What a device writes into the folder."""

    MEMORIES = "memories"
    CONVERSATIONS = "conversations"
    CHOICES = (MEMORIES, CONVERSATIONS)


class Version(NamedTuple):
    """One known version of a record."""

    stamp: int
    device: str
    digest: str
    """Of what is shown of it: the same digest is the same version, whoever stamped it."""
    rest: str
    """Digest of the fields that a history does not show."""
    is_dropped: bool
    """Whether it was replaced without leaving a history: no device shows it."""
    is_sent: bool

    @property
    def order(self) -> tuple[int, str]:
        return self.stamp, self.device


class DeletionNote(NamedTuple):
    """A deletion that every device repeats and remembers."""

    id: str
    kind: str
    stamp: int
    device: str
    heard_sync: int
    """The number of the sync in which this device heard of it."""
    heard_at: datetime
    with_checkpoints: bool
    is_sent: bool
    is_done: bool
    """Whether this store was cleared of it."""


class SegmentNote(NamedTuple):
    """What is known of a file in the folder."""

    n: int
    name: str
    device: str
    number: int
    size: int
    is_mine: bool
    state: str


class Peer(NamedTuple):
    """Another machine, or this one, as its last segment described it."""

    id: str
    name: str
    platform: str
    version: str
    number: int
    seen_at: datetime
    alive: tuple[str, ...]
    """The names of its segments."""
    state: str = ""
    """`left` or `removed`; empty for one that takes part."""
    mark: str = ""


class SentConversation(NamedTuple):
    """How much of a conversation is in the folder."""

    id: str
    mark: int
    messages: int
    revisions: int
    header: str
    is_unsent: bool


class KnownProject(NamedTuple):
    path: str
    identity: Mapping[str, Any]
    """`remotes`, `root`, `path` with the home as `~`, `name`, and `device`."""
    is_local: bool


def first_stamp(at_ms: int, known: Sequence[int]) -> int:
    """The stamp of a change made at a time by somebody who knows these stamps of the same record."""
    return max(at_ms << STAMP_SHIFT, *(stamp + 1 for stamp in known), 1)
