"""The records of this store that are in no segment yet, and how they are written: in segments of at most a megabyte,
each noted before it is written and marked as sent after it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from ...domain.devices import SegmentNote, SentConversation, Version, WireRecord
from ...domain.records import Memory, Message, Trace
from ...domain.statements import MessageSaying
from ...store import Store
from .folder import DeviceFolder
from .identities import ProjectIdentities
from .loading import LIVE, LoadedConversation, load_conversation, load_memory, load_messages
from .merging import FORGET
from .segments import MAX_SEGMENT_BYTES, encoded, entities_in, make_segment
from .stamping import CONVERSATION, MEMORY, STATE
from .vault import Vault
from .wire import (
    conversation_fields,
    former_digest,
    former_of,
    header_digest,
    memory_fields,
    message_fields,
    with_former,
)

MESSAGES_BYTES = 500_000
"""Text of messages in one record; the conversation's description is repeated in each."""
RECORDS_AT_ONCE = 500


class OutgoingRecord(NamedTuple):
    record: WireRecord
    mark_sent: Callable[[], None] = lambda: None
    """Called in the transaction that notes the segment."""


class Sender:
    def __init__(
        self, store: Store, projects: ProjectIdentities, arrived: Mapping[str, Collection[str]]
    ) -> None:
        self._store = store
        self._room = store.devices
        self._projects = projects
        self._arrived = arrived

    def outgoing(self) -> Iterator[OutgoingRecord]:
        """Unsent records, deletions first: a reader then need not store the deleted records."""
        yield from self._deletions()
        after = ("", "")
        # By pages after the last key: records are marked as sent meanwhile, which would shift an offset.
        while some := self._room.unsent_versions(RECORDS_AT_ONCE, after):
            after = some[-1]
            for kind, id in some:
                yield from self._versions(kind, id)
        for id in self._room.unsent_conversations():
            yield from self._conversation(id)

    def _deletions(self) -> Iterator[OutgoingRecord]:
        for note in self._room.unsent_deletions():
            record = {"k": FORGET, "id": note.id, "s": note.stamp, "d": note.device, "of": note.kind}
            if note.with_checkpoints:
                record["checkpoints"] = True
            yield OutgoingRecord(record, lambda id=note.id: self._room.mark_deletions_sent([id]))  # type: ignore[misc]

    def _versions(self, kind: str, id: str) -> Iterator[OutgoingRecord]:
        versions = self._room.versions(kind, id)
        contents = self._memory_contents(id) if kind == MEMORY else {}
        drops = [each.digest for each in versions if each.is_dropped]
        for version in versions:
            if version.is_sent:
                continue
            fields = (
                self._memory_record(contents, version, drops)
                if kind == MEMORY
                else self._row_record(kind, id, version)
            )
            if fields is None:  # changed since it was stamped; the next sync sends the new version
                if kind == MEMORY and version.is_dropped:
                    with self._store.transaction():
                        self._room.mark_sent(kind, id, version.order)
                continue
            record = {"k": kind, "id": id, "s": version.stamp, "d": version.device} | fields
            yield OutgoingRecord(record, lambda order=version.order: self._room.mark_sent(kind, id, order))  # type: ignore[misc]

    def _memory_contents(self, id: str) -> dict[str, Memory]:
        """The versions of a memory that are in the store, by digest."""
        loaded = load_memory(self._store, id)
        if loaded is None:
            return {}
        earlier = {former_digest(each): with_former(loaded.memory, each) for each in loaded.history}
        return earlier | {former_digest(former_of(loaded.memory)): loaded.memory}

    def _memory_record(
        self, contents: Mapping[str, Memory], version: Version, drops: list[str]
    ) -> WireRecord | None:
        memory = contents.get(version.digest)
        if memory is None:
            return None
        record = {"p": self._projects.identity(memory.project)} | memory_fields(memory)
        return record | {"drops": drops} if drops else record

    def _row_record(self, kind: str, id: str, version: Version) -> WireRecord | None:
        if kind == STATE:
            of = CONVERSATION if self._room.conversation(id) else MEMORY
            return {"v": version.digest, "of": of}
        row = self._room.row(kind, id)
        if row is None:
            return None
        if "project" in row:
            row["p"] = self._projects.identity(row.pop("project"))
        return {name: value for name, value in row.items() if name not in ("id", "statement")}

    def _conversation(self, id: str) -> Iterator[OutgoingRecord]:
        known, loaded = self._room.conversation(id), load_conversation(self._store, id)
        if known is None or loaded is None:
            return
        _, _, last = self._room.tally(id, 0)
        sent = self._sent_after(known, loaded, last)
        lines = list(self._message_lines(known, loaded, last))
        if not lines and known.header == sent.header:
            with self._store.transaction():
                self._room.put_conversation(sent)
            return
        header = {"k": CONVERSATION, "id": id, "s": 0, "d": self._room.identity() or ""}
        header |= {"p": self._projects.identity(loaded.conversation.project)} | conversation_fields(
            loaded.conversation
        )
        # The mark moves with the last group, so that an interrupted sync sends the conversation again.
        *others, final = message_groups(lines)
        for some in others:
            yield OutgoingRecord(header | {"messages": some})
        yield OutgoingRecord(header | {"messages": final}, lambda: self._room.put_conversation(sent))

    def _sent_after(self, known: SentConversation, loaded: LoadedConversation, last: int) -> SentConversation:
        header = header_digest(loaded.conversation)
        if loaded.state != LIVE:
            return known._replace(messages=max(known.messages, 1), header=header, is_unsent=False)
        messages, revisions, _ = self._room.tally(known.id, last)
        return SentConversation(known.id, last, messages, revisions, header, False)

    def _message_lines(
        self, known: SentConversation, loaded: LoadedConversation, last: int
    ) -> Iterator[WireRecord]:
        """Messages that are not in the folder: those after the mark, or all of them if earlier ones changed."""
        id = known.id
        wanted: set[str] | None = None
        if loaded.state != LIVE:
            if known.messages and known.header:
                return  # sent while it was live
        else:
            before = self._room.tally(id, known.mark)[:2]
            everything = self._room.tally(id, last)[:2]
            # Nothing before the mark has changed, so the messages after it are all that is new.
            if before == (known.messages, known.revisions):
                wanted = self._room.messages_after(id, known.mark)
            elif everything == (known.messages, 0) and known.mark:
                return  # archived and brought back: other numbers, the same messages
        messages, traces, sayings = load_messages(self._store, loaded)
        arrived = self._arrived.get(id, ())
        chosen = [
            each for each in messages if (wanted is None or each.id in wanted) and each.id not in arrived
        ]
        yield from message_lines(chosen, traces, sayings, loaded.conversation.project)


class SegmentWriter:
    """Writes records into this device's directory, as segments."""

    def __init__(
        self, store: Store, folder: DeviceFolder, vault: Vault, device: str, header: Mapping[str, Any]
    ) -> None:
        self._store = store
        self._room = store.devices
        self._folder = folder
        self._vault = vault
        self._device = device
        self._header = header
        self.written: list[str] = []
        self.bytes = 0

    def write(self, outgoing: Iterable[OutgoingRecord], replaces: Collection[str] = ()) -> int:
        """Write records as segments. Returns the number of records."""
        group: list[tuple[OutgoingRecord, bytes]] = []
        size = count = 0
        for each in outgoing:
            line = encoded(each.record)
            # A record that is larger by itself gets a segment of its own.
            if group and size + len(line) > MAX_SEGMENT_BYTES:
                self._write(group, replaces)
                group, size = [], 0
            group.append((each, line))
            size += len(line) + 1
            count += 1
        if group:
            self._write(group, replaces)
        return count

    def _write(self, group: list[tuple[OutgoingRecord, bytes]], replaces: Collection[str]) -> None:
        number = 1 + self._room.last_number(self._device)
        alive = [
            each.name
            for each in self._room.own_segments()
            if each.device == self._device and each.name not in replaces
        ]
        header = {**self._header, "alive": alive, "replaces": sorted(replaces)}
        name, raw = make_segment(self._vault, self._device, number, header, (line for _, line in group))
        # noted first: a file that this store does not know would be taken for one of a copy of this machine
        note = SegmentNote(0, str(name), self._device, number, len(raw), True, "pending")
        with self._store.transaction():
            self._room.put_segment(note)
        self._folder.write(str(name), raw)
        with self._store.transaction():
            n = self._room.put_segment(note._replace(state="read"))
            self._room.hold(n, entities_in(each.record for each, _ in group))
            for each, _ in group:
                each.mark_sent()
        self.written.append(str(name))
        self.bytes += len(raw)


def message_groups(lines: list[WireRecord]) -> list[list[WireRecord]]:
    groups: list[list[WireRecord]] = [[]]
    size = 0
    for line in lines:
        if groups[-1] and size + len(line["text"]) > MESSAGES_BYTES:
            groups.append([])
            size = 0
        groups[-1].append(line)
        # Approximate size of the other fields of a message.
        size += len(line["text"]) + 200
    return groups


def message_lines(
    messages: Iterable[Message], traces: Iterable[Trace], sayings: Iterable[MessageSaying], project: str
) -> Iterator[WireRecord]:
    traces_of: dict[str, list[Trace]] = {}
    for trace in traces:
        traces_of.setdefault(trace.message, []).append(trace)
    sayings_of: dict[str, list[MessageSaying]] = {}
    for saying in sayings:
        sayings_of.setdefault(saying.message, []).append(saying)
    for message in messages:
        yield message_fields(message, traces_of.get(message.id, ()), sayings_of.get(message.id, ()), project)
