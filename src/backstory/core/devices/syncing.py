"""One sync with the folder: stamp local changes, read new segments, erase forgotten records, write unsent ones."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Collection, Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from ... import __version__
from ...domain.devices import DeletionNote, Peer, WireRecord
from ...domain.errors import NotAllowed
from ...domain.filters import Filter
from ...domain.when import from_ms, to_ms
from ...store.devices import DELETABLE_ROWS
from ..calls import Call
from ..engine import Engine
from ..forgetting.erasure import Erasure
from ..forgetting.removal import ForgetRequest
from .folder import DeviceFolder, FolderListing
from .identities import ProjectIdentities
from .merging import Merger, TransferCounts
from .segments import NotOpened, OpenedSegment, SegmentName, is_whole, open_segment, parse_name, subjects
from .sending import OutgoingRecord, SegmentWriter, Sender
from .setup import DeviceSetup
from .stamping import CONVERSATION, MEMORY, Stamper
from .vault import Vault

SMALL_SEGMENT_BYTES = 64_000
MAX_SMALL_SEGMENTS = 32
"""More of a device's own small segments become one."""
PATIENT_SYNCS = 5
PATIENT_S = 86_400
"""Seconds that other devices leave the removal of a forgotten record to the device that forgot it."""
ANNOUNCED_EVERY_S = 86_400
"""Interval after which a device without news still writes a segment, to show that it is active."""
DEVICE = "device"
"""A record about a device itself: that it takes part, left, or was removed."""
PRESENT, LEFT, REMOVED = "", "left", "removed"


class SkippedFile(NamedTuple):
    file: str
    why: str


class DeviceSync:
    """One run of a sync. The caller has the lease."""

    def __init__(
        self, engine: Engine, setup: DeviceSetup, folder: DeviceFolder, call: Call, home: Path
    ) -> None:
        self.engine = engine
        self.store = engine.store
        self.room = engine.store.devices
        self.setup = setup
        self.folder = folder
        self.call = call
        self.now: datetime = engine.now()
        self.waiting: list[str] = []
        self.skipped: list[SkippedFile] = []
        self.received = TransferCounts()
        self.sent = TransferCounts()
        self.listing: FolderListing = folder.read_listing()
        self.device = self._device()
        self.number = self.room.begin_sync(self.now)
        self.projects = ProjectIdentities(self.room, home, setup.name)
        self.stamper = Stamper(self.store, self.device, setup.carry, self.number, self.now)
        self.merger = Merger(self.store, self.stamper, self.projects, self.number, self.now)

    def run(self) -> None:
        # Before anything is read: a change that was made without knowledge of theirs must not look later than it is.
        self.stamper.stamp_all()
        # A sync may have ended between a deletion and its erasure.
        has_erased = erase_undone(self.engine)
        self._read_new()
        has_erased |= erase_undone(self.engine)
        self._match_projects()
        # After reading, which shows what others replaced on purpose; before sending, which writes it again.
        self._heal()
        self._send()
        self._clear_folder()
        self._compact()
        if has_erased:
            Erasure(self.engine).finish()
        if self.received.memories or self.received.conversations:
            self.engine.embed_soon()

    def _device(self) -> str:
        """The id to write under. A store that finds segments in its own directory which it never wrote is a copy of another
        machine's, or was restored from a backup: it takes a new one."""
        known, device = self.room.segments(self._listed()), self.room.identity()
        if device is not None and not any(
            name.device == device and str(name) not in known and self._open(name) is not None
            for name in self.listing.segments
        ):
            return device
        fresh = os.urandom(6).hex()
        with self.store.transaction():
            if device is None:
                self.room.enable(fresh)
            else:
                self.room.rename(fresh)
        # These were notes about our own former directory, which is now one of others and read below.
        self.skipped.clear()
        self.waiting.clear()
        return fresh

    def _open(self, name: SegmentName) -> OpenedSegment | None:
        """The segment, if it is complete and belongs to our vault; otherwise None, and the reason is recorded."""
        raw = b""
        for path in self.listing.segments[name]:
            raw = self.folder.read(path)
            if is_whole(name, raw):
                break
        else:
            self.waiting.append(str(name))
            return None
        try:
            return open_segment(self.setup.vault, name, raw)
        except NotOpened as error:
            self.skipped.append(SkippedFile(str(name), str(error)))
            return None

    def _listed(self) -> list[str]:
        return list(map(str, self.listing.segments))

    def _read_new(self) -> None:
        known = self.room.segments(self._listed())
        new = [n for n in self.listing.segments if str(n) not in known or known[str(n)].state == "pending"]
        self.waiting += self.listing.placeholders
        self.skipped += [SkippedFile(path, "not a file of Backstory") for path in self.listing.foreign]
        segments = size = 0
        for number, name in enumerate(sorted(new, key=lambda each: (each.number, each.device))):
            self._step(number, len(new), "Reading segments")
            segment = self._open(name)
            if segment is None:
                continue
            try:
                self.merger.merge(segment, self._size(name), is_mine=name.device == self.device)
            # sealed with our key by a version with a fault
            except (KeyError, TypeError, ValueError) as error:
                self.skipped.append(SkippedFile(str(name), f"a record in it is invalid ({error!r})"))
                continue
            self._note_header(segment)
            segments, size = segments + 1, size + self._size(name)
        self.received = self.merger.counts(segments, size)

    def _size(self, name: SegmentName) -> int:
        try:
            return os.stat(self.folder.root / self.listing.segments[name][0]).st_size
        except OSError:
            return 0

    def _note_header(self, segment: OpenedSegment) -> None:
        header, name = segment.header, segment.name
        peers = {peer.id: peer for peer in self.room.peers()}
        known = peers.get(name.device)
        with self.store.transaction():
            # A replaced file may still be listed: it must be neither read nor written again.
            self.room.set_segment_state(header.get("replaces", ()), "replaced")
            if known is None or known.number < name.number:
                state, mark = (known.state, known.mark) if known else ("", "")
                alive = (*map(str, header.get("alive", ())), str(name))
                seen_at = from_ms(int(header.get("at", 0)))
                called, system, version = (
                    str(header.get(key, "")) for key in ("name", "platform", "version")
                )
                peer = Peer(name.device, called, system, version, name.number, seen_at, alive, state, mark)
                self.room.put_peer(peer)
            for record in segment.records:
                if record["k"] == DEVICE:
                    self._note_departure(record)

    def _note_departure(self, record: WireRecord) -> None:
        if record["id"] == self.device and record["v"] == REMOVED:
            raise NotAllowed(
                "This machine was removed from the vault; nothing was sent.",
                hint="`backstory devices leave`, then `backstory devices join FOLDER` to join again.",
            )
        known = next((peer for peer in self.room.peers() if peer.id == record["id"]), None)
        peer = known or Peer(record["id"], str(record.get("name", "")), "", "", 0, self.now, ())
        self.room.put_peer(peer._replace(state=str(record["v"]), alive=()))

    def _match_projects(self) -> None:
        """Move records of another machine's project to its clone on this machine, if there is one by now."""
        candidates = [str(self.engine.settings.project), *self.store.entries.projects()]
        moved = self.projects.match_new(candidates)
        with self.store.transaction():
            for former, now in moved.items():
                self.room.move_project(former, now)

    def _heal(self) -> None:
        """Write segments of this device again that were deleted from the folder by mistake."""
        # A file that iCloud has not fetched is not lost.
        listed = {*self._listed(), *map(_without_cloud, self.listing.placeholders)}
        missing = [each for each in self.room.own_segments() if each.name not in listed]
        with self.store.transaction():
            for each in missing:
                self.room.resend(self.room.held_by(each.n))
                self.room.hold(each.n, {})
            self.room.set_segment_state([each.name for each in missing], "replaced")

    def _send(self) -> None:
        writer = self._writer()
        counted: dict[str, set[str]] = {}

        def counting(records: Iterable[OutgoingRecord]) -> Iterator[OutgoingRecord]:
            for number, each in enumerate(records):
                self._step(number, None, "Writing records")
                counted.setdefault(each.record["k"], set()).add(each.record["id"])
                yield each

        writer.write(counting(Sender(self.store, self.projects, self.merger.arrived).outgoing()))
        own = next((peer for peer in self.room.peers() if peer.id == self.device), None)
        if not writer.written and (
            # The clock may have been set back, so the difference counts in both directions.
            own is None or abs((self.now - own.seen_at).total_seconds()) >= ANNOUNCED_EVERY_S
        ):
            writer.write([OutgoingRecord(departure(self.device, self.setup.name, PRESENT))])
        if writer.written:
            with self.store.transaction():
                self.room.put_peer(Peer(self.device, self.setup.name, "", "", 0, self.now, ()))
        self.sent = TransferCounts(
            len(counted.get(MEMORY, ())),
            len(counted.get(CONVERSATION, ())),
            len(counted.get("forget", ())),
            len(writer.written),
            writer.bytes,
        )

    def write_records(
        self, records: Iterable[WireRecord], replaces: Collection[str] = (), vault: Vault | None = None
    ) -> None:
        """Write records; with another vault, under its key."""
        self._writer(vault).write(map(OutgoingRecord, records), replaces)

    def _clear_folder(self) -> None:
        """Rewrite every segment that contains deleted records without them, regardless of its author, and delete the
        original."""
        listed = {str(name): name for name in self.listing.segments}
        known = self.room.segments(listed)
        due = {
            name for name, note in self.room.forgotten_in_segments() if name in listed and self._is_due(note)
        }
        self.replace_segments([listed[name] for name in sorted(due)])
        for text, name in listed.items():  # a synchroniser may bring deleted files back
            if text in known and known[text].state == "replaced" and text not in due:
                self._delete(name)

    def _is_due(self, note: DeletionNote) -> bool:
        waited_s = abs((self.now - note.heard_at).total_seconds())
        return (
            note.device == self.device
            or self.number - note.heard_sync >= PATIENT_SYNCS
            or waited_s >= PATIENT_S
        )

    def replace_segments(self, names: Collection[SegmentName], vault: Vault | None = None) -> None:
        """Write the remaining records of these segments into new ones of this device, and delete the old ones.

        With another vault, the new segments use its key."""
        segments = [segment for name in names if (segment := self._open(name)) is not None]
        if not segments:
            return
        forgotten = self.room.deletions(
            {id for each in segments for record in each.records for id in subjects(record)}
        )
        replaced = [str(segment.name) for segment in segments]
        remaining = {
            # Two segments can contain the same record; the new one has it once.
            repr(record): record
            for segment in segments
            for record in segment.records
            if record["k"] == "forget" or not forgotten.keys() & subjects(record)
        }
        # Written before the old ones are deleted: an interruption leaves a record twice and never not at all.
        self.write_records(remaining.values(), replaced, vault)
        known = self.room.segments(replaced)
        with self.store.transaction():
            self.room.set_segment_state(replaced, "replaced")
            for note in known.values():
                self.room.hold(note.n, {})
        for segment in segments:
            self._delete(segment.name)

    def _delete(self, name: SegmentName) -> None:
        for path in self.listing.segments[name]:
            self.folder.delete(path)

    def _compact(self) -> None:
        own = {each.name for each in self.room.own_segments() if each.size < SMALL_SEGMENT_BYTES}
        small = [name for name in self.listing.segments if str(name) in own and name.device == self.device]
        if len(small) > MAX_SMALL_SEGMENTS:
            self.replace_segments(small)

    def _writer(self, vault: Vault | None = None) -> SegmentWriter:
        header: dict[str, Any] = {
            "device": self.device,
            "name": self.setup.name,
            "platform": f"{sys.platform} {platform.machine()}",
            "version": __version__,
            "at": to_ms(self.now),
        }
        return SegmentWriter(self.store, self.folder, vault or self.setup.vault, self.device, header)

    def _step(self, completed: int, total: int | None, message: str) -> None:
        self.call.raise_if_cancelled()
        self.call.progress(completed, total, message)


def _without_cloud(path: str) -> str:
    """The name that a file has which iCloud lists and has not fetched."""
    folder, _, name = path.rpartition("/")
    segment = parse_name(f"{folder}/{name.removeprefix('.').removesuffix('.icloud')}")
    return str(segment) if segment else path


def erase_undone(engine: Engine) -> bool:
    """Erase records that were deleted elsewhere, including those that came back. Returns whether there were any."""
    room = engine.store.devices
    undone = room.undone_deletions()
    memories = [note for note in undone if note.kind == MEMORY]
    conversations = [note.id for note in undone if note.kind == CONVERSATION]
    for with_checkpoints in (False, True):
        ids = tuple(note.id for note in memories if note.with_checkpoints == with_checkpoints)
        if ids:
            Erasure(engine).forget(ForgetRequest(memories=Filter(ids=ids), with_checkpoints=with_checkpoints))
    if conversations:
        Erasure(engine).forget(ForgetRequest(conversations))
    with engine.store.transaction():
        rows = [note for note in undone if note.kind in DELETABLE_ROWS]
        for note in rows:
            room.delete_row(note.kind, note.id)
        if rows:
            engine.store.residue.note(DELETABLE_ROWS)
        room.finish_deletions([note.id for note in undone])
        room.settle([(note.kind, note.id) for note in undone])
    return bool(undone)


def departure(id: str, name: str, state: str) -> WireRecord:
    return {"k": DEVICE, "id": id, "name": name, "v": state}


def check_vaults(folder: DeviceFolder, listing: FolderListing, setup: DeviceSetup) -> None:
    """Raise NotAllowed if the folder has another vault or a new key."""
    vaults = folder.vaults(listing)
    others = {vault.id for vault in vaults} - {setup.vault.id}
    if others:
        raise NotAllowed(
            f"{folder.path} contains another vault ({', '.join(sorted(others))}); nothing was sent.",
            hint="Use a folder for each vault, or `backstory devices leave` and join that one.",
        )
    if not vaults:
        raise NotAllowed(
            f"{folder.path} contains no vault; nothing was sent.",
            hint="If it was lost, `backstory devices init FOLDER` writes everything again.",
        )
    if vaults[0].number > setup.vault.number:
        raise NotAllowed(
            "The vault has a new key, since a machine was removed; nothing was sent.",
            hint="`backstory devices join FOLDER` with the new recovery code.",
        )
