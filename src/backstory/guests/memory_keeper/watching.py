"""Watchers: report the items that changed since the last poll."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from fnmatch import fnmatchcase
from hashlib import sha256
from threading import Event
from typing import Annotated, Any, Literal, NamedTuple, NotRequired, TypedDict

from ...core import Core, GuestPart
from ...core.sessions import channel_name
from ...domain.errors import Missing, NotFound
from ...domain.filters import Filter, Order, Page
from ...domain.links import ChangeKind, MemoryChange, Watcher
from ...domain.records import Memory
from ...domain.when import iso
from ...tools import ADDS
from ...tools.budget import ANSWER_BYTES, fitting, size
from ...tools.origin import safe_text
from ...tools.params import Json, Range, decode_object
from .deletions import prune_changes
from .fitting import AnswerItem, Truncation, cut
from .vocabulary import CategoryName, PriorityName, session_of, surface

MAX_CHANGES = 100
"""Maximum number of changes in one answer."""
READ_AT_ONCE = 500
VALUE_BYTES = 4_000  # per change
LOOK_AGAIN_S = 0.25


class WatchFilters(TypedDict):
    keys: NotRequired[list[str]]
    categories: NotRequired[list[CategoryName]]
    channels: NotRequired[list[str]]
    priorities: NotRequired[list[PriorityName]]
    sessionIds: NotRequired[list[str]]


class ReportedChange(TypedDict):
    type: str
    key: str
    value: NotRequired[str]
    category: str | None
    priority: NotRequired[str | None]
    channel: str | None
    sessionId: str
    sequence: int
    timestamp: str
    truncated: NotRequired[Truncation]


class ListedWatcher(TypedDict):
    watcherId: str
    active: bool
    filters: dict[str, Any]
    lastSequence: int
    createdAt: str
    expiresAt: str


class WatchAnswer(TypedDict):
    watcherId: NotRequired[str]
    created: NotRequired[bool]
    filters: NotRequired[dict[str, Any]]
    currentSequence: NotRequired[int]
    expiresIn: NotRequired[str]
    expiresAt: NotRequired[str]
    changes: NotRequired[list[ReportedChange]]
    hasMore: NotRequired[bool]
    lastSequence: NotRequired[int]
    polledAt: NotRequired[str]
    stopped: NotRequired[bool]
    watchers: NotRequired[list[ListedWatcher]]
    total: NotRequired[int]


@surface.tool("Watch for changes", ADDS)
def context_watch(
    core: Core,
    action: Annotated[Literal["create", "poll", "stop", "list"], "What to do"],
    watcher_id: Annotated[str | None, "The watcher, for poll and stop"] = None,
    filters: Annotated[
        WatchFilters | None, "For create: report only items that match; keys are globs such as auth_*"
    ] = None,
    poll_timeout: Annotated[
        float | None, "For poll: seconds to wait for a first change (default 0)", Range(low=0, high=30)
    ] = None,
    timeout: Annotated[float | None, "The same as pollTimeout", Range(low=0, high=30)] = None,
    session_ids: Annotated[list[str] | None, "For create: only items of these sessions"] = None,
    include_existing: Annotated[
        bool, "For create: report the items that are there already, as CREATE"
    ] = False,
    expires_in: Annotated[
        int, "For create: seconds after the last poll until the watcher ends", Range(low=60, high=86_400)
    ] = 1_800,
) -> WatchAnswer:
    """Watch items of all sessions that you may see. create makes a watcher, poll gives what was saved, changed or deleted since the last poll, stop ends it, list shows
    your watchers. A watcher belongs to the session that made it and survives a restart of the server."""
    watching = Watching(core)
    if action == "list":
        return _listed(watching.active(), core.engine.now())
    if action == "create":
        wanted_filters = decode_object(WatchFilters, filters or {}) | (
            {"sessionIds": session_ids} if session_ids else {}
        )
        return _created(watching.create(wanted_filters, include_existing, timedelta(seconds=expires_in)))
    if watcher_id is None:
        raise Missing(f"watcherId is required to {action}.", field="watcherId")
    if action == "stop":
        return {"watcherId": watching.stop(watcher_id).id, "stopped": True}
    wait_s = poll_timeout if poll_timeout is not None else timeout or 0
    return _polled(watching.poll(watcher_id, wait_s), core.engine.now())


class PollResult(NamedTuple):
    watcher: Watcher
    changes: list[Json]
    has_more: bool


class Watching(GuestPart):
    def create(self, filters: Json, with_existing: bool, lifetime: timedelta) -> Watcher:
        """Create a watcher. Starts a session if there is none, because a watcher belongs to one."""
        for name in filters.get("sessionIds", ()):
            session_of(self.core, name)
        session = self.core.sessions.current()
        if "sessionIds" in filters:
            filters = {
                **filters,
                "sessionIds": [_session_id(self.core, name) for name in filters["sessionIds"]],
            }
        store, now = self.engine.store, self.engine.now()
        with store.transaction():
            prune_changes(store, now)
            existing = self._existing(filters) if with_existing else ()
            watcher = Watcher(
                id=self._free_id(),
                session=session.id,
                surface=self.surface,
                filters=filters,
                existing=existing,
                sequence=store.changes.last_sequence(),
                lifetime_s=int(lifetime.total_seconds()),
                created_at=now,
                expires_at=now + lifetime,
            )
            store.changes.put_watcher(watcher)
        return watcher

    def _free_id(self) -> str:
        """Return an unused id. Ids are short, as in MCP Memory Keeper, and may collide."""
        while True:
            id = f"watch_{sha256(self.engine.new_id().encode()).hexdigest()[:8]}"
            if self.engine.store.changes.watcher(id) is None:
                return id

    def active(self) -> list[Watcher]:
        """Return the active watchers of the connection's session."""
        session, now = self.caller.session, self.engine.now()
        matches = [] if session is None else self.engine.store.changes.watchers(session)
        return [watcher for watcher in matches if watcher.is_active(now)]

    def stop(self, id: str) -> Watcher:
        with self.engine.store.transaction():
            watcher = self._get(id)._replace(stopped_at=self.engine.now(), existing=())
            self.engine.store.changes.put_watcher(watcher)
        return watcher

    def poll(self, id: str, wait_s: float) -> PollResult:
        """Return the next changes, waiting for some if there are none. Waiting holds no lock and writes nothing."""
        deadline = time.monotonic() + wait_s
        result = self._poll(id)
        while not result.changes and (left := deadline - time.monotonic()) > 0:
            self.call.raise_if_cancelled()
            Event().wait(min(left, LOOK_AGAIN_S))
            if self.engine.store.changes.last_sequence() > result.watcher.sequence:
                result = self._poll(id)
        return result

    def _poll(self, id: str) -> PollResult:
        with self.engine.store.transaction():
            now = self.engine.now()
            watcher = self._get(id)
            changes, watcher, has_more = self._next(watcher)
            lifetime = timedelta(seconds=watcher.lifetime_s)
            self.engine.store.changes.put_watcher(watcher._replace(expires_at=now + lifetime))
            prune_changes(self.engine.store, now)
        return PollResult(watcher, changes, has_more)

    def _get(self, id: str) -> Watcher:
        watcher = self.engine.store.changes.watcher(id)
        if watcher is None or watcher.session != self.caller.session or watcher.surface != self.surface:
            raise NotFound("watcher", id)
        if watcher.stopped_at is not None:
            raise NotFound("watcher", id, reason=f"was stopped at {iso(watcher.stopped_at)}")
        if not watcher.is_active(self.engine.now()):
            raise NotFound("watcher", id, reason=f"expired at {iso(watcher.expires_at)}")
        return watcher

    def _next(self, watcher: Watcher) -> tuple[list[Json], Watcher, bool]:
        """Return at most MAX_CHANGES changes, the watcher after them, and whether there are more."""
        changes: list[Json] = []
        room = ANSWER_BYTES
        for informed, body in self._pending(watcher):
            if body is not None:
                room -= size(body)
                if changes and (room < 0 or len(changes) == MAX_CHANGES):
                    return changes, watcher, True
                changes.append(body)
            watcher = informed
        return changes, watcher, False

    def _pending(self, watcher: Watcher) -> Iterator[tuple[Watcher, Json | None]]:
        """Yield each step up to the present: the watcher after it, and the change to report, if it matches and is
        visible."""
        for start in range(0, len(watcher.existing), MAX_CHANGES):
            some = watcher.existing[start : start + MAX_CHANGES]
            memories = self._visible(some)
            for place, id in enumerate(some, start=start + 1):
                memory = memories.get(id)
                body = memory and _reported(ChangeKind.CREATE, memory, watcher.sequence, memory.updated_at)
                yield watcher._replace(existing=watcher.existing[place:]), body
        watcher = watcher._replace(existing=())
        while changes := self.engine.store.changes.after(watcher.sequence, READ_AT_ONCE):
            memories = self._visible([each.memory for each in changes])
            for change in changes:
                watcher = watcher._replace(sequence=change.sequence)
                yield watcher, self._body(change, memories.get(change.memory), watcher)

    def _body(self, change: MemoryChange, memory: Memory | None, watcher: Watcher) -> Json | None:
        if change.kind is ChangeKind.DELETE:
            is_visible = change.surface == self.surface and (
                not change.private or change.session == self.caller.session
            )
            return _deleted(change) if is_visible and _matches(change, watcher.filters) else None
        if memory is None or not _matches(memory, watcher.filters):
            return None
        return _reported(change.kind, memory, change.sequence, change.changed_at)

    def _visible(self, ids: Sequence[str]) -> dict[str, Memory]:
        if not ids:
            return {}
        matches = self.core.memories.find(Filter(ids=tuple(dict.fromkeys(ids))), Page())
        return {memory.id: memory for memory in matches}

    def _existing(self, filters: Json) -> tuple[str, ...]:
        items = self.core.memories.find(Filter(), Page(order=Order.OLDEST))
        return tuple(memory.id for memory in items if _matches(memory, filters))


def _session_id(core: Core, name: str) -> str:
    session = session_of(core, name)
    return "" if session is None else session.id


def _matches(item: Memory | MemoryChange, filters: Mapping[str, Any]) -> bool:
    channels = {channel_name(channel) or channel for channel in filters.get("channels", ())}
    wanted = (
        (filters.get("categories"), item.category),
        (channels, item.channel),
        (filters.get("priorities"), item.priority),
        (filters.get("sessionIds"), item.session),
    )
    patterns = filters.get("keys")
    return all(not values or value in values for values, value in wanted) and (
        not patterns or any(fnmatchcase(item.key or "", pattern.replace("[^", "[!")) for pattern in patterns)
    )


def _reported(kind: ChangeKind, memory: Memory, sequence: int, at: datetime) -> Json:
    body = {
        "type": kind.value,
        "key": memory.key or memory.id,
        "value": safe_text(memory.text, memory.trust),
        "category": memory.category,
        "priority": memory.priority.value,
        "channel": memory.channel,
        "sessionId": memory.session or "",
        "sequence": sequence,
        "timestamp": iso(at),
    }
    report: Json = cut(AnswerItem(memory.id, body), VALUE_BYTES)
    return report


def _deleted(change: MemoryChange) -> Json:
    return {
        "type": change.kind.value,
        "key": change.key or change.memory,
        "category": change.category,
        "priority": change.priority,
        "channel": change.channel,
        "sessionId": change.session or "",
        "sequence": change.sequence,
        "timestamp": iso(change.changed_at),
    }


def _created(watcher: Watcher) -> WatchAnswer:
    return {
        "watcherId": watcher.id,
        "created": True,
        "filters": dict(watcher.filters),
        "currentSequence": watcher.sequence,
        "expiresIn": _duration(watcher.lifetime_s),
        "expiresAt": iso(watcher.expires_at),
    }


def _duration(seconds: int) -> str:
    return f"{seconds} seconds" if seconds % 60 else f"{seconds // 60} minutes"


def _polled(result: PollResult, now: datetime) -> WatchAnswer:
    changes: Any = result.changes
    return {
        "watcherId": result.watcher.id,
        "changes": changes,
        "hasMore": result.has_more,
        "lastSequence": result.watcher.sequence,
        "polledAt": iso(now),
    }


def _listed(watchers: Sequence[Watcher], now: datetime) -> WatchAnswer:
    bodies: Iterable[ListedWatcher] = (
        {
            "watcherId": watcher.id,
            "active": watcher.is_active(now),
            "filters": dict(watcher.filters),
            "lastSequence": watcher.sequence,
            "createdAt": iso(watcher.created_at),
            "expiresAt": iso(watcher.expires_at),
        }
        for watcher in watchers
    )
    return {"watchers": fitting(bodies), "total": len(watchers)}
