"""Archived conversations: out of the live tables and every index, each whole with its traces in a compressed pack."""

from __future__ import annotations

import json
import zlib
from abc import abstractmethod
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Protocol

from ..domain.archive import ArchivedConversation
from ..domain.census import ArchiveCensus
from ..domain.filters import ConversationFilter, Kind
from ..domain.records import Conversation, Message, Trace, Trust
from ..domain.when import from_ms, to_ms
from .archive import dump
from .histories import talks_clause
from .rows import CONVERSATION_COLUMNS, conversation_row, read_conversation
from .statements import Statements, batches

_COLUMNS = ", ".join(CONVERSATION_COLUMNS)


class ArchivedTalks(Protocol):
    def archive_conversation(self, id: str) -> None:
        """Move a conversation with its messages and traces into the archive."""

    def find_archived_talks(self, which: ConversationFilter) -> list[ArchivedConversation]:
        """The last updated first. Titles are not compared."""

    def archived_messages(self, conversation: str) -> list[Message]:
        """Those of an archived conversation; none when it is not there."""

    def restore_conversations(self, ids: Sequence[str]) -> None:
        """Move those of the given back that are in the archive."""

    def bring_back(self, ids: Sequence[str], at: datetime) -> None:
        """Remember that a person wants these live."""

    def brought_back(self) -> set[str]: ...

    def archive_census(self) -> ArchiveCensus: ...


class ArchivedTalkRows(Statements):
    @abstractmethod
    def find_conversations(self, ids: Sequence[str]) -> list[Conversation]: ...

    @abstractmethod
    def find_messages(self, conversation: str) -> list[Message]: ...

    @abstractmethod
    def count_messages(self, conversations: Sequence[str]) -> dict[str, int]: ...

    @abstractmethod
    def add_messages(
        self, conversation: Conversation, messages: Sequence[Message], traces: Sequence[Trace]
    ) -> None: ...

    @abstractmethod
    def delete_conversations(self, ids: Sequence[str]) -> int: ...

    def archive_conversation(self, id: str) -> None:
        marks = ", ".join("?" * (len(CONVERSATION_COLUMNS) + 2))
        with self._joined():
            for talk in self.find_conversations([id]):
                packed = _packed(self.find_messages(id), self._traces(id))
                said = self.count_messages([id]).get(id, 0)
                self._change("DELETE FROM archived_conversation WHERE id = ?", [id])  # an older one
                self._change(
                    f"INSERT INTO archived_conversation ({_COLUMNS}, said, packed) VALUES ({marks})",
                    [*conversation_row(talk), said, packed],
                )
                self.delete_conversations([id])

    def _traces(self, conversation: str) -> list[Trace]:
        sql = (
            "SELECT e.id, t.kind, t.value FROM trace t JOIN entry e ON e.n = t.entry"
            " WHERE e.kind = ? AND e.thread = ? ORDER BY e.n, t.place"
        )
        return [Trace(*row) for row in self._rows(sql, [Kind.MESSAGE, conversation])]

    def find_archived_talks(self, which: ConversationFilter) -> list[ArchivedConversation]:
        condition, values = talks_clause(which)
        order = "ORDER BY updated_at DESC, id"
        sql = f"SELECT said, {_COLUMNS} FROM archived_conversation WHERE {condition} {order}"
        return [ArchivedConversation(read_conversation(row), said) for said, *row in self._rows(sql, values)]

    def archived_messages(self, conversation: str) -> list[Message]:
        return self._unpacked(conversation)[0]

    def restore_conversations(self, ids: Sequence[str]) -> None:
        with self._joined():
            for marks, some in batches(ids):
                for talk, _ in self.find_archived_talks(ConversationFilter(ids=tuple(some))):
                    self.add_messages(talk, *self._unpacked(talk.id))
                self._change(f"DELETE FROM archived_conversation WHERE id IN ({marks})", some)

    def _unpacked(self, conversation: str) -> tuple[list[Message], list[Trace]]:
        rows = self._rows("SELECT packed FROM archived_conversation WHERE id = ?", [conversation])
        pack: dict[str, Any] = json.loads(zlib.decompress(rows[0][0])) if rows else {}
        messages = [_read_message(each) for each in pack.get("messages", ())]
        return messages, [Trace(**each) for each in pack.get("traces", ())]

    def bring_back(self, ids: Sequence[str], at: datetime) -> None:
        sql = (
            "INSERT INTO brought_back (id, at) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET at = excluded.at"
        )
        with self._joined():
            self._change_many(sql, [(id, to_ms(at)) for id in ids])

    def brought_back(self) -> set[str]:
        return {row[0] for row in self._rows("SELECT id FROM brought_back")}

    def archive_census(self) -> ArchiveCensus:
        memories = self._rows("SELECT count(*) FROM archived")[0][0]
        packs = self._rows("SELECT coalesce(sum(length(packed)), 0) FROM archive_pack")[0][0]
        talks, said, size = self._rows(
            "SELECT count(*), coalesce(sum(said), 0), coalesce(sum(length(packed)), 0) FROM archived_conversation"
        )[0]
        return ArchiveCensus(int(memories), int(talks), int(said), int(packs) + int(size))


def _read_message(packed: dict[str, Any]) -> Message:
    trust = Trust(packed.get("trust", Trust.OWN))  # an earlier version knew none
    return Message(**packed | {"created_at": from_ms(packed["created_at"]), "trust": trust})


def _packed(messages: Sequence[Message], traces: Sequence[Trace]) -> bytes:
    told = [message._asdict() | {"created_at": to_ms(message.created_at)} for message in messages]
    pack = {"messages": told, "traces": [trace._asdict() for trace in traces]}
    return zlib.compress(dump(pack), 9)
