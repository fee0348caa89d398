"""The archive: memories and conversations in compressed packs, outside of the live tables and all indexes."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from ..domain.census import ArchiveCensus
from ..domain.filters import ConversationFilter, Filter
from ..domain.records import (
    ArchivedConversation,
    ArchivedMemory,
    Former,
    Memory,
    Message,
    PackSize,
    Trace,
    Trust,
)
from ..domain.runs import CommandRun, MessageRun, RunLine, RunOutcome
from ..domain.statements import MessageSaying, Saying, Speaker, StatementKind
from ..domain.tool_results import StoredCall, StoredResult, TextRange
from ..domain.when import from_ms, to_ms
from .columns import CONVERSATION, FORMER, marks
from .conversations import ConversationRoom
from .copies import COPIED, copied_columns, read_copied
from .database import Database, batches
from .memories import MemoryRoom
from .messages import MessageRoom
from .results import ResultRoom
from .runs import RunRoom
from .sayings import SayingRoom
from .traces import TraceRoom
from .where import conversations_clause, portions, where_clause

PACK = 200  # memories in a pack: reading one unpacks all, and larger packs hardly compress better
PACK_CHARACTERS = 200_000  # characters of text in a pack: removing one memory compresses the others again

_INDEX = (
    "pack",
    "id",
    "key",
    "private",
    "category",
    "priority",
    "channel",
    "created_at",
    "updated_at",
    "forgotten_at",
)
_ARCHIVED = (
    "(SELECT a.*, 'memory' AS kind, 'own' AS trust, p.thread, p.project, p.surface"
    " FROM archived a JOIN archive_pack p ON p.n = a.pack) AS e"
)
"""Looks like the entry table to a Filter, which asks only whether something came with a repository: no memory does."""


class ArchiveRoom:
    def __init__(
        self,
        database: Database,
        memories: MemoryRoom,
        conversations: ConversationRoom,
        messages: MessageRoom,
        traces: TraceRoom,
        sayings: SayingRoom,
        results: ResultRoom,
        runs: RunRoom,
    ) -> None:
        self._database = database
        self._memories = memories
        self._conversations = conversations
        self._messages = messages
        self._traces = traces
        self._sayings = sayings
        self._results = results
        self._runs = runs

    def put_memories(self, memories: Sequence[Memory], *, forgotten_at: datetime | None = None) -> PackSize:
        """Move memories and their histories into the archive.

        With `forgotten_at` they count as forgotten, and only searches that include forgotten memories return them."""
        total = PackSize(0, 0, 0)
        with self._database.transaction():
            for together in _together(memories):
                pack = self._pack(together, forgotten_at)
                total = PackSize(*(a + b for a, b in zip(total, pack, strict=True)))
                self._memories.delete(Filter(ids=tuple(memory.id for memory in together)))
        return total

    def find_memories(self, where: Filter, *, with_forgotten: bool = False) -> list[ArchivedMemory]:
        """Archived memories that match, last changed first."""
        condition, values = where_clause(where)
        if not with_forgotten:
            condition += " AND e.forgotten_at IS NULL"
        sql = f"SELECT e.id, e.pack, e.thread, e.surface FROM {_ARCHIVED} WHERE {condition} ORDER BY e.updated_at DESC, e.id"
        rows = self._database.rows(sql, values)
        packs = {n: self._unpack(n) for n in dict.fromkeys(pack for _, pack, _, _ in rows)}
        return [_read_archived(packs[pack], id, thread, surface) for id, pack, thread, surface in rows]

    def oldest(self, where: Filter) -> datetime | None:
        """The creation time of the oldest archived memory that matches."""
        condition, values = where_clause(where)
        made_at = self._database.value(f"SELECT min(e.created_at) FROM {_ARCHIVED} WHERE {condition}", values)
        return None if made_at is None else from_ms(made_at)

    def forgotten_before(self, moment: datetime) -> list[str]:
        """Ids of memories that were forgotten then or earlier."""
        sql = "SELECT id FROM archived WHERE forgotten_at <= ? ORDER BY id"
        return self._database.values(sql, [to_ms(moment)])

    def restore_memories(self, ids: Sequence[str]) -> None:
        """Move memories and their histories back. No live memory may have one of the ids."""
        with self._database.transaction():
            for start in range(0, len(ids), PACK):
                some = Filter(ids=tuple(ids[start : start + PACK]))
                memories = self.find_memories(some, with_forgotten=True)
                self._memories.put([archived.memory for archived in memories])
                for archived in memories:
                    self._put_history(archived.memory.id, archived.history)
                self.delete_memories(some)

    def delete_memories(self, where: Filter) -> int:
        """Permanently delete the matching memories and return their number."""
        condition, values = where_clause(where)
        with self._database.transaction():
            rows = self._database.rows(f"SELECT e.id, e.pack FROM {_ARCHIVED} WHERE {condition}", values)
            for n in {pack for _, pack in rows}:
                self._take_out(n, [id for id, pack in rows if pack == n])
        return len(rows)

    def put_conversation(self, id: str) -> None:
        """Move a conversation with its messages, traces and results into the archive. Its usage stays counted."""
        sql = (
            f"INSERT INTO archived_conversation ({CONVERSATION.listed}, said, packed)"
            f" VALUES ({marks(CONVERSATION.names)}, ?, ?)"
        )
        with self._database.joined():
            for conversation in self._conversations.get([id]):
                parts = self._traces.of(id), self._sayings.of(id), self._results.of(id), self._runs.of(id)
                packed = _packed(self._messages.of(id), *parts)
                count = self._messages.count([id]).get(id, 0)
                self._delete_conversations([id])  # an older one
                self._database.change(sql, [*CONVERSATION.write(conversation), count, packed])
                self._conversations.delete([id], with_usage=False)

    def find_conversations(self, which: ConversationFilter) -> list[ArchivedConversation]:
        """Archived conversations that match, last updated first. Titles are not compared."""
        conversations: list[ArchivedConversation] = []
        for some in portions(which):
            condition, values = conversations_clause(some)
            sql = (
                f"SELECT said, {CONVERSATION.listed} FROM archived_conversation WHERE {condition} ORDER BY id"
            )
            rows = self._database.rows(sql, values)
            conversations += [ArchivedConversation(CONVERSATION.read(row), count) for count, *row in rows]
        return sorted(conversations, key=lambda each: each.conversation.updated_at, reverse=True)

    def messages(self, conversation: str) -> list[Message]:
        """The messages of an archived conversation; empty if it is not archived."""
        return self._unpack_conversation(conversation)[0]

    def contents(self, conversation: str) -> tuple[list[Message], list[Trace], list[MessageSaying]]:
        """The messages, traces and sayings of an archived conversation, without tool results; empty if it is not
        archived."""
        return self._unpack_conversation(conversation)[:3]

    def restore_conversations(self, ids: Sequence[str]) -> None:
        """Move those of the given back that are in the archive."""
        with self._database.joined():
            for _, some in batches(ids):
                for conversation, _ in self.find_conversations(ConversationFilter(ids=tuple(some))):
                    self._conversations.add(conversation, *self._unpack_conversation(conversation.id))
                self._delete_conversations(some)

    def exempt(self, ids: Sequence[str], at: datetime) -> None:
        """Remember that a person wants these conversations live."""
        sql = (
            "INSERT INTO brought_back (id, at) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET at = excluded.at"
        )
        with self._database.joined():
            self._database.change_many(sql, [(id, to_ms(at)) for id in ids])

    def exemptions(self) -> set[str]:
        """The conversations that a person wants live."""
        return set(self._database.values("SELECT id FROM brought_back"))

    def census(self) -> ArchiveCensus:
        sizes = "SELECT coalesce(sum(length(packed)), 0) FROM"
        return ArchiveCensus(
            memories=int(self._database.value("SELECT count(*) FROM archived")),
            conversations=int(self._database.value("SELECT count(*) FROM archived_conversation")),
            messages=int(self._database.value("SELECT coalesce(sum(said), 0) FROM archived_conversation")),
            bytes=sum(
                int(self._database.value(f"{sizes} {table}"))
                for table in ("archive_pack", "archived_conversation")
            ),
        )

    def _pack(self, memories: Sequence[Memory], forgotten_at: datetime | None) -> PackSize:
        first = memories[0]
        ids = [memory.id for memory in memories]
        entries = f"SELECT n, id FROM entry WHERE id IN ({marks(ids)})"
        lines = self._database.rows(
            f"SELECT e.id, {copied_columns(self._database)} FROM entry e WHERE e.id IN ({marks(ids)}) ORDER BY e.n",
            ids,
        )
        items = {id: [json.loads(line), []] for id, line in lines}
        memories = [memory for memory in memories if memory.id in items]  # others were deleted meanwhile
        if not memories:
            return PackSize(0, 0, 0)
        for id, *former in self._database.rows(
            f"SELECT e.id, {FORMER.listed} FROM former f JOIN ({entries}) AS e ON e.n = f.entry"
            " ORDER BY e.n, f.place",
            ids,
        ):
            items[id][1].append(former)
        whole = _dump({"columns": COPIED, "items": items})
        packed = zlib.compress(whole, 9)
        n = self._database.value("SELECT coalesce(max(n), 0) + 1 FROM archive_pack")
        self._database.change(
            "INSERT INTO archive_pack (n, thread, project, surface, packed) VALUES (?, ?, ?, ?, ?)",
            [n, first.session, first.project, first.surface, packed],
        )
        return PackSize(
            len(items), len(whole), len(packed) + sum(self._index(n, m, forgotten_at) for m in memories)
        )

    def _index(self, n: int, m: Memory, forgotten_at: datetime | None) -> int:
        """Index a memory as part of a pack. Returns the size of its index entry in bytes."""
        sql = f"INSERT INTO archived ({', '.join(_INDEX)}) VALUES ({marks(_INDEX)})"
        texts = (m.id, m.key, m.category, m.priority.value, m.channel)
        times = (to_ms(m.created_at), to_ms(m.updated_at))
        gone = None if forgotten_at is None else to_ms(forgotten_at)
        row = [n, m.id, m.key, int(m.private), m.category, m.priority.value, m.channel, *times, gone]
        self._database.change(sql, row)
        return sum(len(text.encode()) for text in texts if text) + 8 * len(times)

    def _unpack(self, n: int) -> dict[str, Any]:
        packed = self._database.value("SELECT packed FROM archive_pack WHERE n = ?", [n])
        pack: dict[str, Any] = json.loads(zlib.decompress(packed))
        return pack

    def _take_out(self, n: int, ids: Sequence[str]) -> None:
        self._database.change_many("DELETE FROM archived WHERE id = ?", [(id,) for id in ids])
        pack = self._unpack(n)
        pack["items"] = {id: item for id, item in pack["items"].items() if id not in ids}
        if pack["items"]:
            packed = zlib.compress(_dump(pack), 9)
            self._database.change("UPDATE archive_pack SET packed = ? WHERE n = ?", [packed, n])
        else:
            self._database.change("DELETE FROM archive_pack WHERE n = ?", [n])

    def _put_history(self, id: str, history: Sequence[Former]) -> None:
        sql = (
            f"INSERT INTO former (entry, place, {FORMER.listed})"
            f" SELECT n, ?, {marks(FORMER.names)} FROM entry WHERE id = ?"
        )
        rows = [(place, *FORMER.write(former), id) for place, former in enumerate(history, start=1)]
        self._database.change_many(sql, rows)

    def _delete_conversations(self, ids: Sequence[str]) -> None:
        sql = f"DELETE FROM archived_conversation WHERE id IN ({marks(ids)})"
        self._database.change(sql, ids)

    def _unpack_conversation(
        self, id: str
    ) -> tuple[list[Message], list[Trace], list[MessageSaying], list[StoredCall], list[MessageRun]]:
        packs = self._database.values("SELECT packed FROM archived_conversation WHERE id = ?", [id])
        pack: dict[str, Any] = json.loads(zlib.decompress(packs[0])) if packs else {}
        messages = [_read_message(each) for each in pack.get("messages", ())]
        traces = [Trace(**each) for each in pack.get("traces", ())]
        sayings = [_read_saying(each) for each in pack.get("sayings", ())]
        calls = [_read_call(*each) for each in pack.get("calls", ())]
        return messages, traces, sayings, calls, [_read_run(*each) for each in pack.get("runs", ())]


def _together(memories: Sequence[Memory]) -> Iterator[Sequence[Memory]]:
    """Groups of memories that share a pack."""
    places: dict[tuple[str | None, str, str], list[Memory]] = {}
    for memory in memories:
        places.setdefault((memory.session, memory.project, memory.surface), []).append(memory)
    for place in places.values():
        some: list[Memory] = []
        for memory in place:
            if len(some) == PACK or sum(len(each.text) for each in some) + len(memory.text) > PACK_CHARACTERS:
                if some:
                    yield some
                some = []
            some.append(memory)
        yield some


def _read_archived(pack: dict[str, Any], id: str, session: str | None, surface: str) -> ArchivedMemory:
    line, formers = pack["items"][id]
    memory = read_copied(line, pack["columns"], session=session, surface=surface)
    return ArchivedMemory(memory, tuple(map(FORMER.read, formers)))


def _read_message(packed: dict[str, Any]) -> Message:
    trust = Trust(packed.get("trust", Trust.OWN))  # an earlier version knew none
    return Message(**packed | {"created_at": from_ms(packed["created_at"]), "trust": trust})


def _read_saying(packed: dict[str, Any]) -> MessageSaying:
    fields = packed["saying"]
    kind, speaker = StatementKind(fields["kind"]), Speaker(fields["speaker"])
    return MessageSaying(packed["message"], Saying(**fields | {"kind": kind, "speaker": speaker}))


def _read_call(
    message: str,
    native_id: str,
    name: str,
    arguments: list[int],
    command: list[int],
    result: list[Any] | None,
) -> StoredCall:
    stored = None if result is None else StoredResult(*result)
    return StoredCall(message, native_id, name, TextRange(*arguments), TextRange(*command), stored)


def _read_run(
    message: str,
    place: int,
    families: Sequence[str],
    outcome: str,
    exit_code: int | None,
    lines: Sequence[Any],
) -> MessageRun:
    known = tuple(RunLine(*line) for line in lines)
    return MessageRun(message, CommandRun(place, tuple(families), RunOutcome(outcome), exit_code, known))


def _packed(
    messages: Sequence[Message],
    traces: Sequence[Trace],
    sayings: Sequence[MessageSaying],
    calls: Sequence[StoredCall],
    runs: Sequence[MessageRun],
) -> bytes:
    rows = [message._asdict() | {"created_at": to_ms(message.created_at)} for message in messages]
    stated = [{"message": each.message, "saying": each.saying._asdict()} for each in sayings]
    pack: dict[str, Any] = {
        "messages": rows,
        "traces": [trace._asdict() for trace in traces],
        "sayings": stated,
        "calls": list(calls),
        "runs": [[message, *run] for message, run in runs],
    }
    return zlib.compress(_dump(pack), 9)


def _dump(pack: dict[str, Any]) -> bytes:
    return json.dumps(pack, ensure_ascii=False, separators=(",", ":")).encode()
