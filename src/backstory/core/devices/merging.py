"""Merge the records of other devices into this store. The result depends on the set of records, not on their order.

Of several versions the one with the greatest stamp is current and the others are history; messages form a set; a
deletion wins over everything. Each segment is merged in one transaction, after local changes to the same records
were stamped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from ...domain.devices import DeletionNote, SegmentNote, SentConversation, Version, WireRecord
from ...domain.records import Conversation, Former, Memory
from ...store import Store
from ...store.devices import ROWS
from .identities import ProjectIdentities
from .loading import (
    LIVE,
    LoadedMemory,
    load_conversation,
    load_memory,
    set_conversation_state,
    set_memory_state,
)
from .segments import OpenedSegment, entities_in, subjects
from .stamping import CONVERSATION, MEMORY, STATE, Stamper
from .wire import (
    digest,
    former_digest,
    former_of,
    header_digest,
    header_rank,
    message_rank,
    read_conversation,
    read_memory,
    read_message,
    read_sayings,
    read_traces,
    rest_digest,
)

FORGET = "forget"


class TransferCounts(NamedTuple):
    memories: int = 0
    conversations: int = 0
    forgotten: int = 0
    segments: int = 0
    bytes: int = 0


class Merger:
    def __init__(
        self,
        store: Store,
        stamper: Stamper,
        projects: ProjectIdentities,
        sync_number: int,
        now: datetime,
        *,
        is_in_folder: bool = True,
    ) -> None:
        """`is_in_folder` is false for records that came another way, and that this device has to send on."""
        self._is_in_folder = is_in_folder
        self._store = store
        self._room = store.devices
        self._stamper = stamper
        self._projects = projects
        self._sync_number = sync_number
        self._now = now
        self._memories: set[str] = set()
        self._conversations: set[str] = set()
        self._forgotten: set[str] = set()
        self.arrived: dict[str, set[str]] = {}
        """Messages by conversation that need not be sent, because the folder already has them in this form."""

    def counts(self, segments: int, size: int) -> TransferCounts:
        """The new records of everything merged so far, which came in this many segments and bytes."""
        return TransferCounts(
            len(self._memories), len(self._conversations), len(self._forgotten), segments, size
        )

    def merge(self, segment: OpenedSegment, size: int, *, is_mine: bool) -> None:
        name = segment.name
        note = SegmentNote(0, str(name), name.device, name.number, size, is_mine, "read")
        self.merge_records(segment.records, lambda: self._note(segment, note))

    def merge_records(
        self, records: Iterable[WireRecord], afterwards: Callable[[], None] = lambda: None
    ) -> None:
        """Merge records in one transaction, which also calls `afterwards`. Unknown kinds are left for a later version."""
        records = [
            record for record in records if isinstance(record, dict) and isinstance(record.get("id"), str)
        ]
        touched = [
            (str(record["of"] if record["k"] in (STATE, FORGET) else record["k"]), str(record["id"]))
            for record in records
        ]
        with self._store.transaction():
            # outside of a vault no trigger records changes, so every touched record is compared
            changes = self._room.changed(0, only=touched) if self._is_in_folder else self._stampable(touched)
            self._stamper.stamp(changes)
            for record in records:
                if record["k"] == FORGET:
                    self._merge_deletion(record)
            # Deletions were merged above, so a record and its deletion in one segment leave nothing behind.
            forgotten = self._room.deletions({id for record in records for id in subjects(record)})
            remaining = [
                record
                for record in records
                if record["k"] != FORGET and not forgotten.keys() & subjects(record)
            ]
            for record in self._unknown(remaining):
                self._merge_record(record)
            afterwards()
            self._room.settle(touched)  # the triggers recorded the rows that were just written

    def _unknown(self, records: Sequence[WireRecord]) -> list[WireRecord]:
        """The records without versions of memories that were read before.

        Each deletion, and each merge of small segments, writes the rest of a segment again, so most arriving records
        are known."""
        ids = (record["id"] for record in records if record["k"] == MEMORY)
        known = self._room.sent_versions(MEMORY, ids) if self._is_in_folder else {}
        return [record for record in records if not _is_repeated(record, known.get(record["id"], ()))]

    def _stampable(self, touched: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
        """Records that are here, or were."""
        return [
            (kind, id)
            for kind, id in touched
            if self._room.versions(kind, id)
            or (kind == MEMORY and load_memory(self._store, id) is not None)
            or (kind == CONVERSATION and self._room.conversation(id) is not None)
            or (kind in ROWS and self._room.row(kind, id) is not None)
        ]

    def _note(self, segment: OpenedSegment, note: SegmentNote) -> None:
        number = self._room.put_segment(note)
        self._room.hold(number, entities_in(segment.records))

    def _merge_record(self, record: WireRecord) -> None:
        kind = record["k"]
        if kind == MEMORY:
            self._merge_memory(record)
        elif kind == CONVERSATION:
            self._merge_conversation(record)
        elif kind == STATE:
            self._merge_state(record)
        elif kind in ROWS:
            self._merge_row(kind, record)

    def _merge_deletion(self, record: WireRecord) -> None:
        id, order = record["id"], (record["s"], record["d"])
        reaches = bool(record.get("checkpoints"))
        known = self._room.deletions([id]).get(id)
        if known is None:
            self._forgotten.add(id)
            heard = (self._sync_number, self._now)
            known = DeletionNote(id, record["of"], *order, *heard, reaches, self._is_in_folder, False)
        else:
            # Any order of arrival must give the same note, so the earliest of several deletions counts.
            stamp, device = min((known.stamp, known.device), order)
            # A deletion that reaches checkpoints as well has to be carried out again.
            is_wider = reaches and not known.with_checkpoints
            known = known._replace(
                stamp=stamp,
                device=device,
                with_checkpoints=known.with_checkpoints or reaches,
                is_sent=known.is_sent or (self._is_in_folder and reaches == known.with_checkpoints),
                is_done=known.is_done and not is_wider,
            )
        self._room.put_deletion(known)
        self._room.drop_versions(id)
        self._room.drop_conversation(id)

    def _merge_memory(self, record: WireRecord) -> None:
        id = record["id"]
        memory = read_memory(id, self._projects.local_name(record["p"]), record)
        arriving = Version(
            record["s"], record["d"], former_digest(former_of(memory)), rest_digest(memory), False, True
        )
        versions = {each.order: each for each in self._room.versions(MEMORY, id)}
        is_known = arriving.order in versions
        for each in list(versions.values()):
            # the same version, stamped here as well because it was here before the devices met
            if (
                not each.is_sent
                and each.digest == arriving.digest
                and each.stamp >> 16 == arriving.stamp >> 16
            ):
                self._room.drop_version(MEMORY, id, versions.pop(each.order))
        # A version that was removed from the history must not return from a device that still has it.
        dropped = {each.digest for each in versions.values() if each.is_dropped} | set(
            record.get("drops", ())
        )
        known = versions.get(arriving.order, arriving)
        versions[arriving.order] = known._replace(is_sent=self._is_in_folder or (is_known and known.is_sent))
        for each_digest in dropped - {each.digest for each in versions.values()}:
            versions[0, each_digest] = Version(0, each_digest, each_digest, "", True, True)
        marked = [each._replace(is_dropped=each.digest in dropped) for each in versions.values()]
        self._room.put_versions(MEMORY, id, marked)
        loaded = load_memory(self._store, id)
        merged = _merged_memory(marked, loaded, arriving, memory)
        # Writing an unchanged record would mark it as changed, and machines would send it around forever.
        if loaded is None or (merged.memory, list(merged.history)) != (loaded.memory, list(loaded.history)):
            self._put_memory(loaded, merged)
        if not is_known:
            self._memories.add(id)
        self._enforce_state(id)

    def _put_memory(self, loaded: LoadedMemory | None, merged: LoadedMemory) -> None:
        id = merged.memory.id
        if loaded is not None:
            # Archived records are packed; they are unpacked, merged, and archived again.
            set_memory_state(self._store, loaded, LIVE)
        self._store.memories.put([merged.memory])
        self._room.put_history(id, merged.history)
        if loaded is not None:
            set_memory_state(self._store, merged._replace(state=LIVE), loaded.state)

    def _merge_state(self, record: WireRecord) -> None:
        id, order = record["id"], (record["s"], record["d"])
        known = self._room.versions(STATE, id)
        if known and known[-1].order >= order:
            return
        self._room.put_latest(STATE, id, Version(*order, str(record["v"]), "", False, self._is_in_folder))
        self._enforce_state(id)

    def _enforce_state(self, id: str) -> None:
        """Archive or restore a memory according to its latest known state, regardless of the order of arrival."""
        known = self._room.versions(STATE, id)
        if not known:
            return
        if (memory := load_memory(self._store, id)) is not None:
            set_memory_state(self._store, memory, known[-1].digest)
        elif (conversation := load_conversation(self._store, id)) is not None:
            set_conversation_state(self._store, conversation, known[-1].digest)

    def _merge_row(self, table: str, record: WireRecord) -> None:
        id, order = record["id"], (record["s"], record["d"])
        known = self._room.versions(table, id)
        if known and known[-1].order >= order:
            return
        row = {name: record.get(name) for name in ROWS[table]}
        row[ROWS[table][0]] = id
        if "project" in row:
            row["project"] = self._projects.local_name(record["p"])
        self._room.put_row(table, row)
        content = digest({name: value for name, value in row.items() if name != "project"})
        self._room.put_latest(table, id, Version(*order, content, "", False, self._is_in_folder))

    def _merge_conversation(self, record: WireRecord) -> None:
        id = record["id"]
        # Forgotten here: the copy of another machine must not bring it back.
        if self._room.is_buried(id):
            return
        loaded = load_conversation(self._store, id)
        arriving = read_conversation(id, self._projects.local_name(record["p"]), record)
        if loaded is not None:
            set_conversation_state(self._store, loaded, LIVE)
        present = None if loaded is None else loaded.conversation
        conversation = arriving if present is None else _merged_header(present, arriving)
        is_changed = self._put_messages(conversation, record, is_new=conversation != present)
        if is_changed:
            self._conversations.add(id)
        self._settle_conversation(conversation, arriving)
        if loaded is not None:
            now = load_conversation(self._store, id)
            assert now is not None
            set_conversation_state(self._store, now, loaded.state)
        self._enforce_state(id)

    def _put_messages(self, conversation: Conversation, record: Mapping[str, Any], *, is_new: bool) -> bool:
        lines = {line["id"]: line for line in record.get("messages", ())}
        known = self._store.messages.named(list(lines))
        messages = {id: read_message(line, conversation) for id, line in lines.items()}
        better = [
            message
            for id, message in messages.items()
            if id not in known or message_rank(message) > message_rank(known[id])
        ]
        same = {
            id
            for id, message in messages.items()
            if id not in known or message_rank(message) >= message_rank(known[id])
        }
        self.arrived.setdefault(conversation.id, set()).update(same)
        if not better and not is_new:
            return False
        traces = [each for message in better for each in read_traces(lines[message.id], conversation.project)]
        sayings = [each for message in better for each in read_sayings(lines[message.id])]
        self._store.conversations.add(conversation, better, traces, sayings)
        return True

    def _settle_conversation(self, conversation: Conversation, arriving: Conversation) -> None:
        """Mark a conversation that arrived through the folder as sent. Local content that is unsent stays unsent."""
        id = conversation.id
        known = self._room.conversation(id)
        if not self._is_in_folder:
            known = known or SentConversation(id, 0, 0, 0, "", True)
            self._room.put_conversation(known._replace(is_unsent=True))
        elif known is not None and known.is_unsent:
            # Only the header is the same on both sides; messages of this machine may still be missing there.
            if header_digest(conversation) == header_digest(arriving):
                self._room.put_conversation(known._replace(header=header_digest(arriving)))
        else:
            _, _, last = self._room.tally(id, 0)
            messages, revisions, _ = self._room.tally(id, last)
            sent = SentConversation(id, last, messages, revisions, header_digest(conversation), False)
            self._room.put_conversation(sent)


def _is_repeated(record: WireRecord, known: Iterable[Version]) -> bool:
    """True if a record adds nothing to the store, given the versions of its memory that are in the folder."""
    if record["k"] != MEMORY or not any(each.order == (record["s"], record["d"]) for each in known):
        return False
    return {*record.get("drops", ())} <= {each.digest for each in known if each.is_dropped}


def _merged_header(present: Conversation, arriving: Conversation) -> Conversation:
    """The better of two descriptions, with this machine's source and derived fields."""
    if header_rank(arriving) <= header_rank(present):
        return present
    return arriving._replace(
        # The path of a project differs between machines.
        project=present.project,
        source=present.source,
        is_gone=present.is_gone,
        directory=present.directory,
        rules=present.rules,
    )


def _merged_memory(
    versions: Iterable[Version], loaded: LoadedMemory | None, arriving: Version, memory: Memory
) -> LoadedMemory:
    """The current value and history of a memory, from all of its versions."""
    order: dict[str, tuple[int, str]] = {}
    for each in versions:
        order[each.digest] = max(order.get(each.digest, (0, "")), each.order)
    dropped = {each.digest for each in versions if each.is_dropped}
    contents: dict[str, Former] = {arriving.digest: former_of(memory)}
    if loaded is None:
        return LoadedMemory(memory, [], LIVE)
    contents |= {former_digest(each): each for each in (*loaded.history, former_of(loaded.memory))}
    present = former_digest(former_of(loaded.memory))
    # The version with the greatest stamp is current, even if it arrives last or is known already.
    is_later = arriving.order >= max(order.get(present, (0, "")), order[arriving.digest])
    top = memory._replace(project=loaded.memory.project) if is_later else loaded.memory
    top_digest = arriving.digest if is_later else present
    history = [
        contents[each]
        for each in sorted(order, key=lambda each: order[each])
        if each in contents and each != top_digest and each not in dropped
    ]
    return LoadedMemory(top, history, loaded.state)
