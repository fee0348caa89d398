"""Conversations and their messages, whether stored through us or read from other assistants' files."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime

from ..domain.census import ConversationTally, UnreadCount
from ..domain.filters import ConversationFilter, Kind
from ..domain.records import Conversation, ConversationOutline, Message, Trace
from ..domain.runs import MessageRun
from ..domain.statements import MessageSaying
from ..domain.tool_results import StoredCall
from ..domain.when import from_ms, to_ms
from .columns import CONVERSATION, TIME, Columns
from .database import Database, batches
from .entries import entry_row
from .messages import NAMED_OWN, OWN
from .mirror import CommitMirror
from .results import ResultRoom
from .runs import RunRoom
from .sayings import SayingRoom
from .traces import TraceRoom
from .usage import UsageRoom
from .where import bounds, conversations_clause, literal, portions
from .writing import EntryWriter

_UPSERT = CONVERSATION.upsert("conversation", "id")
_OUTLINE = Columns(ConversationOutline, updated_ms="updated_at")
_UNREAD = Columns(UnreadCount, conversations="count(*)")
_TALLY = Columns(ConversationTally, {"last": TIME}, conversations="count(*)", last="max(updated_at)")
_ORDER = "ORDER BY updated_at DESC, id"
EVERY = ConversationFilter()
MAX_RECENT_OUTLINES = 4  # lists, of all conversations of some days


class ConversationRoom:
    def __init__(
        self,
        database: Database,
        writer: EntryWriter,
        traces: TraceRoom,
        sayings: SayingRoom,
        results: ResultRoom,
        runs: RunRoom,
        usage: UsageRoom,
    ) -> None:
        self._database = database
        self._writer = writer
        self._traces = traces
        self._sayings = sayings
        self._results = results
        self._runs = runs
        self._usage = usage
        self._recent = CommitMirror[ConversationFilter, list[ConversationOutline]](
            database, MAX_RECENT_OUTLINES
        )
        self._unread = CommitMirror[str, list[UnreadCount]](database, 1)

    def put(self, conversation: Conversation, messages: Sequence[Message]) -> None:
        """Insert the conversation, or replace it with all its messages."""
        with self._database.transaction():
            self.delete_messages(conversation.id)
            self._database.change(_UPSERT, CONVERSATION.write(conversation))
            for message in messages:
                self._writer.put(message)

    def add(
        self,
        conversation: Conversation,
        messages: Sequence[Message],
        traces: Sequence[Trace],
        sayings: Sequence[MessageSaying] = (),
        calls: Sequence[StoredCall] = (),
        runs: Sequence[MessageRun] = (),
    ) -> None:
        """Insert or update the conversation's row, and insert messages or replace them by id. Others stay. Traces,
        sayings, calls and runs of a replaced message are replaced too."""
        rows = {message.id: entry_row(message) for message in messages}
        with self._database.joined():
            is_known = self._database.rows("SELECT 1 FROM conversation WHERE id = ?", [conversation.id])
            self._database.change(_UPSERT, CONVERSATION.write(conversation))
            numbers = self._writer.replace(rows) if is_known else {}
            self._traces.delete(numbers.values())
            self._sayings.delete(numbers.values())
            self._runs.delete(numbers.values())
            replaced = list(numbers.values())
            numbers |= self._writer.insert({id: row for id, row in rows.items() if id not in numbers})
            self._traces.add(traces, numbers)
            self._sayings.add(conversation.id, sayings, numbers)
            self._results.put(calls, numbers, replaced)
            self._runs.add(conversation.id, runs, numbers)

    def with_older_rules(self, rules: int, *, limit: int) -> list[Conversation]:
        """Conversations whose sayings were extracted by older rules or not at all, last updated first."""
        rest = f"FROM conversation WHERE rules < ? {_ORDER} {bounds(limit)}"
        return self._database.records(CONVERSATION, rest, [rules])

    def restate(self, id: str, sayings: Sequence[MessageSaying], rules: int) -> None:
        """Replace all sayings of a conversation, and note by which rules they were made."""
        with self._database.joined():
            self._database.change("UPDATE conversation SET rules = ? WHERE id = ?", [rules, id])
            self._database.change("DELETE FROM saying WHERE thread = ?", [id])
            numbers = self._numbers({message for message, _ in sayings})
            self._sayings.add(id, [each for each in sayings if each.message in numbers], numbers)

    def with_older_run_rules(self, rules: int, *, limit: int) -> list[Conversation]:
        """Conversations whose runs were extracted by older rules or not at all, last updated first."""
        rest = f"FROM conversation WHERE run_rules < ? {_ORDER} {bounds(limit)}"
        return self._database.records(CONVERSATION, rest, [rules])

    def replace_runs(self, id: str, runs: Sequence[MessageRun], rules: int) -> None:
        """Replace all runs of a conversation, and note by which rules they were extracted."""
        with self._database.joined():
            self._database.change("UPDATE conversation SET run_rules = ? WHERE id = ?", [rules, id])
            self._runs.delete_of(id)
            numbers = self._numbers({message for message, _ in runs})
            self._runs.add(id, [each for each in runs if each.message in numbers], numbers)

    def _numbers(self, messages: Collection[str]) -> dict[str, int]:
        """The entry numbers of the stored ones of these messages."""
        numbers: dict[str, int] = {}
        for marks, some in batches(sorted(messages)):
            numbers |= self._database.pairs(f"SELECT id, n FROM entry WHERE id IN ({marks})", some)
        return numbers

    def get(self, ids: Sequence[str]) -> list[Conversation]:
        """The conversations with these ids that exist."""
        return [
            conversation
            for marks, some in batches(sorted(ids))
            for conversation in self._database.records(
                CONVERSATION, f"FROM conversation WHERE id IN ({marks}) ORDER BY id", some
            )
        ]

    def find(
        self, which: ConversationFilter, *, limit: int | None = None, offset: int = 0
    ) -> list[Conversation]:
        """Conversations that match, last updated first."""
        condition, values = conversations_clause(which)
        if which.title_part:
            ids = [id for id, _ in self._titled(which, _ORDER)]
            chosen = tuple(ids[offset : None if limit is None else offset + limit])
            return self.find(ConversationFilter(ids=chosen)) if chosen else []
        rest = f"FROM conversation WHERE {condition} {_ORDER} {bounds(limit, offset)}"
        return self._database.records(CONVERSATION, rest, values)

    def count(self, which: ConversationFilter) -> int:
        condition, values = conversations_clause(which)
        if which.title_part:
            return len(self._titled(which))
        return int(self._database.value(f"SELECT count(*) FROM conversation WHERE {condition}", values))

    def ids(self, holding: Collection[str] | None = None) -> list[str]:
        """The ids of all conversations, or of those whose id contains one of the given texts (ignoring case); unordered."""
        if holding is None:
            return self._database.values("SELECT id FROM conversation")
        condition = " OR ".join(["id LIKE ? ESCAPE '!'"] * len(holding)) or "FALSE"
        parts = [f"%{literal(part)}%" for part in holding]
        return self._database.values(f"SELECT id FROM conversation WHERE {condition}", parts)

    def titles(self, which: ConversationFilter) -> list[tuple[str, str]]:
        """Ids and titles, in no particular order."""
        return self._titled(which._replace(title_part=""))

    def _titled(self, which: ConversationFilter, order: str = "") -> list[tuple[str, str]]:
        condition, values = conversations_clause(which)
        rows = self._database.rows(f"SELECT id, title FROM conversation WHERE {condition} {order}", values)
        # how databases compare letters of other alphabets differs, so titles are compared here
        part = which.title_part.casefold()
        return [(id, title) for id, title in rows if part in title.casefold()]

    def outlines(self, which: ConversationFilter) -> list[ConversationOutline]:
        """Outlines of conversations that match, unordered."""
        if which.updated_after is None or which.ids or which.parents:
            return self._read_outlines(which)
        # Callers count their days back from the present: read from the hour on, the rows can be used again a moment later.
        hour = which.updated_after.replace(minute=0, second=0, microsecond=0)
        since_then = which._replace(updated_after=hour)
        after_ms = to_ms(which.updated_after)
        recent = self._recent.get(since_then, lambda: self._read_outlines(since_then))
        return [outline for outline in recent if outline.updated_ms >= after_ms]

    def _read_outlines(self, which: ConversationFilter) -> list[ConversationOutline]:
        outlines: list[ConversationOutline] = []
        for some in portions(which):
            condition, values = conversations_clause(some)
            outlines += self._database.records(_OUTLINE, f"FROM conversation WHERE {condition}", values)
        return outlines

    def outlines_of(
        self, ids: Collection[str], which: ConversationFilter = EVERY
    ) -> list[ConversationOutline]:
        """Outlines of those of the given conversations that match the filter, unordered."""
        return self.outlines(which._replace(ids=tuple(sorted(ids)))) if ids else []

    def delete(self, ids: Sequence[str], *, with_usage: bool = True) -> int:
        """Delete conversations with their messages, traces and results. Returns their number.

        Their usage is deleted too, except when they are archived."""
        deleted = 0
        with self._database.joined():
            if with_usage:
                self._usage.delete(ids)
            for marks, some in batches(ids):
                self._writer.delete(f"e.kind = ? AND e.thread IN ({marks})", [Kind.MESSAGE, *some])
                deleted += self._database.change(f"DELETE FROM conversation WHERE id IN ({marks})", some)
        return deleted

    def delete_messages(self, conversation: str, ids: Sequence[str] | None = None) -> int:
        """Delete all messages of a conversation, or the given ones. Returns their number."""
        with self._database.joined():
            if ids is None:
                return self._writer.delete(OWN, [Kind.MESSAGE, conversation])
            return sum(
                self._writer.delete(NAMED_OWN.format(marks), [*some, conversation])
                for marks, some in batches(ids)
            )

    def tally(self, which: ConversationFilter) -> list[ConversationTally]:
        """Number of conversations and last change per assistant and project, latest first."""
        condition, values = conversations_clause(which)
        rest = f"FROM conversation WHERE {condition} GROUP BY surface, project ORDER BY last DESC, surface, project"
        return self._database.records(_TALLY, rest, values)

    def is_empty(self) -> bool:
        return not self._database.rows("SELECT 1 FROM conversation LIMIT 1")

    def projects(self) -> list[str]:
        """The projects that conversations belong to."""
        return [project for project in self._database.distinct("conversation", "project") if project]

    def span(self) -> tuple[datetime, datetime] | None:
        """The beginning of the first conversation and the last update of any; None if there are none."""
        ((first, last),) = self._database.rows("SELECT min(created_at), max(updated_at) FROM conversation")
        return None if first is None else (from_ms(first), from_ms(last))

    def count_unread(self) -> list[UnreadCount]:
        """Count conversations that are encrypted or have no readable messages, per assistant and completeness."""
        return self._unread.get("unread", self._count_unread)

    def _count_unread(self) -> list[UnreadCount]:
        rest = (
            "FROM conversation c WHERE completeness <> 'full'"
            " AND (completeness = 'encrypted' OR NOT EXISTS (SELECT 1 FROM entry e WHERE e.thread = c.id))"
            " GROUP BY surface, completeness ORDER BY surface, completeness"
        )
        return self._database.records(_UNREAD, rest)
