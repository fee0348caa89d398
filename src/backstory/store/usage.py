"""Tokens that models used, one row for each call. They stay when their conversation is archived."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any

from ..domain.filters import ConversationFilter
from ..domain.usage import ModelCall, UsageFilter, UsageSum
from ..domain.when import to_ms
from .columns import marks
from .database import Database, batches
from .where import conversations_clause

_NUMBERS = ("input", "output", "cache_read", "cache_write", "cache_write_1h", "reasoning")
_COLUMNS = ("conversation", "key", "entry", "surface", "model", "at", *_NUMBERS, "cost_usd", "is_partial")
_CHANGED = ", ".join(f"{name} = excluded.{name}" for name in _COLUMNS[3:])
_PUT = (
    f"INSERT INTO usage ({', '.join(_COLUMNS)}) VALUES ({marks(_COLUMNS)}) ON CONFLICT (conversation, key) DO UPDATE"
    f" SET entry = coalesce(excluded.entry, usage.entry), {_CHANGED}"
    " WHERE excluded.output >= usage.output OR excluded.is_partial < usage.is_partial"
)
# copies of a log, and forks, contain the same call in several conversations
_ONCE = (
    "SELECT u.*, row_number() OVER (PARTITION BY u.key ORDER BY u.output DESC, u.at, u.conversation) AS nth"
    " FROM usage u"
)
_EVERY_ID = "SELECT id FROM conversation UNION ALL SELECT id FROM archived_conversation"
_CONTEXT = "u.input + u.cache_read + u.cache_write"
_DAY_MS = 86_400_000


class UsageRoom:
    def __init__(self, database: Database) -> None:
        self._database = database

    def put(
        self,
        conversation: str,
        surface: str,
        calls: Sequence[ModelCall],
        messages: Mapping[str, Sequence[str]],
    ) -> None:
        """Store each call once: the record with the most output wins. `messages` contains the possible ids of a turn's
        message."""
        wanted = {id for call in calls for id in messages.get(call.turn, ())}
        entries: dict[str, int] = {}
        for listed, some in batches(sorted(wanted)):
            entries |= self._database.pairs(f"SELECT id, n FROM entry WHERE id IN ({listed})", some)
        rows = []
        for call in calls:
            ids = messages.get(call.turn, ())
            entry = next((entries[id] for id in ids if id in entries), None)
            numbers = (getattr(call, name) for name in _NUMBERS)
            key = _number(f"{surface}:{call.key}")
            rows.append(
                (
                    conversation,
                    key,
                    entry,
                    surface,
                    call.model,
                    call.at_ms,
                    *numbers,
                    call.cost_usd,
                    int(call.is_partial),
                )
            )
        with self._database.joined():
            self._database.change_many(_PUT, rows)

    def delete(self, conversations: Sequence[str]) -> None:
        with self._database.joined():
            for listed, some in batches(conversations):
                self._database.change(f"DELETE FROM usage WHERE conversation IN ({listed})", some)

    def sums(self, where: UsageFilter, tier_limits: Sequence[int] = ()) -> list[UsageSum]:
        """All calls, each once, in sums. A call is in tier N when its context exceeds N of the limits."""
        return self._sums(f"({_ONCE})", "u.nth = 1", where, tier_limits)

    def sums_of(self, conversation: str, tier_limits: Sequence[int] = ()) -> list[UsageSum]:
        """The calls of one conversation.

        Calls that a fork repeats from its parent are left out, and so are calls that its subagents record
        themselves."""
        own = (
            "u.conversation = ? AND NOT EXISTS (SELECT 1 FROM usage p WHERE p.key = u.key"
            " AND (p.conversation = c.parent OR p.conversation IN"
            " (SELECT id FROM conversation WHERE parent = u.conversation AND kind = 'subagent')))"
        )
        which = UsageFilter(ConversationFilter())
        return self._sums("usage", own, which, tier_limits, [conversation])

    def _sums(
        self,
        table: str,
        only: str,
        where: UsageFilter,
        tier_limits: Sequence[int],
        values: Sequence[Any] = (),
    ) -> list[UsageSum]:
        tier = (
            " + ".join(f"CASE WHEN {_CONTEXT} > {limit:d} THEN 1 ELSE 0 END" for limit in tier_limits) or "0"
        )
        condition, chosen = conversations_clause(where.conversations)
        at = "coalesce(u.at, c.updated_at, 0)"
        known = " UNION ALL ".join(
            f"SELECT id, surface, project, parent, updated_at FROM {source} WHERE {condition}"
            for source in ("conversation", "archived_conversation")
        )
        for moment, comparison in ((where.since, ">="), (where.until, "<")):
            if moment is not None:
                only += f" AND {at} {comparison} ?"
                values = [*values, to_ms(moment)]
        numbers = ", ".join(f"CAST(sum(u.{name}) AS BIGINT)" for name in _NUMBERS)
        # subagents that were started in advance may be all that is known of a session
        is_known, surfaces = "c.id IS NOT NULL", where.conversations.surfaces
        if not where.conversations.projects:
            of_surface = f" AND u.surface IN ({', '.join('?' * len(surfaces))})" if surfaces else ""
            is_known = f"({is_known} OR (u.conversation NOT IN ({_EVERY_ID}){of_surface}))"
            values = [*surfaces, *values]
        sql = (
            f"SELECT u.surface, coalesce(c.project, ''), u.model, {at} / {_DAY_MS} AS day, {tier} AS tier, count(*), {numbers},"
            " sum(u.cost_usd), count(u.cost_usd), CAST(sum(u.is_partial) AS BIGINT)"
            f" FROM {table} u LEFT JOIN ({known}) c ON c.id = u.conversation WHERE {is_known} AND {only}"
            " GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5"
        )
        return [UsageSum(*row) for row in self._database.rows(sql, [*chosen, *chosen, *values])]


def _number(key: str) -> int:
    """A stable number for a call, equal in every store: a positive bigint."""
    raw = blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(raw, "big") >> 1 | 1
