"""Stamp the changes of this store since the last sync: each new version and each deletion gets a stamp.

This happens before segments of other devices are read, so that a change made after seeing theirs gets a later stamp.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ...domain.devices import Carry, DeletionNote, SentConversation, Version, first_stamp
from ...domain.records import Trust
from ...domain.when import to_ms
from ...store import Store
from ...store.devices import DELETABLE_ROWS, ROWS
from .loading import LIVE, LoadedMemory, load_conversation, load_memory
from .wire import digest, former_digest, former_of, rest_digest

MEMORY, CONVERSATION, STATE, CHECKPOINTS = "memory", "conversation", "state", "checkpoints"
STAMPED_AT_ONCE = 200
"""Records per transaction, so that other writers do not wait long."""


class Stamper:
    def __init__(self, store: Store, device: str, carry: str, sync_number: int, now: datetime) -> None:
        self._store = store
        self._room = store.devices
        self._device = device
        self._carry = carry
        self._sync_number = sync_number
        self._now = now

    def stamp_all(self) -> None:
        while True:
            with self._store.transaction():
                # Read in the same transaction that stamps: a change in between is noted again and found by the next
                # round.
                changes = self._room.changed(STAMPED_AT_ONCE)
                self.stamp(changes)
            if not changes:
                return

    def stamp(self, changes: Sequence[tuple[str, str]]) -> None:
        """Stamp changes, inside the caller's transaction."""
        for kind, id in changes:
            if kind == MEMORY:
                self._stamp_memory(id)
            elif kind == CONVERSATION:
                self._stamp_conversation(id)
            elif kind == CHECKPOINTS:
                self._widen_deletion(id)
            else:
                self._stamp_row(kind, id)
        self._room.settle(changes)

    def _stamp_memory(self, id: str) -> None:
        if self._room.deletions([id]):
            self._room.drop_versions(id)
            return  # if it came back, it is deleted again in this sync
        versions = self._room.versions(MEMORY, id)
        loaded = load_memory(self._store, id)
        if loaded is None:  # even if it was never sent: a copy of this home may have sent it
            if self._store.space_copies.get([id]):
                return  # other machines have copies of the space of their own
            self._delete(MEMORY, id, [each.stamp for each in versions])
            return
        if loaded.memory.trust is Trust.SPACE:
            return  # the team's server has it, for every machine that joins the space
        self._room.put_versions(MEMORY, id, self._new_versions(loaded, versions))
        self._stamp_state(id, loaded.state)

    def _new_versions(self, loaded: LoadedMemory, versions: Sequence[Version]) -> list[Version]:
        """Versions that are not known yet, and known ones that were replaced without a history."""
        memory, history, _ = loaded
        rest = rest_digest(memory)
        values = [*history, former_of(memory)]
        digests = [former_digest(each) for each in values]
        known = {each.digest for each in versions}
        stamps = [each.stamp for each in versions]
        latest = max(versions, key=lambda each: each.order, default=None)
        new: list[Version] = []
        for number, (former, each_digest) in enumerate(zip(values, digests, strict=True), start=1):
            is_present = number == len(values)
            if (
                is_present
                and latest is not None
                and (latest.digest, latest.rest) == (each_digest, rest)
                and not new
            ):
                continue
            if not is_present and each_digest in known:
                continue
            stamps.append(first_stamp(to_ms(former.saved_at), stamps))
            new.append(Version(stamps[-1], self._device, each_digest, rest, False, False))
        # The history was shortened here on purpose, so the others drop these versions too.
        dropped = [each for each in versions if each.digest not in digests and not each.is_dropped]
        return [*new, *(each._replace(is_dropped=True) for each in dropped)]

    def _stamp_conversation(self, id: str) -> None:
        known = self._room.conversation(id)
        loaded = load_conversation(self._store, id)
        is_buried = self._room.is_buried(id)
        if is_buried or loaded is None:
            # without a tombstone the record continues under another id and was not forgotten
            if is_buried and not self._room.deletions([id]):
                self._delete(CONVERSATION, id, [])
            self._room.drop_conversation(id)
            return
        if self._carry != Carry.CONVERSATIONS or self._room.deletions([id]):
            return
        known = known or SentConversation(id, 0, 0, 0, "", True)
        self._room.put_conversation(known._replace(is_unsent=True))
        self._stamp_state(id, loaded.state)

    def _stamp_state(self, id: str, state: str) -> None:
        versions = self._room.versions(STATE, id)
        # A record that was never archived needs no state: live is what all machines assume.
        if state == (versions[-1].digest if versions else LIVE):
            return
        stamp = first_stamp(to_ms(self._now), [each.stamp for each in versions])
        self._room.put_latest(STATE, id, Version(stamp, self._device, state, "", False, False))

    def _stamp_row(self, kind: str, id: str) -> None:
        row = self._room.row(kind, id)
        versions = self._room.versions(kind, id)
        stamps = [each.stamp for each in versions]
        if row is None:
            if kind in DELETABLE_ROWS and not self._room.deletions([id]):
                self._delete(kind, id, stamps)
            return
        content = digest({name: value for name, value in row.items() if name != "project"})
        if versions and versions[-1].digest == content:
            return
        made_at = next((row[name] for name in reversed(ROWS[kind]) if name == "updated_at"), to_ms(self._now))
        version = Version(first_stamp(made_at, stamps), self._device, content, "", False, False)
        self._room.put_latest(kind, id, version)

    def _delete(self, kind: str, id: str, stamps: Sequence[int]) -> None:
        stamp = first_stamp(to_ms(self._now), stamps)
        note = DeletionNote(id, kind, stamp, self._device, self._sync_number, self._now, False, False, True)
        self._room.put_deletion(note)
        self._room.drop_versions(id)

    def _widen_deletion(self, id: str) -> None:
        known = self._room.deletions([id]).get(id)
        stamp = first_stamp(to_ms(self._now), [])
        note = known or DeletionNote(
            id, MEMORY, stamp, self._device, self._sync_number, self._now, False, False, True
        )
        self._room.put_deletion(note._replace(with_checkpoints=True, is_sent=False))
