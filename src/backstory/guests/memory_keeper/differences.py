"""Changes in a session since a checkpoint or a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Annotated, Any, NamedTuple, NotRequired, TypedDict

from ...core import Core, GuestPart
from ...core.sessions import channel_name
from ...domain.checkpoints import Checkpoint
from ...domain.errors import InvalidInput, NotFound
from ...domain.filters import Filter, Order, Page
from ...domain.metadata import as_given
from ...domain.records import Former, Memory, Session
from ...domain.when import iso, parse_when
from ...tools import READS
from ...tools.budget import fitting
from ...tools.origin import safe_text
from ...tools.params import Json, Range
from .fitting import AnswerItem, Truncation, answer_page, page_size
from .vocabulary import session_of, surface

USUAL_PERIOD = timedelta(hours=1)
LIST_BYTES = 35_000  # size limit of the added items, and separately of the modified ones
DELETED_BYTES = 8_000


class ChangedItem(TypedDict):
    id: NotRequired[str]
    key: str
    value: NotRequired[str]
    category: str | None
    priority: NotRequired[str]
    channel: NotRequired[str | None]
    metadata: NotRequired[Any]
    sessionId: NotRequired[str]
    session_id: NotRequired[str]
    createdAt: NotRequired[str]
    created_at: NotRequired[str]
    updatedAt: NotRequired[str]
    updated_at: NotRequired[str]
    size: NotRequired[int]
    private: NotRequired[bool]
    truncated: NotRequired[Truncation]


class DiffAnswer(TypedDict):
    added: list[ChangedItem]
    modified: list[ChangedItem]
    deleted: list[str]
    summary: str
    period: dict[str, str]
    checkpoint: NotRequired[str]
    hasMore: bool
    nextOffset: NotRequired[int]
    notices: NotRequired[list[str]]


class Difference(NamedTuple):
    """Items that differ from an earlier state, each in one list."""

    since: datetime
    added: Sequence[Memory] = ()
    modified: Sequence[Memory] = ()
    deleted: Sequence[str] = ()
    """Keys of deleted items."""


@surface.tool("Compare with an earlier state", READS)
def context_diff(
    core: Core,
    since: Annotated[
        str | None, 'Name or id of a checkpoint, else a time: ISO, or "2 hours ago" (default: an hour ago)'
    ] = None,
    session_id: Annotated[
        str | None, "Session to compare (default: the current one, else that of the checkpoint)"
    ] = None,
    category: Annotated[str | None, "Only items of this category"] = None,
    channel: Annotated[str | None, "Only items of this channel"] = None,
    channels: Annotated[list[str] | None, "Only items of these channels"] = None,
    include_values: Annotated[bool, "false: only keys and categories"] = True,
    limit: Annotated[int | None, "Maximum items of each list", Range(low=1)] = None,
    offset: Annotated[int, "Items of each list to skip", Range(low=0)] = 0,
) -> DiffAnswer:
    """List which items of a session were added, modified and deleted since a checkpoint or a time. Modified is a change of value, category, priority, channel or
    metadata. Forgotten items are not named. summary counts everything; limit and offset page through each list."""
    checkpoint = None if since is None else _checkpoint(core, since)
    session = session_of(core, session_id)
    if session is None and checkpoint is not None:
        session = core.engine.store.sessions.get(checkpoint.session)
    matches = _matcher(category, [channel, *(channels or ())])
    comparison = SessionComparison(core)
    if checkpoint is not None:
        difference = comparison.with_checkpoint(checkpoint, session, matches)
    else:
        difference = comparison.with_time(_moment(core, since), session, matches)
    answer = _answer(core, difference, include_values, page_size(limit), offset)
    return answer if checkpoint is None else {**answer, "checkpoint": checkpoint.name}


def _checkpoint(core: Core, name: str) -> Checkpoint | None:
    for wanted in ({"id": None, "name": name}, {"id": name, "name": None}):
        try:
            return core.checkpoints.find(**wanted)
        except NotFound:
            continue
    return None


def _moment(core: Core, since: str | None) -> datetime:
    now = core.engine.now()
    if since is None:
        return now - USUAL_PERIOD
    try:
        return parse_when(since, now, field="since")
    except InvalidInput as error:
        raise InvalidInput(
            f"since {since!r} is neither a checkpoint nor a time.", hint=error.hint, field="since"
        ) from None


class Described(NamedTuple):
    """The fields of a live or deleted item that a comparison can filter by."""

    category: str | None
    channel: str | None


Matches = Callable[[Described], bool]


def _matcher(category: str | None, channels: Sequence[str | None]) -> Matches:
    wanted = {channel_name(channel) or channel for channel in channels if channel is not None}
    return lambda item: category in (None, item.category) and (not wanted or item.channel in wanted)


class SessionComparison(GuestPart):
    def with_checkpoint(
        self, checkpoint: Checkpoint, session: Session | None, matches: Matches
    ) -> Difference:
        """Compare by key with the copy in the checkpoint.

        Private items of other sessions are left out on both sides."""
        contents = self.engine.store.checkpoints.read(checkpoint)
        is_own = checkpoint.session == self.caller.session
        before = {_place(each): each for each in contents.memories if is_own or not each.private}
        present = {_place(each): each for each in self._items(session)}
        return Difference(
            checkpoint.created_at,
            added=_matching((present[place] for place in present if place not in before), matches),
            modified=_matching(
                (
                    memory
                    for place, memory in present.items()
                    if place in before and _content(memory) != _content(before[place])
                ),
                matches,
            ),
            deleted=[
                _name(memory)
                for memory in _matching((before[place] for place in before if place not in present), matches)
            ],
        )

    def with_time(self, since: datetime, session: Session | None, matches: Matches) -> Difference:
        """Compare by the history of each item, and by the recorded deletions."""
        items = self._items(session)
        added = [memory for memory in items if memory.created_at >= since]
        changed = [memory for memory in items if memory.created_at < since <= memory.updated_at]
        modified = [memory for memory in changed if self._differs(memory, since)]
        keys = {_name(memory) for memory in items}
        deletions = (
            self.engine.store.changes.deletions(self.surface, session.id, since)
            if session is not None
            else []
        )
        is_own = session is not None and session.id == self.caller.session
        deleted = [
            each.key or each.memory
            for each in deletions
            if (is_own or not each.private)
            and each.key not in keys
            and matches(Described(each.category, each.channel))
        ]
        return Difference(
            since, _matching(added, matches), _matching(modified, matches), list(dict.fromkeys(deleted))
        )

    def _items(self, session: Session | None) -> list[Memory]:
        if session is None:
            return []
        return self.core.memories.find(Filter(threads=(session.id,)), Page(order=Order.UPDATED_NEWEST))

    def _differs(self, memory: Memory, since: datetime) -> bool:
        """True if an item differs from its state at a time. An item that was changed and changed back does not."""
        history = self.engine.store.memories.former(memory.id)
        before = [former for former in history if former.saved_at < since]
        return not before or _content(memory) != _content(before[-1])


def _content(item: Memory | Former) -> object:
    return item.text, item.category, item.priority, item.channel, dict(item.metadata)


def _place(memory: Memory) -> object:
    """Return the identity of an item across a restore, which assigns a new id."""
    return memory.key if memory.key is not None else (memory.text, memory.created_at)


def _name(memory: Memory) -> str:
    return memory.key or memory.id


def _matching(memories: Iterable[Memory], matches: Matches) -> list[Memory]:
    return [memory for memory in memories if matches(Described(memory.category, memory.channel))]


def _answer(core: Core, difference: Difference, with_values: bool, limit: int, offset: int) -> DiffAnswer:
    def shown(memories: Sequence[Memory]) -> list[Any]:
        page = memories[offset : offset + limit]
        bodies = (AnswerItem(memory.id, _changed(memory, with_values)) for memory in page)
        return answer_page(bodies, offset=offset, total=len(memories), room=LIST_BYTES).items

    added, modified = shown(difference.added), shown(difference.modified)
    deleted: list[Any] = fitting(difference.deleted[offset : offset + limit], DELETED_BYTES)
    shown_and_all = (
        (added, difference.added),
        (modified, difference.modified),
        (deleted, difference.deleted),
    )
    left = [len(page) for page, whole in shown_and_all if offset + len(page) < len(whole)]
    counts = (len(difference.added), len(difference.modified), len(difference.deleted))
    reply: DiffAnswer = {
        "added": added,
        "modified": modified,
        "deleted": deleted,
        "summary": "{} added, {} modified, {} deleted".format(*counts),
        "period": {"from": iso(difference.since), "to": iso(core.engine.now())},
        "hasMore": bool(left),
    }
    shortest: int = min(left, default=0)  # continue at the shortest list, to skip no item of any list
    return {**reply, "nextOffset": offset + shortest} if shortest else reply


def _changed(memory: Memory, with_values: bool) -> Json:
    if not with_values:
        return {"key": _name(memory), "category": memory.category}
    created, changed = iso(memory.created_at), iso(memory.updated_at)
    return {
        "id": memory.id,
        "key": _name(memory),
        "value": safe_text(memory.text, memory.trust),
        "category": memory.category,
        "priority": memory.priority.value,
        "channel": memory.channel,
        "metadata": as_given(memory.metadata) if memory.metadata else None,
        "sessionId": memory.session or "",
        "session_id": memory.session or "",
        "createdAt": created,
        "created_at": created,
        "updatedAt": changed,
        "updated_at": changed,
        "size": len(memory.text.encode()),
        "private": memory.private,
    }
